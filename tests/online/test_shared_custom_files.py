"""Model files of rankers with custom features: weights and state, never code."""

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, ModelFileError, SharedLabelRanker, Tagger
from tagalong.features import FolderAffinity
from tests.contract.bits import assert_same, whole
from tests.model_files import forge, parts
from tests.online.custom_features import Affinity, Kesler, Table
from tests.online.test_shared_ranker import stream


def trained(phi: Any, **params: Any) -> SharedLabelRanker:
    ranker = SharedLabelRanker(phi, update="max", **params)
    for words, folders in stream(30):
        ranker.learn_one((words, np.ones(len(words))), [f"folder {f}" for f in folders])
    return ranker


@pytest.mark.parametrize("geometry", ["euclidean", "entropic"])
@pytest.mark.parametrize("phi", [Affinity(), Affinity(n_features=30), Kesler()])
def test_loading_needs_the_features_and_restores_their_state(
    phi: Any, geometry: str, tmp_path: Path
) -> None:
    ranker = trained(phi, geometry=geometry)
    ranker.save(tmp_path / "model")
    given, untrained = deepcopy(phi), deepcopy(phi)
    loaded = tagalong.load(tmp_path / "model", features=given)
    assert_same(whole(loaded), whole(ranker))
    for words, folders in stream(10, seed=1):
        x = (words, np.ones(len(words)))
        assert loaded.rank_one(x) == ranker.rank_one(x)
        loaded.learn_one(x, [f"folder {f}" for f in folders])
        ranker.learn_one(x, [f"folder {f}" for f in folders])
    assert_same(whole(loaded), whole(ranker))
    assert phi == given == untrained  # only copies were trained


def test_a_tagger_with_custom_features(tmp_path: Path) -> None:
    tagger = Tagger(SharedLabelRanker(Affinity(), update="max"))
    for i in range(10):
        tagger.learn(f"invoice payment {i}", ["money"]).learn(f"flight hotel {i}", ["travel"])
    tagger.save(tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model", features=Affinity())
    assert loaded.suggest("hotel invoice 3") == tagger.suggest("hotel invoice 3")
    assert loaded.explain("hotel invoice 3") == tagger.explain("hotel invoice 3")
    with pytest.raises(
        ModelFileError, match=r"made by Affinity, which is code and not in the file"
    ):
        tagalong.load(tmp_path / "model")


def test_the_file_holds_no_code(tmp_path: Path) -> None:
    path = tmp_path / "model"
    trained(Affinity()).save(path)
    header, arrays = parts(path)
    assert header["own_features"]["class"] == "Affinity"
    assert header["params"]["features"] is None
    assert arrays["own_features/counts"].shape[1] == 3
    contents = path.read_bytes()
    assert pickle.dumps(Affinity()) not in contents
    assert b"tests.online.custom_features" not in contents  # how pickle names the class
    assert b"tests.online" not in contents


@pytest.mark.parametrize("features", [3, Kesler, FolderAffinity(), Affinity(n_features=31)])
def test_other_features_raise(features: Any, tmp_path: Path) -> None:
    path = tmp_path / "model"
    trained(Affinity(n_features=30)).save(path)
    with pytest.raises(
        ModelFileError, match=r"an object with rows|of class Affinity with n_features=30"
    ):
        tagalong.load(path, features=features)


def test_features_without_learn_cannot_take_a_state(tmp_path: Path) -> None:
    trained(Affinity()).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"Kesler has no learn\(\), but the file has a state"):
        tagalong.load(tmp_path / "model", features=Kesler())


def test_unneeded_features_raise(tmp_path: Path) -> None:
    models: list[Any] = [trained(FolderAffinity()), trained(None), Tagger()]
    models.append(LabelRanker().fit(np.eye(2), [0, 1]))
    for i, model in enumerate(models):
        model.save(tmp_path / f"{i}")
        with pytest.raises(ValueError, match="has no custom features"):
            tagalong.load(tmp_path / f"{i}", features=Affinity())


@pytest.mark.parametrize("forged", [3, "Affinity", [], {}, {"class": "os.system", "given": "x"}])
def test_a_forged_header_makes_no_features(forged: Any, tmp_path: Path) -> None:
    path = tmp_path / "model"
    trained(Affinity()).save(path)
    header, arrays = parts(path)
    forge(path, {**header, "own_features": forged}, arrays)
    with pytest.raises(ModelFileError):
        tagalong.load(path)
    with pytest.raises(ModelFileError):
        tagalong.load(path, features=Affinity())


@pytest.mark.parametrize("phi", [None, Affinity()])
def test_settings_and_features_of_a_file_must_agree(phi: Any, tmp_path: Path) -> None:
    path = tmp_path / "model"
    trained(phi).save(path)
    header, arrays = parts(path)
    known: dict[str, Any] = {"class": "Affinity", "n_features": None, "state": {}}
    given = {"features": Affinity()} if phi is None else {}
    forge(path, {**header, "own_features": known if phi is None else None}, arrays)
    with pytest.raises(ModelFileError, match="contradict each other"):
        tagalong.load(path, **given)


class WithoutGetState(Affinity):
    get_state = None  # type: ignore[assignment]


class OddState(Affinity):
    odd: Any = None

    def get_state(self) -> dict[str, Any]:
        return {"odd": type(self).odd}


def test_features_that_learn_need_get_state_to_be_saved(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"WithoutGetState has learn\(\), so it needs get_state\(\) and set_state"
    ):
        trained(WithoutGetState()).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "odd", [{1: 2}, (1, 2), object(), float("nan"), np.array(["a"]), np.array([None]), {3}]
)
def test_a_state_that_json_would_change_raises(
    odd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OddState, "odd", odd)
    with pytest.raises(ValueError, match=r"OddState\.get_state\(\): 'odd' is "):
        trained(OddState()).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fine", [{"a": [1, 2.5, None, True]}, "text", None, np.zeros((0, 3))])
def test_a_state_of_json_and_arrays_survives_a_file(
    fine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OddState, "odd", fine)
    found = []
    monkeypatch.setattr(OddState, "set_state", lambda self, state: found.append(state["odd"]))
    trained(OddState()).save(tmp_path / "model")
    tagalong.load(tmp_path / "model", features=OddState())
    assert type(found[0]) is type(fine)
    assert np.array_equal(found[0], fine) if isinstance(fine, np.ndarray) else found[0] == fine


def test_features_that_do_not_learn_are_not_copied() -> None:
    """Features that do not learn may be large."""
    phi = Table(np.eye(4))
    assert SharedLabelRanker(phi).add_labels(range(4))._custom_features is phi
