"""Tests of loading files of other versions, and that loading never executes file contents."""

import json
import pickle
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, ModelFileError
from tagalong.learning import model_files
from tests.data.make_models import ANSWERS, COUNTS, FIRST_FORMATS, TAGGERS, answers_of
from tests.model_files import forge, parts, saved
from tests.online.custom_features import Affinity


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path)


@pytest.mark.parametrize("newer", [model_files.FORMAT + 1, 999, "2b", 0, -1, True, 1.5, None])
def test_newer_format_is_refused_by_version(path: Path, newer: Any) -> None:
    header, arrays = parts(path)
    header.update(format=newer, tagalong="9.8.7")
    forge(path, header, arrays)
    with pytest.raises(ModelFileError) as raised:
        tagalong.load(path)
    message = str(raised.value)
    for words in (str(path), "9.8.7", f"format {newer}", version("tagalong"), "upgrade"):
        assert words in message


def test_newer_format_with_other_contents_is_refused_by_version(path: Path) -> None:
    """A later version may change everything except the format and version entries."""
    forge(path, {"format": model_files.FORMAT + 1, "tagalong": "9.8.7"}, {"something": np.ones(2)})
    with pytest.raises(ModelFileError, match=r"9\.8\.7"):
        tagalong.load(path)


@pytest.mark.parametrize("kind", ["Oracle", "os", "builtins.eval", "", None, 3, ["LabelRanker"]])
def test_unknown_kind_is_refused_without_an_import(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    def imported(name: str) -> None:
        pytest.fail(f"imported {name}")

    header, arrays = parts(path)
    forge(path, {**header, "kind": kind}, arrays)
    monkeypatch.setattr(model_files, "import_module", imported)
    with pytest.raises(ModelFileError, match=str(path)):
        tagalong.load(path)


def test_header_has_format_kind_and_version(path: Path) -> None:
    header, _ = parts(path)
    assert header["format"] == model_files.FORMAT
    assert header["kind"] == "LabelRanker"
    assert header["tagalong"] == version("tagalong")


def test_files_contain_no_pickle(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = path.read_bytes()
    beginnings = (b"\x80\x03c", b"\x80\x04\x95", b"\x80\x05\x95")  # of pickles
    for trace in (*beginnings, b"numpy.", b"_reconstruct", b"__main__"):
        assert trace not in contents

    def unpickled(*arguments: Any, **more: Any) -> None:
        pytest.fail("loading a model unpickled something")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, unpickled)
    tagalong.load(path)


def test_loading_imports_only_the_class_of_the_model(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = []

    def record(name: str) -> Any:
        imported.append(name)
        return import_module(name)

    header, arrays = parts(path)
    header.update(module="antigravity", __reduce__=["os.system", "true"], class_="os.system")
    forge(path, header, arrays)
    monkeypatch.setattr(model_files, "import_module", record)
    assert type(tagalong.load(path)) is LabelRanker
    assert imported == ["tagalong.online.label_ranker.learner"]


DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("label_ranker-*.tagalong")))
def test_label_rankers_of_all_formats_predict_the_same(name: str) -> None:
    ranker = tagalong.load(DATA / name)
    expected = json.loads((DATA / name).with_suffix(".json").read_text())
    X = np.array(expected["examples"])
    assert [repr(label) for label in ranker.classes_.tolist()] == expected["labels"]
    np.testing.assert_allclose(
        ranker.decision_function(X), expected["scores"], rtol=1e-5, atol=1e-6
    )
    assert ranker.predict(X).tolist() == expected["predicted"]
    assert ranker.cutoff_ == pytest.approx(expected["cutoff"], rel=1e-6)
    certificate = ranker.certificate_
    assert certificate.rounds == expected["rounds"]
    assert certificate.mistakes == expected["mistakes"]
    assert certificate.dual == pytest.approx(expected["dual"], rel=1e-6)
    ranker.partial_fit(X, np.ones((len(X), 5)))


@pytest.mark.parametrize(
    "name", sorted(p.name for kind in ANSWERS for p in DATA.glob(f"{kind}-*.tagalong"))
)
def test_other_learners_of_all_formats_predict_the_same(name: str) -> None:
    kind = name.split("-")[0]
    own = {"features": Affinity()} if kind.endswith("_own") else {}
    model = tagalong.load(DATA / name, **own)
    expected = json.loads((DATA / name).with_suffix(".json").read_text())
    found = answers_of(model, ANSWERS[kind][1], expected["examples"])
    for method, answers in expected["answers"].items():
        if isinstance(np.ravel(answers)[0], np.str_):
            assert found["answers"][method] == answers
        else:
            np.testing.assert_allclose(found["answers"][method], answers, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["coef"], expected["coef"], rtol=1e-5, atol=1e-6)
    assert "rounds" in expected
    for count in expected.keys() & set(COUNTS):
        same = pytest.approx(expected[count], rel=1e-6, nan_ok=True)
        assert found[count] == same, count
    X = np.array(expected["examples"])
    if kind.startswith("block"):
        model.learn_block(X, np.ones(len(X)))
    else:
        model.partial_fit(X, [model.classes_.tolist()[0]] * len(X))
    assert model.certificate_.rounds > expected["rounds"]


@pytest.mark.parametrize(
    "name", sorted(path.name for kind in TAGGERS for path in DATA.glob(f"{kind}-*.tagalong"))
)
def test_taggers_of_all_formats_suggest_the_same(name: str) -> None:
    tagger = tagalong.load(DATA / name)
    expected = json.loads((DATA / name).with_suffix(".json").read_text())
    # Before format 3, probabilities followed from scores alone. Confidence starts anew.
    learnt_confidence = int(name.removesuffix(".tagalong")[-1]) >= 3
    for text, found in expected["suggestions"].items():
        suggestions = tagger.suggest(text, k=None)
        assert [s.label for s in suggestions] == [label for label, _, _ in found]
        for mine, (_, score, probability) in zip(suggestions, found, strict=True):
            assert mine.score == pytest.approx(score, rel=1e-5, abs=1e-6)
            if learnt_confidence:
                assert mine.probability == pytest.approx(probability, rel=1e-5, abs=1e-6)
            else:
                assert not mine.sure
    assert str(tagger.certificate_) == expected["certificate"]
    tagger.learn("yet another text", ["new"])


def test_there_is_a_file_of_every_format() -> None:
    for kind in ("label_ranker", *TAGGERS, *ANSWERS):
        for written in range(FIRST_FORMATS.get(kind, 2), model_files.FORMAT + 1):
            assert (DATA / f"{kind}-format{written}.tagalong").exists()
