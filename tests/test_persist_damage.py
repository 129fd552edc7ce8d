"""Tests of loading files that are damaged or no models: errors with helpful messages."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import tagalong
from tagalong import ModelFileError
from tests.contract.bits import assert_same, whole
from tests.model_files import forge, parts, saved, small


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path, race=None)


def test_truncated_file_is_refused(path: Path) -> None:
    contents = path.read_bytes()
    for length in [*range(0, len(contents), max(1, len(contents) // 150)), len(contents) - 1]:
        path.write_bytes(contents[:length])
        with pytest.raises(ModelFileError, match=str(path)):
            tagalong.load(path)


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_altered_byte_is_detected(path: Path, flip: int) -> None:
    contents = path.read_bytes()
    positions = {*range(64), *range(0, len(contents), 13), len(contents) - 1}
    for position in sorted(positions):
        altered = bytearray(contents)
        altered[position] ^= flip
        path.write_bytes(altered)
        with pytest.raises(ModelFileError, match=str(path)):
            tagalong.load(path)


def test_appended_bytes_are_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\x00" * 8)
    with pytest.raises(ModelFileError):
        tagalong.load(path)


@pytest.mark.parametrize("contents", [b"", b"\x00", b"not a model", b"\xff" * 64, b"{}" * 99])
def test_other_contents_are_refused(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "file").write_bytes(contents)
    with pytest.raises(ModelFileError, match="file: not a Tagalong model"):
        tagalong.load(tmp_path / "file")


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="not a Tagalong model"):
        tagalong.load(tmp_path)


def test_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="file: not a Tagalong model: the file is empty"):
        tagalong.load(tmp_path / "file")


def test_pickle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(pickle.dumps(small()))
    with pytest.raises(ModelFileError, match="not a Tagalong model"):
        tagalong.load(tmp_path / "file")


def test_other_safetensors_files_are_refused(tmp_path: Path) -> None:
    save_file({"weights": np.ones(3)}, tmp_path / "file")
    with pytest.raises(ModelFileError, match="a safetensors file, but not a Tagalong model"):
        tagalong.load(tmp_path / "file")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"model file .*nowhere does not exist"):
        tagalong.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "null", '"text"', "{}", '{"format": 1}', "[" * 100_000]
)
def test_invalid_header_is_refused(path: Path, text: str) -> None:
    _, arrays = parts(path)
    forge(path, text, arrays)
    with pytest.raises(ModelFileError, match=str(path)):
        tagalong.load(path)


@pytest.mark.parametrize("name", ["params", "labels", "grows", "single"])
def test_incomplete_header_is_refused(path: Path, name: str) -> None:
    header, arrays = parts(path)
    del header[name]
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match=f"not a usable LabelRanker: .*{name}"):
        tagalong.load(path)


CHANGES: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "an extra label": lambda header, arrays: header["labels"].append("more"),
    "a missing label": lambda header, arrays: header["labels"].pop(),
    "a repeated label": lambda header, arrays: header.update(labels=["a", "a", "b"]),
    "wrong number of labels": lambda header, arrays: header["numbers"].update(labels=2),
    "negative number of labels": lambda header, arrays: header["numbers"].update(labels=-1),
    "an unknown parameter": lambda header, arrays: header["params"].update(depth=3),
    "an invalid parameter": lambda header, arrays: header["settings"].update(update="magic"),
    "text for a number": lambda header, arrays: header["numbers"].update(rounds="many"),
    "a missing array": lambda header, arrays: arrays.pop("theta"),
    "a shortened array": lambda header, arrays: arrays.update(S=arrays["S"][:-1].copy()),
    "an array of wrong type": lambda header, arrays: arrays.update(features=np.ones(2)),
    "a cut-off of wrong length": lambda header, arrays: arrays.update(cutoff=np.ones(3)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_inconsistent_contents_are_refused(path: Path, change: str) -> None:
    header, arrays = parts(path)
    CHANGES[change](header, arrays)
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match=str(path)):
        tagalong.load(path)


def test_forge_can_write_valid_files(path: Path) -> None:
    forge(path, *parts(path))
    assert_same(whole(tagalong.load(path)), whole(small(race=None)))


@pytest.mark.parametrize("pairs", [[[None, 0.5]], [[0.5, 0.5]], [["a", 3]], [["a"]], 1])
def test_invalid_targets_of_labels_are_refused(tmp_path: Path, pairs: Any) -> None:
    path = tmp_path / "model.tagalong"
    tagalong.Tagger().learn("one", ["a"]).save(path)
    header, arrays = parts(path)
    forge(path, {**header, "min_precision": pairs}, arrays)
    with pytest.raises(ModelFileError):
        tagalong.load(path)


@pytest.mark.parametrize("items", [None, "1", -1, 0.5, 10**30, {}])
def test_invalid_number_of_items_is_refused(tmp_path: Path, items: Any) -> None:
    path = tmp_path / "model.tagalong"
    tagalong.Tagger().learn("one", ["a"]).save(path)
    header, arrays = parts(path)
    forge(path, {**header, "history": {**header["history"], "items": items}}, arrays)
    with pytest.raises(ModelFileError):
        tagalong.load(path)
