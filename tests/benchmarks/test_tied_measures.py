"""Measures of rankings with ties, compared with scikit-learn and with all orders of the ties."""

from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from sklearn.metrics import label_ranking_average_precision_score, label_ranking_loss

from benchmarks.tied_measures import Ranking, tied_ranking

RNG = np.random.default_rng(3)
SCORES = RNG.integers(0, 3, size=(40, 5)).astype(float)
RELEVANT = RNG.integers(0, 2, size=(40, 5))


def mean_over_orders(
    scores: npt.NDArray[np.float64], relevant: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Average precision, one-error and ranking loss of a row, over all ways to break its ties."""
    found = []
    for order in permutations(range(len(scores))):
        untied = (scores + 0.01 * np.array(order))[None]
        found.append(
            (
                label_ranking_average_precision_score(relevant[None], untied),
                1 - relevant[untied.argmax()],
                label_ranking_loss(relevant[None], untied),
            )
        )
    return np.mean(found, axis=0)


def test_ties_are_strict_as_in_scikit_learn_or_the_mean_over_all_orders() -> None:
    found = tied_ranking([SCORES[:17], SCORES[17:]], sp.csr_matrix(RELEVANT))
    kept = (RELEVANT.any(axis=1)) & (~RELEVANT.all(axis=1))
    scores, relevant = SCORES[kept], RELEVANT[kept]
    assert found.strict.average_precision == pytest.approx(
        label_ranking_average_precision_score(relevant, scores)
    )
    assert found.strict.ranking_loss == pytest.approx(label_ranking_loss(relevant, scores))
    expected = np.mean([mean_over_orders(*row) for row in zip(scores, relevant, strict=True)], 0)
    even = found.even
    assert [even.average_precision, even.one_error, even.ranking_loss] == pytest.approx(expected)


def test_a_tie_at_the_top_is_a_strict_error() -> None:
    found = tied_ranking([np.array([[1.0, 1.0, 0.0]])], sp.csr_matrix([[1, 0, 0]]))
    assert (found.strict.one_error, found.even.one_error) == (1.0, 0.5)


def test_the_kinder_treatment_is_chosen_for_each_measure() -> None:
    first, second = Ranking(0.5, 0.2, 0.3), Ranking(0.6, 0.3, 0.1)
    assert first.kinder(second) == Ranking(0.6, 0.2, 0.1)


def test_missing_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="scores have 39 rows, but Y has 40"):
        tied_ranking([SCORES[:39]], sp.csr_matrix(RELEVANT))
