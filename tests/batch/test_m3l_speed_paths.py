"""Faster code paths of the solvers reach the same optimum."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from tagalong import M3LClassifier
from tests.batch.problems import data, many, priors
from tests.batch.test_optimality import is_optimal
from tests.reference.m3l import dual_of


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("megabytes", [200, 0.02], ids=["whole", "in parts"])
def test_the_native_rbf_kernel_equals_a_kernel_function(dtype: Any, megabytes: float) -> None:
    X, Y = data(20, rows=150, labels=6)
    X = X.astype(dtype)
    settings: dict[str, Any] = {"tol": 1e-3, "cache_size": megabytes}
    native = M3LClassifier(kernel="rbf", gamma=0.1, **settings).fit(X, Y)
    custom = M3LClassifier(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1), **settings).fit(X, Y)
    is_optimal(native, dual_of(rbf_kernel(X.astype(float), gamma=0.1), Y), 1e-3, 1e-4)
    assert native.dual_objective_ == pytest.approx(custom.dual_objective_, rel=1e-5)
    found, expected = (model.decision_function(X) for model in (native, custom))
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_the_native_rbf_kernel_gives_the_same_bits_with_any_number_of_threads(
    prior: str | None,
) -> None:
    X, Y = data(21, rows=300, labels=7)
    settings: dict[str, Any] = {"kernel": "rbf", "gamma": 0.1, "prior": prior, "tol": 0.01}
    one, three = (M3LClassifier(n_jobs=jobs, **settings).fit(X, Y) for jobs in (1, 3))
    assert one.dual_coef_.tobytes() == three.dual_coef_.tobytes()
    assert one.duality_gap_ == three.duality_gap_


def test_rows_too_long_for_the_kernel_are_refused_and_do_not_change_the_model() -> None:
    X, Y = data(22)
    model = M3LClassifier(kernel="rbf", gamma=1.0).fit(X.astype(np.float32), Y)
    before = model.decision_function(X)
    X[3, 0] = 1e18
    with pytest.raises(ValueError, match=r"squared length of row 3 is 1e\+38"):
        model.set_params(gamma=100.0).fit(X.astype(np.float32), Y)
    np.testing.assert_array_equal(model.decision_function(data(22)[0]), before)


@pytest.mark.parametrize("kind", ["dense", "negative", "singular", "cooccurrence"])
def test_coupled_rare_labels_start_from_the_never_relevant_label(kind: str) -> None:
    """18 rare labels fill two blocks; each starts from a multiple of a common solution.

    If the diagonal of the prior is not constant, some labels start from 0.
    """
    X, Y = many(23, 60, 40, 18, 6)
    rare = (np.random.default_rng(0).random(Y.shape) < 0.15).astype(float) * Y
    rare[np.arange(18), np.arange(18)] = 1
    assert (rare.mean(axis=0) < 0.1).sum() >= 16
    R: Any = "cooccurrence" if kind == "cooccurrence" else priors(18)[kind]
    if kind != "cooccurrence":
        scale = np.sqrt(np.diag(R))
        R = R / np.outer(scale, scale)
    model = M3LClassifier(prior=R, tol=1e-5, max_iter=20000).fit(X, rare)
    if kind == "cooccurrence":
        counts = rare.T @ rare
        R = counts / np.sqrt(np.outer(np.diag(counts), np.diag(counts)))
    K = (X @ X.T).toarray()
    is_optimal(model, dual_of(K, rare, R), 1e-5, 1e-6)


def test_single_label_descent_respects_weights_costs_and_unknown_relevance() -> None:
    """With three labels, nearly all passes visit the variables of one label only."""
    X, Y = many(24, 100, 60, 3, 6)
    rng = np.random.default_rng(0)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weight = rng.uniform(0, 2, len(Y))
    miss, alarm = np.array([1.0, 2.0, 0.5]), 0.7
    model = M3LClassifier(loss={"miss": miss, "false_alarm": alarm}, tol=1e-5, max_iter=5000)
    model.fit(sp.csr_matrix(X), Y, sample_weight=weight)
    K = (X @ X.T).toarray()
    is_optimal(model, dual_of(K, Y, None, 1.0, miss, alarm, weight), 1e-5, 1e-6)
    assert (model.dual_coef_[np.isnan(Y)] == 0).all()
