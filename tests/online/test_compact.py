"""Tests of compact models: predictions like those of the full model, no learning, safe files."""

import mmap
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, M3LClassifier, ModelFileError, SharedLabelRanker, Tagger
from tagalong.online.compact import CompactRanker, compact_ranker
from tests.contract.stream import make_stream
from tests.model_files import forge, parts
from tests.race_streams import changing_words

STREAM = make_stream(rows=200, labels=6)
WORDS = changing_words(400)

RANKERS: dict[str, Callable[[], LabelRanker]] = {
    "race of words": lambda: LabelRanker().partial_fit(*WORDS, "grow"),
    "new race of words": lambda: LabelRanker().partial_fit(WORDS[0][:25], WORDS[1][:25], "grow"),
    "race of numbers": lambda: LabelRanker().partial_fit(STREAM.X.toarray(), STREAM.Y),
    "new race of numbers": lambda: LabelRanker().partial_fit(
        STREAM.X[:30].toarray(), STREAM.Y[:30]
    ),
    "one learner": lambda: LabelRanker(race=None).partial_fit(STREAM.X, STREAM.Y),
    "not normalised": lambda: LabelRanker(race=None, normalize=False).partial_fit(
        STREAM.X, STREAM.Y
    ),
    "euclidean": lambda: LabelRanker(
        geometry="euclidean", update="single", dtype="float64"
    ).partial_fit(STREAM.X, STREAM.Y),
    "no confidence": lambda: LabelRanker(probability=False).partial_fit(STREAM.X, STREAM.Y),
    "one label": lambda: LabelRanker().fit(STREAM.X, STREAM.singles()),
}


def rows_for(name: str) -> Any:
    X = WORDS[0][:60] if "words" in name else STREAM.X[:60]
    return X.toarray() if "numbers" in name else X


@pytest.mark.parametrize("name", RANKERS)
def test_without_dropping_scores_are_those_of_the_full_model(name: str) -> None:
    """Up to rounding to 127 steps per feature; every kind of contestant and every scaling."""
    full = RANKERS[name]()
    compact = compact_ranker(full, 0.0)
    X = rows_for(name)
    expected, found = full.decision_function(X), compact.decision_function(X)
    spread = expected.std()
    assert np.abs(found - expected).max() < 0.05 * spread
    assert np.mean(found.argmax(axis=1) == expected.argmax(axis=1)) > 0.9
    assert compact.cutoff_ == full.cutoff_
    assert compact.classes_.tolist() == full.classes_.tolist()
    assert compact.has_one_label == full.has_one_label
    assert compact.coverage() == full.coverage()
    assert np.array_equal(compact.label_precision(), full.label_precision())
    assert np.mean(compact.predict(X) == full.predict(X)) > 0.9
    if full._settings["probability"]:
        assert np.abs(compact.predict_proba(X) - full.predict_proba(X)).mean() < 0.03


@pytest.mark.parametrize("name", RANKERS)
def test_explanations_add_up_to_the_score(name: str) -> None:
    compact = compact_ranker(RANKERS[name](), 0.001)
    x = ([0, 1, 5], [1.0, 0.5, 2.0])
    scores, _ = compact.score_one(x)
    for label, score in zip(compact.classes_.tolist(), scores.tolist(), strict=True):
        features, contributions, found = compact.explain_one(x, label)
        assert features.tolist() == [-1, 0, 1, 5]
        assert found == score
        assert contributions.sum() == pytest.approx(score, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", RANKERS)
def test_files_restore_the_compact_model_to_the_bit(tmp_path: Path, name: str) -> None:
    compact = compact_ranker(RANKERS[name]())
    compact.save(tmp_path / "m")
    loaded = tagalong.load(tmp_path / "m")
    assert type(loaded) is CompactRanker
    X = rows_for(name)
    for copy in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert np.array_equal(copy.decision_function(X), compact.decision_function(X))
        assert np.array_equal(copy.rank(X, 3), compact.rank(X, 3))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_dropping_more_makes_the_file_smaller(tmp_path: Path) -> None:
    full, sizes = RANKERS["one learner"](), []
    for number, share in enumerate((0.0, 0.01, 0.3, 0.9)):
        compact_ranker(full, share).save(tmp_path / f"{number}")
        sizes.append(os.path.getsize(tmp_path / f"{number}"))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan"), "much", None])
def test_impossible_shares_are_refused(share: Any) -> None:
    with pytest.raises(ValueError, match="dropped_share"):
        compact_ranker(RANKERS["one learner"](), share)


def tagger() -> Tagger:
    tagger = Tagger(audit=0)
    texts = {"money": "invoice bank account", "travel": "flight hotel train", "work": "meeting"}
    for number in range(60):
        label = list(texts)[number % 3]
        tagger.learn(f"{texts[label]} {number}", [label])
    return tagger


def test_a_compact_tagger_suggests_and_explains() -> None:
    full = tagger()
    compact = full.compact()
    assert compact.labels == full.labels
    assert compact.is_compact
    assert not full.is_compact
    assert compact.coverage() == full.coverage()
    assert compact.label_precision() == full.label_precision()
    assert compact.labels_come_in_runs == full.labels_come_in_runs
    item = "the invoice of the bank"
    for mine, other in zip(compact.suggest(item), full.suggest(item), strict=True):
        assert mine.label == other.label
        assert mine.score == pytest.approx(other.score, rel=0.05, abs=0.05)
    many, expected_many = (each.suggest_many([item, "hotel"]) for each in (compact, full))
    assert [[s.label for s in one] for one in many] == [
        [s.label for s in one] for one in expected_many
    ]
    found, expected = compact.explain(item, "money"), full.explain(item, "money")
    assert found.speaks_for[0][0] == expected.speaks_for[0][0]
    assert compact.size().features == full.size().features


def online(model: Tagger) -> Any:
    return model.learner


LEARNING: dict[str, Callable[[Tagger], Any]] = {
    "learn": lambda model: model.learn("a", ["money"]),
    "watch": lambda model: model.watch("a", ["money"]),
    "feedback": lambda model: model.feedback("a", ["money"], []),
    "correct": lambda model: model.correct("a", ["money"], ["work"]),
    "add_labels": lambda model: model.add_labels(["new"]),
    "merge": lambda model: model.merge_labels(["money", "work"], "both"),
    "forget": lambda model: model.forget_label("work"),
    "prune": lambda model: model.prune(1),
    "mistake": lambda model: model.count_mistake("work"),
    "fit": lambda model: online(model).fit(np.eye(3), [0, 1, 2]),
    "partial_fit": lambda model: online(model).partial_fit(np.eye(3), np.eye(3)),
    "learn_one": lambda model: online(model).learn_one(([0], [1.0]), ["money"]),
}


@pytest.mark.parametrize("change", LEARNING)
def test_learning_is_refused_and_names_the_remedy(change: str) -> None:
    compact = tagger().compact()
    before = compact.suggest("invoice")
    with pytest.raises(ValueError, match="for predictions only: learn with the full model"):
        LEARNING[change](compact)
    assert compact.suggest("invoice") == before


def test_a_compact_model_has_no_certificate() -> None:
    with pytest.raises(AttributeError, match="compact model has no certificate"):
        _ = tagger().compact().certificate_


@pytest.mark.parametrize(
    ("learner", "problem"),
    [
        (LabelRanker(geometry="entropic", C=3.0), "geometry='entropic' cannot be exported"),
        (SharedLabelRanker(), "a SharedLabelRanker cannot be exported"),
    ],
)
def test_other_learners_are_refused(learner: Any, problem: str) -> None:
    model = Tagger(learner).learn("a", ["b"]).learn("c", ["d"])
    with pytest.raises(ValueError, match=problem):
        model.compact()


def test_batch_and_compact_models_are_refused() -> None:
    with pytest.raises(ValueError, match="M3LClassifier cannot be exported"):
        compact_ranker(M3LClassifier().fit(np.eye(3), [0, 1, 2]))
    compact = tagger().compact()
    with pytest.raises(ValueError, match="compact already"):
        compact.compact()


def test_the_weights_stay_in_the_mapped_file(tmp_path: Path, monkeypatch: Any) -> None:
    """Processes that load the file share the pages; nobody can write them."""
    path = tmp_path / "m"
    tagger().compact().save(path)
    given: dict[str, Any] = {}
    real = CompactRanker._restore_native

    def record(self: CompactRanker, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        given.update(arrays)
        real(self, header, arrays)

    monkeypatch.setattr(CompactRanker, "_restore_native", record)
    loaded = tagalong.load(path)
    with open("/proc/self/maps") as maps:
        mapped = [line for line in maps if line.rstrip().endswith(str(path))]
    assert mapped
    assert all(line.split()[1].startswith("r--") for line in mapped)
    for name in ("part0/labels", "part0/values", "part0/scales", "part0/offsets"):
        array = given[name]
        while isinstance(array.base, np.ndarray):
            array = array.base
        assert isinstance(array.base, (mmap.mmap, memoryview))
        assert not given[name].flags.writeable
    # The file can be replaced while it is in use.
    before = loaded.suggest("invoice")
    tagger().compact().save(path)
    path.unlink()
    assert loaded.suggest("invoice") == before


NAN, INF = float("nan"), float("inf")


def put(name: str, place: int, number: float) -> Any:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = number

    return change


def field(name: str, value: object) -> Any:
    return lambda header, arrays: header["numbers"].update({name: value})


def setting(name: str, value: object) -> Any:
    return lambda header, arrays: header["settings"].update({name: value})


def cut(name: str) -> Any:
    return lambda header, arrays: arrays.update({name: arrays[name][:-1].copy()})


FORGED = {
    "descending features": put("features", 1, -5),
    "repeated feature": lambda h, a: a.update(features=a["features"] * 0),
    "negative feature": put("features", 0, -1),
    "first offset": put("part0/offsets", 0, 1),
    "descending offsets": put("part0/offsets", 1, 10**6),
    "last offset": put("part0/offsets", -1, 1),
    "label out of range": put("part0/labels", 0, 6),
    "descending labels": put("part0/labels", 1, 0),
    "NaN scale": put("part0/scales", 0, NAN),
    "infinite scale": put("part0/scales", 0, INF),
    "negative scale": put("part0/scales", 0, -1.0),
    "huge scale": put("part0/scales", 0, 1e30),
    "NaN constant": put("part0/constant", 0, NAN),
    "fewer values": cut("part0/values"),
    "fewer labels": cut("part0/labels"),
    "fewer scales": cut("part0/scales"),
    "fewer offsets": cut("part0/offsets"),
    "fewer constants": cut("part0/constant"),
    "fewer numbers of confidence": cut("confidence"),
    "missing array": lambda h, a: a.pop("part0/values"),
    "wrong type": lambda h, a: a.update({"part0/labels": a["part0/labels"].astype(np.int32)}),
    "two dimensions": lambda h, a: a.update({"part0/labels": a["part0/labels"][np.newaxis]}),
    "bias of fewer labels": lambda h, a: a.update({"part0/bias": np.zeros(2, np.float32)}),
    "no parts": field("parts", 0),
    "more parts": field("parts", 2),
    "parts without end": field("parts", 10**9),
    "labels": field("labels", 5),
    "labels without end": field("labels", 2**40),
    "unknown scaling": field("part0/scaling", "magic"),
    "scaling without statistics": field("part0/scaling", "standard"),
    "infinite factor": field("part0/factor", 1e999),
    "negative factor": field("part0/factor", -1.0),
    "NaN cut-off": field("cutoff", NAN),
    "text for a cut-off": field("cutoff", "low"),
    "no examples": field("rows", 0),
    "settings of no model": setting("depth", 3),
    "text for a setting": setting("centred", "yes"),
    "unknown kind of labels": setting("one_label", "maybe"),
    "infinite constant": setting("constant", 1e999),
    "parameters": lambda h, a: h.update(params={"C": 1.0}),
    "labels of other number": lambda h, a: h["labels"].pop(),
    "text for the other flag": lambda h, a: h.update(grows="no"),
}


@pytest.mark.parametrize("change", FORGED)
def test_forged_compact_files_are_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "m"
    compact_ranker(RANKERS["one learner"]()).save(path)
    header, arrays = parts(path)
    forge(path, header, arrays)
    tagalong.load(path)
    FORGED[change](header, arrays)
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match=str(path)):
        tagalong.load(path)


def test_damaged_compact_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    compact_ranker(RANKERS["one learner"]()).save(path)
    contents = path.read_bytes()
    for position in (*range(0, len(contents), 17), len(contents) - 1):
        altered = bytearray(contents)
        altered[position] ^= 0x41
        path.write_bytes(altered)
        with pytest.raises(ModelFileError):
            tagalong.load(path)
        path.write_bytes(contents[:position])
        with pytest.raises(ModelFileError):
            tagalong.load(path)
    path.write_bytes(contents + bytes(8))
    with pytest.raises(ModelFileError):
        tagalong.load(path)
