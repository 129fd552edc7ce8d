"""OrdinalRanker agrees with the definition of its reduction; edge cases."""

import datetime
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import BlockProjection, OrdinalRanker, load
from tagalong.learning import model_files
from tagalong.online.blocks import ordinal as ordinal_ranker
from tagalong.online.blocks.projection import BLOCK_UPDATES

HOME = "tagalong.online.blocks.ordinal"


def some_rows(seed: int, rows: int = 60, n: int = 4, k: int = 5) -> tuple[Any, Any]:
    """Rows with zeros, and their grades 0 ... k - 1 with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, n)) * (rng.random((rows, n)) < 0.8)
    score = X @ rng.normal(size=n) + 0.3 * rng.normal(size=rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, k) / k))


def explicit_block(x: Any, grade: int, k: int) -> tuple[Any, Any]:
    """The definition: row j is (x, -e_j), its sign +1 for j < grade and -1 otherwise."""
    rows = np.zeros((k - 1, len(x) + k - 1))
    signs = np.zeros(k - 1)
    for j in range(k - 1):
        rows[j, : len(x)] = x
        rows[j, len(x) + j] = -1
        signs[j] = 1 if j < grade else -1
    return rows, signs


@pytest.mark.parametrize("update", BLOCK_UPDATES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_explicit_blocks_give_the_same_bits(update: str, dtype: str, k: int) -> None:
    X, y = some_rows(k, k=k)
    twin = BlockProjection(update=update, C=0.3, margin=0.7, dtype=dtype)
    for x, grade in zip(X, y, strict=True):
        twin.learn_block(*explicit_block(x, grade, k))
    ranker = OrdinalRanker(update, C=0.3, margin=0.7, dtype=dtype).partial_fit(X, y, range(k))
    assert ranker.coef_.tobytes() == twin.coef_[:4].tobytes()
    assert ranker.raw_thresholds_.tobytes() == twin.coef_[4:].tobytes()
    assert ranker.certificate_ == twin.certificate_
    assert ranker.certificate_.rounds == len(X)
    assert ranker.coef_.any()


def test_sample_weights_scale_the_budgets() -> None:
    X, y = some_rows(0)
    weights = np.random.default_rng(1).choice([0, 0.5, 1, 3], size=len(X))
    twin = BlockProjection(C=0.1)
    for x, grade, weight in zip(X, y, weights, strict=True):
        if weight > 0:
            twin.learn_block(*explicit_block(x, grade, 5), weights=np.full(4, 1 / weight))
    ranker = OrdinalRanker(C=0.1).partial_fit(X, y, range(5), sample_weight=weights)
    assert ranker.coef_.tobytes() == twin.coef_[:4].tobytes()
    assert ranker.certificate_ == twin.certificate_
    assert ranker.certificate_.rounds == np.count_nonzero(weights)


def test_passes_and_shuffling_of_fit() -> None:
    X, y = some_rows(2)
    twice = OrdinalRanker(C=0.1).partial_fit(X, y, range(5)).partial_fit(X, y)
    kept = OrdinalRanker(C=0.1, passes=2, shuffle=False).fit(X, y)
    assert kept.coef_.tobytes() == twice.coef_.tobytes()
    rng = np.random.default_rng(3)
    mixed = OrdinalRanker(C=0.1)
    for order in (rng.permutation(len(X)), rng.permutation(len(X))):
        mixed.partial_fit(X[order], y[order], range(5))
    shuffled = OrdinalRanker(C=0.1, passes=2, random_state=3).fit(X, y)
    assert shuffled.coef_.tobytes() == mixed.coef_.tobytes()
    assert shuffled.coef_.tobytes() != kept.coef_.tobytes()


@settings(max_examples=20)
@given(cuts=st.lists(st.integers(0, 60), max_size=4), numbers=st.integers(1, 200))
def test_batches_and_chunks_do_not_matter(cuts: list[int], numbers: int) -> None:
    X, y = some_rows(4)
    whole = OrdinalRanker().partial_fit(X, y, range(5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordinal_ranker, "MAX_CHUNK_ENTRIES", numbers)
        parts = OrdinalRanker()
        ends = sorted({0, 60, *cuts})
        for start, stop in pairwise(ends):
            parts.partial_fit(sp.csr_array(X[start:stop]), y[start:stop], range(5))
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert parts.raw_thresholds_.tobytes() == whole.raw_thresholds_.tobytes()


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), k=st.integers(1, 7), update=st.sampled_from(BLOCK_UPDATES))
def test_predictions_by_their_definition(seed: int, k: int, update: str) -> None:
    X, y = some_rows(seed, k=k)
    ranker = OrdinalRanker(update, C=0.2, grades=range(k)).partial_fit(X, y)
    thresholds = ranker.thresholds_
    assert thresholds.tolist() == sorted(ranker.raw_thresholds_.tolist())
    scores, margins = ranker.latent_score(X), ranker.decision_function(X)
    for i, grade in enumerate(ranker.predict(X)):
        assert grade == sum(scores[i] >= threshold for threshold in thresholds)
        if k == 2:
            assert margins[i] == scores[i] - thresholds[0]
            continue
        for other in range(k):
            signs = np.where(np.arange(k - 1) < other, 1, -1)
            assert margins[i, other] == min(signs * (scores[i] - thresholds), default=0)
        assert margins[i, grade] == margins[i].max()


def test_a_score_on_a_threshold_reaches_it() -> None:
    """Before any step, or after one from an empty row, all scores and thresholds are 0."""
    ranker = OrdinalRanker().partial_fit(np.zeros((1, 2)), [1], [0, 1, 2], sample_weight=[0])
    assert ranker.thresholds_.tolist() == [0, 0]
    assert ranker.predict(np.eye(2)).tolist() == [2, 2]
    assert ranker.decision_function(np.eye(2)).tolist() == [[0, 0, 0]] * 2


def test_predictions_count_raw_thresholds_even_if_they_are_unordered() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(20):
        X, y = rng.normal(size=(12, 2)), rng.integers(0, 6, 12)
        ranker = OrdinalRanker("max", C=1.0).partial_fit(X, y, range(6))
        found += bool((np.diff(ranker.raw_thresholds_) < 0).any())
        assert (np.diff(ranker.thresholds_) >= 0).all()
        expected = (ranker.latent_score(X)[:, None] >= ranker.raw_thresholds_).sum(axis=1)
        assert ranker.predict(X).tolist() == expected.tolist()
    assert found > 0


def test_two_grades_are_a_binary_classifier() -> None:
    X, y = some_rows(5, k=2)
    twin = BlockProjection(C=0.5)
    for x, grade in zip(X, y, strict=True):
        twin.learn_block(np.append(x, -1)[None], [1 if grade else -1])
    ranker = OrdinalRanker(C=0.5).partial_fit(X, y, [0, 1])
    with_one = np.hstack([X, -np.ones((60, 1))])
    decisions = with_one @ twin.coef_
    np.testing.assert_allclose(ranker.decision_function(X), decisions, rtol=1e-5, atol=1e-6)
    assert ranker.predict(X).tolist() == (ranker.decision_function(X) >= 0).astype(int).tolist()


def test_one_grade() -> None:
    ranker = OrdinalRanker().fit(np.eye(3), ["only"] * 3)
    assert ranker.thresholds_.shape == (0,)
    assert ranker.predict(np.eye(3)).tolist() == ["only"] * 3
    assert ranker.decision_function(np.eye(3)).tolist() == [[0]] * 3
    assert ranker.certificate_.loss == 0


def test_grades_without_rows_are_allowed() -> None:
    X, y = some_rows(6, k=3)
    ranker = OrdinalRanker(grades=range(6)).fit(X, y + 1)
    assert ranker.classes_.tolist() == [0, 1, 2, 3, 4, 5]
    assert set(ranker.predict(X)) <= set(range(6))
    assert ranker.score(X, y + 1) > 0.5


DATES = [datetime.date(2020, 1, day) for day in (1, 2, 9)]
KINDS = {
    "integers": np.array([-3, 10, 200]),
    "whole floats": np.array([1.0, 2.0, 30.0]),
    "text": np.array(["a fair one", "bad", "größer"]),
    "objects": np.array(["A", "B", "C"], dtype=object),
    "bool": np.array([False, True]),
    "datetime64": np.array(DATES, dtype="datetime64[D]"),
    "timedelta64": np.array([1, 2, 30], dtype="timedelta64[h]"),
    "dates": np.array(DATES, dtype=object),
}


@pytest.mark.parametrize("kind", KINDS)
def test_grades_of_any_sortable_type(kind: str, tmp_path: Path, registered: None) -> None:
    values = KINDS[kind]
    X, y = some_rows(7, k=len(values))
    plain, named = OrdinalRanker().fit(X, y), OrdinalRanker().fit(X, values[y])
    assert named.classes_.tolist() == values.tolist()
    assert named.classes_.dtype == values.dtype
    assert named.coef_.tobytes() == plain.coef_.tobytes()
    assert named.predict(X).tolist() == values[plain.predict(X)].tolist()
    named.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.classes_.dtype == values.dtype
    assert again.predict(X).tolist() == named.predict(X).tolist()


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(model_files._KINDS, "OrdinalRanker", HOME)


def test_words_in_a_declared_order() -> None:
    X, y = some_rows(8, k=3)
    words = np.array(["poor", "fair", "good"])
    plain, named = OrdinalRanker().fit(X, y), OrdinalRanker(grades=words).fit(X, words[y])
    assert named.classes_.tolist() == words.tolist()
    assert named.predict(X).tolist() == words[plain.predict(X)].tolist()
    alphabet = OrdinalRanker().fit(X, words[y])
    assert alphabet.classes_.tolist() == ["fair", "good", "poor"]
    assert alphabet.score(X, words[y]) < named.score(X, words[y])


def test_days_and_nanoseconds_are_the_same_dates() -> None:
    X, y = some_rows(9, k=3)
    days = KINDS["datetime64"]
    ranker = OrdinalRanker().partial_fit(X, days[y], days)
    ranker.partial_fit(X, days.astype("datetime64[ns]")[y], days.astype("datetime64[ns]"))
    assert ranker.certificate_.rounds == 120


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 7], r"y: row 2 is 7; the grades are \[0, 1, 2\]"),
        (["a", "b", "c"], "y: row 0 is 'a'"),
        ([0, 1], "X has 3 rows but y has 2"),
        ([0.0, np.nan, 1.0], "y: row 1 is NaN"),
        ([0, None, 1], "y: row 1 is missing"),
        (None, "requires y to be passed"),
        ([[0, 1], [1, 0], [0, 0]], "1d array"),
        (sp.csr_array(np.eye(3)), "sparse"),
    ],
)
def test_invalid_grades_raise_and_change_nothing(y: Any, message: str) -> None:
    X, good = some_rows(10, k=3)
    ranker = OrdinalRanker().partial_fit(X, good, [0, 1, 2])
    before = pickle.dumps(ranker)
    with pytest.raises(ValueError, match=message):
        ranker.partial_fit(np.ones((3, 4)), y)
    assert pickle.dumps(ranker) == before
    with pytest.raises(ValueError):
        OrdinalRanker(grades=[0, 1, 2]).fit(np.ones((3, 4)), y)


@pytest.mark.parametrize(
    ("X", "weights", "message"),
    [
        ([[1, np.nan]], None, "NaN"),
        ([[1, np.inf]], None, "inf"),
        ([[1, 2, 3]], None, "3 features"),
        ([[1, 2]], [-1], "sample_weight: row 0 is -1"),
        ([[1, 2]], [np.nan], "sample_weight: row 0 is NaN"),
        ([[1, 2]], [1, 2], "sample_weight must have shape"),
    ],
)
def test_invalid_rows_raise_and_change_nothing(X: Any, weights: Any, message: str) -> None:
    ranker = OrdinalRanker().fit(np.eye(2), [0, 1])
    before = pickle.dumps(ranker)
    with pytest.raises(ValueError, match=message):
        ranker.partial_fit(X, [0], sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight|NaN|inf|y has 1"):
        ranker.fit(np.vstack([X, X]) if weights is None else X, [0], sample_weight=weights)
    assert pickle.dumps(ranker) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"update": "fast"}, "update must be one of"),
        ({"C": 0}, "C must be positive"),
        ({"margin": -1}, "margin must be positive"),
        ({"passes": 0}, "passes must be at least 1"),
        ({"shuffle": 1}, "shuffle must be True or False"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"dtype": "int"}, "dtype must be one of"),
        ({"grades": "abc"}, "grades must be a sequence"),
        ({"grades": []}, "grades must be a sequence"),
        ({"grades": [0, 1, 0]}, "grades: 0 appears twice"),
        ({"grades": [0, 2]}, "y: row 1 is 1"),
    ],
)
def test_invalid_parameters_raise(parameters: dict[str, Any], message: str) -> None:
    ranker = OrdinalRanker(**parameters)
    with pytest.raises(ValueError, match=message):
        ranker.fit(np.eye(2), [0, 1])
    assert not hasattr(ranker, "n_features_in_")


def test_the_grades_of_a_stream_are_declared_once() -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        OrdinalRanker().partial_fit(np.eye(2), [0, 1])
    ranker = OrdinalRanker().partial_fit(np.eye(2), [0, 1], classes=[2, 1, 0, 0])
    assert ranker.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"classes is \[0, 1\], but classes_ is \[0, 1, 2\]"):
        ranker.partial_fit(np.eye(2), [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="but grades is"):
        OrdinalRanker(grades=[1, 0]).partial_fit(np.eye(2), [0, 1], classes=[0, 1, 2])


def test_fractions_are_grades_if_declared() -> None:
    with pytest.raises(ValueError, match=r"Unknown label type: continuous. y: row 1 is 1.5"):
        OrdinalRanker().fit(np.eye(2), [1, 1.5])
    assert OrdinalRanker(grades=[1, 1.5, 2]).fit(np.eye(2), [1, 1.5]).classes_.tolist() == [
        1,
        1.5,
        2,
    ]


def test_grades_that_cannot_be_sorted() -> None:
    with pytest.raises(ValueError, match="cannot be sorted"):
        OrdinalRanker().fit(np.eye(2), np.array(["a", 1], dtype=object))


def test_a_loaded_or_pickled_learner_continues_with_the_same_bits(
    tmp_path: Path, registered: None
) -> None:
    X, y = some_rows(11)
    words = np.array(["e", "d", "c", "b", "a"])
    ranker = OrdinalRanker("optimal", C=0.2, grades=words).partial_fit(X, words[y])
    ranker.save(tmp_path / "model")
    copies = [load(tmp_path / "model"), pickle.loads(pickle.dumps(ranker))]
    ranker.partial_fit(X, words[y])
    for copy in copies:
        assert list(copy.grades) == words.tolist()
        copy.partial_fit(X, words[y])
        assert copy.coef_.tobytes() == ranker.coef_.tobytes()
        assert copy.thresholds_.tobytes() == ranker.thresholds_.tobytes()
        assert copy.certificate_ == ranker.certificate_
        assert copy.fit(X, words[y]).classes_.tolist() == words.tolist()


def test_the_error_decreases() -> None:
    """The mean absolute error on test rows decreases with more training rows."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(3000, 6))
    y = np.digitize(X @ [1, -1, 0.5, 0.5, 0, 0] + 0.2 * rng.normal(size=3000), [-2, -1, 0, 1, 2])
    ranker = OrdinalRanker(C=0.1)
    errors = []
    for start in range(0, 2000, 50):
        ranker.partial_fit(X[start : start + 50], y[start : start + 50], range(6))
        errors.append(np.abs(ranker.predict(X[2000:]) - y[2000:]).mean())
    guess = np.abs(np.median(y) - y[2000:]).mean()
    assert errors[0] < 0.8 * guess
    assert errors[-1] < 0.6 * errors[0]
    assert errors[-1] < 0.3


def test_sorted_rows_are_learnt_as_well_as_shuffled_ones() -> None:
    """Noisy and unbalanced grades: without shuffling, the last grades would dominate."""
    rng = np.random.default_rng(13)
    X = rng.normal(size=(600, 6))
    y = np.sort(np.digitize(X[:, 0] + rng.normal(size=600), [-2, -0.5, 0.5, 2, 3]))
    X = X[np.argsort(X[:, 0] + rng.normal(size=600))]

    def error(**parameters: Any) -> float:
        return float(np.abs(OrdinalRanker(C=0.1, **parameters).fit(X, y).predict(X) - y).mean())

    mixed = rng.permutation(600)
    expected = OrdinalRanker(C=0.1).fit(X[mixed], y[mixed]).predict(X)
    assert error() == pytest.approx(np.abs(expected - y).mean(), rel=0.2)
    assert error(shuffle=False) > 1.3 * error()
