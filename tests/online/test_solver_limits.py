"""Steps that a solver cannot compute within its limit: a simpler step, a count and one warning."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tagalong import LabelRanker
from tests.weights import dense_coef

LABELS = 40


def huge_rows(rows: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of seven distinct values near 1e18, with three labels each."""
    X = np.random.default_rng(0).uniform(0.5, 1, (rows, 7)) * 1e18
    Y = np.zeros((rows, LABELS))
    Y[:, [1, 5, 9]] = 1
    return X, Y


def make_ranker() -> LabelRanker:
    return LabelRanker("smooth", "entropic", dtype="float64", normalize=False)


@pytest.mark.parametrize("weight", [1.0, 1e6])
def test_a_huge_row_ends_with_a_warning(weight: float) -> None:
    X, Y = huge_rows(1)
    ranker = make_ranker()
    with pytest.warns(ConvergenceWarning, match="simpler step was taken"):
        ranker.partial_fit(X, Y, sample_weight=[weight])
    certificate = ranker.certificate_
    assert certificate.unsolved == 1
    assert "the solver reached its limit in 1 round)" in str(certificate)
    assert np.isfinite(dense_coef(ranker)).all()
    # The step on the worst pair, the simplest one, is feasible and raises the dual value.
    assert certificate.dual > 0
    assert certificate.dual == pytest.approx(ranker._native.recompute_dual(), rel=1e-9)


def test_only_the_first_such_round_warns() -> None:
    X, Y = huge_rows()
    ranker = make_ranker()
    with pytest.warns(ConvergenceWarning) as caught:
        ranker.partial_fit(X, Y)
    assert len(caught) == 1
    before = ranker.certificate_.unsolved
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.partial_fit(X[:, ::-1], np.roll(Y, 1, axis=1))
        ranker.learn_one((np.arange(7), X[0]), [2])
    assert ranker.certificate_.unsolved >= before > 0


def test_single_examples_warn_too() -> None:
    X, _ = huge_rows(1)
    ranker = make_ranker().add_labels(range(LABELS))
    with pytest.warns(ConvergenceWarning):
        ranker.learn_one((np.arange(7), X[0]), [1, 5, 9])


def test_ordinary_rows_are_solved() -> None:
    rng = np.random.default_rng(1)
    ranker = make_ranker()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.partial_fit(rng.random((50, 7)), np.eye(5)[rng.integers(0, 5, 50)])
    assert ranker.certificate_.unsolved == 0
    assert "limit" not in str(ranker.certificate_)
