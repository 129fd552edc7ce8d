"""The promises of a race in all its phases: contestants leave, and start again.

The streams of the other contract tests are short: there all contestants that suit run to the end.
"""

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker
from tests.contract.bits import assert_same, flatten, learnt, native_of, whole
from tests.race_streams import LABELS, changing_columns, changing_words

ROWS = 700
NAMES = ["home", "money", "travel", "work", "family", "garden"]
STREAMS: dict[str, tuple[Any, Any, list[str]]] = {
    "columns": (*changing_columns(ROWS), LABELS),
    "words": (*changing_words(ROWS), NAMES),
}
# Before and after contestants that do not suit leave, losers leave, and contestants start again.
PHASES = [1, 5, 19, 20, 21, 100, 500, 520, 600, 640, ROWS]

each_stream = pytest.mark.parametrize("name", STREAMS)


def part(name: str, start: int, end: int) -> tuple[Any, Any]:
    X, Y, _ = STREAMS[name]
    return X[start:end], Y[start:end]


def grown(name: str, rows: int, **parameters: Any) -> LabelRanker:
    ranker = LabelRanker(**parameters)
    return ranker.partial_fit(*part(name, 0, rows), classes=STREAMS[name][2])


@cache
def all_bits(name: str) -> dict[str, bytes]:
    return whole(grown(name, ROWS))


def running(ranker: LabelRanker) -> list[tuple[str, int]]:
    standings = native_of(ranker).standings()
    return [(each.name, each.rounds) for each in standings if each.running]


@each_stream
def test_the_stream_has_all_phases(name: str) -> None:
    """Otherwise the other tests would prove less."""
    first = len(running(grown(name, 1)))
    suited, later = len(running(grown(name, 100))), len(running(grown(name, ROWS)))
    assert first > suited
    assert later > len(running(grown(name, 600)))
    ranker = grown(name, ROWS)
    assert ranker.drift is not None
    assert any(rounds < ROWS for _, rounds in running(ranker))


@each_stream
@pytest.mark.parametrize("size", [1, 33])
def test_batches_of_any_size_give_the_same_bits(name: str, size: int) -> None:
    ranker = LabelRanker()
    for start in range(0, ROWS, size):
        ranker.partial_fit(*part(name, start, start + size), classes=STREAMS[name][2])
    assert_same(whole(ranker), all_bits(name))


@each_stream
def test_one_by_one_gives_the_same_bits(name: str) -> None:
    X, Y, labels = STREAMS[name]
    ranker = LabelRanker(one_label=True if name == "words" else "auto").add_labels(labels)
    for row, target in zip(X, Y, strict=True):
        dense = row.toarray().ravel() if name == "words" else row
        (indices,) = dense.nonzero()
        own = [target] if name == "words" else [labels[y] for y in np.flatnonzero(target)]
        ranker.watch_one((indices, dense[indices]), own)
    expected = grown(name, ROWS)
    assert_same(
        flatten(native_of(ranker).state()["arrays"]),
        flatten(native_of(expected).state()["arrays"]),
    )


def saved_and_loaded(ranker: LabelRanker, folder: Path) -> Any:
    ranker.save(folder / "model.tagalong")
    return tagalong.load(folder / "model.tagalong")


def pickled(ranker: LabelRanker, folder: Path) -> Any:
    return pickle.loads(pickle.dumps(ranker))


@each_stream
@pytest.mark.parametrize("copied", [saved_and_loaded, pickled])
def test_a_copy_in_every_phase_learns_as_the_model_would(
    name: str, copied: Callable[[LabelRanker, Path], Any], tmp_path: Path
) -> None:
    ranker, start = LabelRanker(), 0
    for end in PHASES:
        ranker.partial_fit(*part(name, start, end), classes=STREAMS[name][2])
        again = copied(ranker, tmp_path)
        assert_same(whole(again), whole(ranker))
        ranker, start = again, end
    assert_same(whole(ranker), all_bits(name))


@each_stream
def test_scores_before_learning_are_those_of_decision_function(name: str) -> None:
    X, Y, labels = STREAMS[name]
    fast = LabelRanker().predict_then_learn(X, Y, labels)
    ranker = grown(name, 1)
    for i in range(1, ROWS):
        slow = ranker.decision_function(X[i : i + 1])
        assert slow.tobytes() == fast[i].tobytes(), f"row {i}"
        ranker.partial_fit(*part(name, i, i + 1))
    assert_same(whole(ranker), all_bits(name))


@each_stream
def test_answers_in_every_phase_store_nothing(name: str) -> None:
    X = STREAMS[name][0]
    for rows in PHASES:
        ranker = grown(name, rows)
        before = whole(ranker)
        for method in (ranker.decision_function, ranker.rank, ranker.predict, ranker.predict_proba):
            method(X[-5:])
        ranker.explain_one(([0, 10**6], [1.0, 2.0]), STREAMS[name][2][0])
        ranker.places_one(([0, 10**6], [1.0, 2.0]))
        _ = ranker.coef_, ranker.intercept_, ranker.certificate_, ranker.drift
        assert_same(whole(ranker), before)


@each_stream
@pytest.mark.parametrize("rows", PHASES)
def test_explanations_add_up_to_the_scores(name: str, rows: int) -> None:
    X, _, labels = STREAMS[name]
    ranker = grown(name, rows)
    for row in [*X[:3], *X[-3:]]:
        dense = row.toarray().ravel() if name == "words" else row
        (indices,) = dense.nonzero()
        scores, _ = ranker.score_one((indices, dense[indices]))
        for label, score in zip(labels, scores, strict=True):
            _, parts, found = ranker.explain_one((indices, dense[indices]), label)
            assert found == score
            assert parts.sum() == pytest.approx(score, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "contestant"),
    [
        ("columns", "unit"),
        ("columns", "largest"),
        ("columns", "standard"),
        ("words", "unit"),
        ("words", "idf"),
    ],
)
def test_weights_rank_labels_as_the_scores_do(name: str, contestant: str) -> None:
    """``coef_`` is for rows of typical length, so a few rankings may differ."""
    X, _, _ = STREAMS[name]
    ranker = grown(name, 590, race=[contestant])
    probes = X[500:590]
    dense = probes.toarray() if name == "words" else probes
    unit = dense / np.maximum(np.linalg.norm(dense, axis=1), 1e-9)[:, None]
    by_weights = unit @ np.asarray(ranker.coef_).T + ranker.intercept_
    best = ranker.decision_function(probes).argmax(axis=1)
    assert (by_weights.argmax(axis=1) == best).mean() >= 0.9


@each_stream
@pytest.mark.parametrize("rows", [10, 100, 590, ROWS])
def test_labels_and_features_may_change_in_every_phase(
    name: str, rows: int, tmp_path: Path
) -> None:
    labels = STREAMS[name][2]
    ranker = grown(name, rows)
    ranker.rename_label(labels[0], "renamed")
    ranker.merge_labels(labels[1:3], labels[1])
    ranker.forget_labels([labels[3]])
    assert ranker.classes_.tolist() == ["renamed", labels[1], *labels[4:]]
    X = STREAMS[name][0]
    assert np.isfinite(ranker.decision_function(X)).all()
    again = saved_and_loaded(ranker, tmp_path)
    assert_same(whole(again), whole(ranker))
    for model in (ranker, again):
        target = [labels[1]] * 40 if name == "words" else [[labels[1]]] * 40
        model.partial_fit(X[:40], target)
    assert_same(learnt(again), learnt(ranker))
    assert np.isfinite(np.asarray(ranker.coef_)).all()


@each_stream
def test_a_refused_row_leaves_the_race_as_it_was(name: str) -> None:
    for rows in (5, 100, ROWS):
        ranker = grown(name, rows)
        before = whole(ranker)
        X, Y = part(name, 0, 4)
        spoilt = X.toarray() if name == "words" else X.copy()
        spoilt[3, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            ranker.partial_fit(spoilt, Y)
        with pytest.raises(ValueError, match="weight"):
            ranker.partial_fit(X, Y, sample_weight=[1, 1, -1, 1])
        with pytest.raises(ValueError, match="NaN"):
            ranker.learn_one(([0], [np.nan]), STREAMS[name][2][:1])
        assert_same(whole(ranker), before)


@each_stream
def test_rows_of_weight_zero_leave_the_race_as_it_was(name: str) -> None:
    ranker = grown(name, 600)
    before = whole(ranker)
    ranker.partial_fit(*part(name, 0, 50), sample_weight=np.zeros(50))
    assert_same(whole(ranker), before)


@each_stream
def test_rows_that_are_never_judged_are_learnt(name: str, tmp_path: Path) -> None:
    """Nobody leaves because of them but the contestants that do not suit the stream."""
    X, Y, labels = STREAMS[name]
    ranker = LabelRanker()
    ranker.partial_fit(X[:600], Y[:600], labels, judged=False)
    assert {name for name, _ in running(ranker)} == {name for name, _ in running(grown(name, 100))}
    scores = ranker.decision_function(X[:600])
    right = np.asarray(labels)[scores.argmax(axis=1)]
    targets = [{y} if name == "words" else {labels[k] for k in np.flatnonzero(y)} for y in Y[:600]]
    share = np.mean([found in target for found, target in zip(right, targets, strict=True)])
    assert share > 0.9
    assert_same(whole(saved_and_loaded(ranker, tmp_path)), whole(ranker))


def test_a_first_row_with_thousands_of_features(tmp_path: Path) -> None:
    wide = (np.arange(20_000), np.ones(20_000))
    ranker = LabelRanker().learn_one(wide, ["a"]).learn_one(([3], [1.0]), ["b"])
    ranker.learn_one(wide, ["a", "c"])
    assert np.isfinite(ranker.score_one(wide)[0]).all()
    assert ranker.rank_one(([3], [1.0]))[0] == "b"
    assert_same(whole(saved_and_loaded(ranker, tmp_path)), whole(ranker))


@each_stream
def test_labels_may_come_late(name: str) -> None:
    """Scores of the known labels keep their order when a label is added."""
    X, _, _ = STREAMS[name]
    for rows in (5, 100, 640):
        ranker = grown(name, rows)
        before = ranker.rank(X[:50])
        ranker.labels.grows = True
        ranker.add_labels(["late"])
        after = [[y for y in row if y != "late"] for row in ranker.rank(X[:50]).tolist()]
        assert after == before.tolist()
        target = ["late"] * 30 if name == "words" else [["late"]] * 30
        ranker.partial_fit(X[:30], target)
        assert ranker.rank(X[29:30], 1)[0, 0] == "late"


def test_a_race_needs_a_ranker() -> None:
    for race in (["bayes-idf"], ["one-vs-rest-unit", "bayes-idf"]):
        with pytest.raises(ValueError, match="race must name a contestant with a certificate"):
            LabelRanker(race=race).fit(np.eye(3), [0, 1, 2])


def test_a_race_has_no_entropic_geometry() -> None:
    with pytest.raises(ValueError, match="geometry='entropic' has no race"):
        LabelRanker(geometry="entropic", race=["unit"]).fit(np.eye(3), [0, 1, 2])


def test_the_largest_budget_is_that_of_the_boldest_contestant() -> None:
    LabelRanker(C=1e12, race=["unit"]).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="C must be"):
        LabelRanker(C=1e12, race=["unit-bold"]).fit(np.eye(3), [0, 1, 2])
