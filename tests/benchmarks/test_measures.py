"""The benchmark measures against scikit-learn and against naive definitions."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import (
    f1_score,
    label_ranking_average_precision_score,
    label_ranking_loss,
    ndcg_score,
)

from benchmarks.measures import BestThreshold, F1Counts, Progressive


def problem(seed: int, *, ties: bool, n: int = 60, K: int = 9):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, (n, K)).astype(float) if ties else rng.normal(size=(n, K))
    Y = (rng.random((n, K)) < 0.3).astype(np.int8)
    return scores, Y


def ranked_rows(Y):
    size = Y.sum(axis=1)
    return (size > 0) & (size < Y.shape[1])


def measured(scores, Y, chunk: int = 17):
    total = Progressive()
    for start in range(0, len(Y), chunk):
        rows = slice(start, start + chunk)
        total.add(scores[rows], sp.csr_matrix(Y[rows]))
    return total.result()


def naive(scores, Y):
    """The means of the five measures, computed pair by pair and position by position."""
    found = []
    for s, y in zip(scores, Y, strict=True):
        inside, outside = np.flatnonzero(y), np.flatnonzero(1 - y)
        pairs = list(itertools.product(inside, outside))
        order = sorted(range(len(s)), key=lambda label: (-s[label], label))
        gains = sum(1 / math.log2(place + 2) for place in range(5) if y[order[place]])
        ideal = sum(1 / math.log2(place + 2) for place in range(min(5, len(inside))))
        precision = [
            sum(s[q] >= s[r] for q in inside) / sum(s[q] >= s[r] for q in range(len(s)))
            for r in inside
        ]
        found.append(
            [
                not y[order[0]],
                min(s[inside]) <= max(s[outside]),
                sum((s[r] < s[q]) + 0.5 * (s[r] == s[q]) for r, q in pairs) / len(pairs),
                np.mean(precision),
                gains / ideal,
            ]
        )
    return np.mean(found, axis=0)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_five_measures_follow_their_definitions(seed, ties):
    scores, Y = problem(seed, ties=ties)
    kept = ranked_rows(Y)
    found = measured(scores, Y)
    assert found.rows == kept.sum()
    five = [
        found.one_error,
        found.any_mistake,
        found.ranking_loss,
        found.average_precision,
        found.ndcg,
    ]
    np.testing.assert_allclose(five, naive(scores[kept], Y[kept]), rtol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_average_precision_equals_that_of_scikit_learn(ties):
    scores, Y = problem(7, ties=ties)
    kept = ranked_rows(Y)
    expected = label_ranking_average_precision_score(Y[kept], scores[kept])
    assert measured(scores, Y).average_precision == pytest.approx(expected, rel=1e-12)


def test_without_ties_loss_and_ndcg_equal_those_of_scikit_learn():
    scores, Y = problem(8, ties=False)
    kept = ranked_rows(Y)
    found = measured(scores, Y)
    assert found.ranking_loss == pytest.approx(label_ranking_loss(Y[kept], scores[kept]))
    assert found.ndcg == pytest.approx(ndcg_score(Y[kept], scores[kept], k=5))


def test_equal_scores():
    Y = np.array([[0, 1, 0, 0]])
    found = measured(np.zeros((1, 4)), Y)
    assert found.one_error == 1.0
    assert found.any_mistake == 1.0
    assert found.ranking_loss == 0.5
    assert found.average_precision == 0.25
    assert found.ndcg == pytest.approx(1 / math.log2(3))
    assert measured(np.zeros((1, 4)), np.array([[1, 0, 0, 0]])).one_error == 0.0


def test_rows_without_a_pair_to_rank_are_left_out():
    scores, Y = problem(9, ties=False, n=20)
    more = np.vstack([np.zeros((1, 9)), np.ones((1, 9)), Y]).astype(np.int8)
    padded = np.vstack([np.zeros((2, 9)), scores])
    expected = measured(scores, Y).as_dict()
    assert measured(padded, more).as_dict() == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="no row"):
        measured(np.zeros((2, 9)), more[:2])


def test_the_chunk_size_does_not_matter():
    scores, Y = problem(10, ties=True, n=1300)
    whole = measured(scores, Y, chunk=1300).as_dict()
    assert measured(scores, Y, chunk=101).as_dict() == pytest.approx(whole, rel=1e-12)


def test_bad_scores_are_refused():
    scores, Y = problem(11, ties=False)
    with pytest.raises(ValueError, match="shape"):
        measured(scores[:, :-1], Y)
    scores[3, 3] = np.nan
    with pytest.raises(ValueError, match="finite"):
        measured(scores, Y)


def test_beats_names_the_better_measures():
    scores, Y = problem(12, ties=False)
    good = measured(Y + 0.1 * scores, Y)
    bad = measured(scores, Y)
    assert len(good.beats(bad)) == 5
    assert bad.beats(good) == []
    assert good.beats(good) == []


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_micro_f1(form):
    scores, Y = problem(13, ties=False)
    counts = F1Counts()
    for rows in (slice(0, 25), slice(25, None)):
        counts.add(form((scores[rows] > 0.5).astype(int)), sp.csr_matrix(Y[rows]))
    assert counts.result() == pytest.approx(f1_score(Y, scores > 0.5, average="micro"))


def test_micro_f1_of_nothing_is_zero():
    assert F1Counts().result() == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_best_threshold_equals_an_exhaustive_search(seed):
    scores, Y = problem(seed, ties=seed % 2 == 1)
    scores += Y
    best = BestThreshold()
    for rows in (slice(0, 25), slice(25, None)):
        best.add(scores[rows], sp.csr_matrix(Y[rows]))
    tried = [f1_score(Y, scores >= level, average="micro") for level in np.unique(scores)]
    assert best.result() == pytest.approx(max(tried), abs=5e-3)
