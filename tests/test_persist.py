"""Tests of saving: writing is atomic, and loading restores the model."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tagalong
from tagalong import LabelRanker
from tests.contract.bits import assert_same, whole
from tests.model_files import saved, small


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path)


def fails(*arguments: Any, **more: Any) -> None:
    raise OSError("no space left")


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod", "fstat"])
def test_failure_while_writing_keeps_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = path.read_bytes()
    other = small(["p", "q"])
    monkeypatch.setattr(os, step, fails)
    with pytest.raises(OSError, match="no space left"):
        other.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_failure_while_writing_a_new_file_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no space left"):
        small().save(tmp_path / "model.tagalong")
    assert os.listdir(tmp_path) == []


def test_interrupt_while_writing_keeps_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> None:
        raise SystemExit

    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(SystemExit):
        small(["p", "q"]).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_saving_again_replaces_the_file(path: Path) -> None:
    other = small(["p", "q"])
    other.save(path)
    assert_same(whole(tagalong.load(path)), whole(other))
    assert os.listdir(path.parent) == [path.name]


def test_saving_does_not_change_the_model(tmp_path: Path) -> None:
    ranker = small()
    before = whole(ranker)
    ranker.save(tmp_path / "model.tagalong")
    assert_same(whole(ranker), before)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o000])
def test_permissions_follow_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        small().save(tmp_path / "model.tagalong")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.tagalong").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("kind", [str, Path])
def test_path_as_str_or_path(tmp_path: Path, kind: Callable[[Path], Any]) -> None:
    path = kind(tmp_path / "model")
    small().save(path)
    assert_same(whole(tagalong.load(path)), whole(small()))


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        small().save(tmp_path / "nowhere" / "model.tagalong")


def test_unfitted_learner_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        LabelRanker().save(tmp_path / "model.tagalong")
    assert os.listdir(tmp_path) == []


LABELS: list[Any] = [
    ["a", "b"],
    ["", "Grüße", "日本", "a\nb", '"', "\\", "\x00"],
    [0, -1, 2**63, 10**40],
    [True, False],
    [True, 2, "True", "2"],
    [("a", 1), ("a", 2), (), (("deep", True), "b")],
    [(1,), (True, 0), ("tuple",)],
]


def types(label: Any) -> Any:
    return [types(part) for part in label] if isinstance(label, tuple) else type(label)


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_labels_are_restored(tmp_path: Path, labels: list[Any]) -> None:
    LabelRanker().add_labels(labels).save(tmp_path / "model")
    found = tagalong.load(tmp_path / "model")._labels.names
    assert found == labels
    assert [types(label) for label in found] == [types(label) for label in labels]


@pytest.mark.parametrize("label", [1.5, b"a", None, frozenset("a"), ("a", 1.5), ("a", None), 1j])
def test_labels_of_other_types_cannot_be_saved(path: Path, label: Any) -> None:
    before = path.read_bytes()
    ranker = LabelRanker().learn_one(([0], [1.0]), ["a"])
    ranker._labels.extend([label])
    ranker._native.add_labels(1)
    with pytest.raises(ValueError, match="cannot be saved: labels in files are str, int, bool or"):
        ranker.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_label_with_lone_surrogate_cannot_be_saved(path: Path) -> None:
    """Such labels come from undecodable file names."""
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"label .*udc80.* cannot be saved"):
        small(["a", "\udc80"]).save(path)
    assert path.read_bytes() == before


def test_numpy_labels_and_parameters_are_saved(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"C": np.float32(2), "passes": np.int64(1), "normalize": np.True_}
    ranker = LabelRanker(**settings)
    ranker.add_labels(np.array([3, 4, 5])).partial_fit(np.eye(3), np.eye(3))
    ranker.save(tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model")
    assert loaded.get_params() == ranker.get_params()
    assert loaded.classes_.tolist() == [3, 4, 5]


def test_parameters_are_restored(tmp_path: Path) -> None:
    parameters: dict[str, Any] = {
        "C": 0.1,
        "margin": 1 / 3,
        "average": False,
        "n_features": 4,
        "dtype": "float64",
    }
    small(**parameters).save(tmp_path / "model")
    found = tagalong.load(tmp_path / "model").get_params()
    assert found == LabelRanker(**parameters).get_params()
    assert {name: type(found[name]) for name in parameters} == {
        name: type(value) for name, value in parameters.items()
    }
