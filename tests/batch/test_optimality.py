"""M3L reaches the optimum: compared with a conic solver, LIBLINEAR, KKT and its own variants."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import LinearSVC

from tagalong import M3LClassifier
from tests.batch.problems import data, many, nearly_equal, priors
from tests.reference.m3l import Dual, dual_of
from tests.weights import dense_coef

KINDS = list(priors(2))


def liblinear(X: Any, y: Any) -> Any:
    """Return LIBLINEAR's weights for one label; with other seeds it may miss the optimum by far."""
    peer = LinearSVC(
        loss="hinge", C=2, fit_intercept=False, tol=1e-8, max_iter=200000, random_state=0
    )
    return peer.fit(X, y).coef_[0]


def is_optimal(model: Any, dual: Dual, tol: float, close: float) -> None:
    """Assert feasibility, the optimal value, and the reported dual value and duality gap."""
    b = np.zeros(dual.target.shape)
    b[getattr(model, "support_", slice(None))] = model.dual_coef_
    assert (dual.low * (1 + 1e-6) <= b).all()
    assert (b <= dual.high * (1 + 1e-6)).all()
    # In single precision the bounds are rounded.
    for bound in (dual.low, dual.high):
        b = np.where(np.isclose(b, bound, rtol=1e-6, atol=0), bound, b)
    assert dual.violation(b) < tol + 1e-4
    best = dual.maximum()
    assert model.dual_objective_ == pytest.approx(dual.value(b), rel=1e-4)
    assert model.dual_objective_ == pytest.approx(best, rel=close)
    assert model.duality_gap_ == pytest.approx(dual.primal(b) - dual.value(b), abs=1e-3)
    assert best <= model.dual_objective_ + model.duality_gap_ + 1e-4 * abs(best)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precise", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_linear(kind: str, precise: bool, sparse: bool) -> None:
    X, Y = data(1, labels=5)
    R = priors(5)[kind]
    tol = 1e-6 if precise else 1e-3
    given = sp.csr_matrix(X) if sparse else X
    model = M3LClassifier(C=0.7, prior=R, tol=tol, max_iter=20000, random_state=0).fit(given, Y)
    is_optimal(model, dual_of(X @ X.T, Y, R, 0.7), tol, 1e-8 if precise else 1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed"])
def test_kernel(kind: str, kernel: str) -> None:
    X, Y = data(2, labels=4)
    R = priors(4)[kind]
    K = polynomial_kernel(X, gamma=0.2, coef0=1, degree=2)
    if kernel == "rbf":
        K = rbf_kernel(X, gamma=0.2)
    model = M3LClassifier(C=0.7, prior=R, kernel=kernel, gamma=0.2, coef0=1, degree=2)
    model.fit(K if kernel == "precomputed" else X, Y)
    is_optimal(model, dual_of(K, Y, R, 0.7), 1e-3, 1e-4)
    expected = 2 * K[:, model.support_] @ model.dual_coef_ @ (np.eye(4) if R is None else R)
    found = model.decision_function(K if kernel == "precomputed" else X)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("kind", ["none", "dense"])
def test_costs_weights_and_unknown_relevance_reach_the_optimum(kernel: str, kind: str) -> None:
    X, Y = data(3, labels=4)
    rng = np.random.default_rng(0)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weight = rng.uniform(0, 2, len(Y))
    miss, alarm = np.array([1.0, 2.0, 0.5, 3.0]), 0.7
    R = priors(4)[kind]
    model = M3LClassifier(
        prior=R, kernel=kernel, loss={"miss": miss, "false_alarm": alarm}, max_iter=20000
    )
    K = X @ X.T
    model.fit(K if kernel == "precomputed" else X, Y, sample_weight=weight)
    is_optimal(model, dual_of(K, Y, R, 1.0, miss, alarm, weight), 1e-3, 1e-4)
    b = np.zeros(Y.shape)
    b[getattr(model, "support_", slice(None))] = model.dual_coef_
    assert (b[np.isnan(Y)] == 0).all()


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_the_loss_tied_to_the_prior_reaches_the_optimum(kernel: str) -> None:
    X, Y = data(4, labels=4)
    Y[0, 1] = np.nan
    R = np.eye(4) + 0.2 * np.array([[0, 1, -1, 0], [1, 0, 0, 1], [-1, 0, 0, 0], [0, 1, 0, 0]])
    K = X @ X.T
    model = M3LClassifier(prior=R, loss="prior", kernel=kernel, max_iter=20000)
    model.fit(K if kernel == "precomputed" else X, Y)
    is_optimal(model, dual_of(K, Y, R, tied=True), 1e-3, 1e-4)


@pytest.mark.parametrize("sparse", [True, False])
def test_several_coupled_blocks_reach_the_optimum(sparse: bool) -> None:
    """35 labels are three blocks, coupled by the prior; on dense rows labels take turns."""
    X, Y = data(5, rows=25, labels=35)
    R = priors(35)["negative"]
    given = sp.csr_matrix(X) if sparse else X
    model = M3LClassifier(prior=R, tol=1e-5, max_iter=20000).fit(given, Y)
    is_optimal(model, dual_of(X @ X.T, Y, R), 1e-5, 1e-6)


def test_uncoupled_blocks_reach_the_optimum() -> None:
    """The prior couples labels only within blocks, so the blocks exchange no changes."""
    X, Y = data(17, rows=30, labels=32)
    dense = priors(16)["dense"]
    assert dense is not None
    R = np.kron(np.eye(2), dense).astype(np.float64)
    model = M3LClassifier(prior=R, tol=1e-5, max_iter=20000).fit(sp.csr_matrix(X), Y)
    is_optimal(model, dual_of(X @ X.T, Y, R), 1e-5, 1e-6)


@pytest.mark.parametrize("sparse", [True, False])
def test_without_a_prior_weights_equal_liblinear_with_twice_the_penalty(sparse: bool) -> None:
    X, Y = many(6, 300, 80, 20, 9)
    model = M3LClassifier(tol=1e-5, max_iter=10000).fit(X if sparse else X.toarray(), Y)
    for label in range(20):
        np.testing.assert_allclose(dense_coef(model)[label], liblinear(X, Y[:, label]), atol=2e-3)


def test_dense_rows_with_a_prior_give_the_same_bits_with_any_number_of_threads() -> None:
    X, Y = data(18, rows=400, labels=18)
    settings: dict[str, Any] = {"prior": "cooccurrence", "tol": 1e-5, "max_iter": 20000}
    model, threaded = (M3LClassifier(n_jobs=jobs, random_state=0, **settings) for jobs in (1, 3))
    assert threaded.fit(X, Y).dual_coef_.tobytes() == model.fit(X, Y).dual_coef_.tobytes()
    assert dense_coef(threaded).tobytes() == dense_coef(model).tobytes()
    assert threaded.duality_gap_ == model.duality_gap_
    assert model.duality_gap_ < 1e-4 * model.dual_objective_


def test_dense_rows_without_a_prior_give_the_same_bits_with_any_number_of_threads() -> None:
    """With many more rows than features, nearly all variables reach a bound and drop out."""
    X, Y = data(16, rows=400, labels=18)
    settings: dict[str, Any] = {"tol": 1e-5, "max_iter": 20000, "random_state": 0}
    model, threaded = (M3LClassifier(n_jobs=jobs, **settings).fit(X, Y) for jobs in (1, 3))
    assert threaded.dual_coef_.tobytes() == model.dual_coef_.tobytes()
    assert dense_coef(threaded).tobytes() == dense_coef(model).tobytes()
    assert threaded.duality_gap_ == model.duality_gap_
    for label in range(18):
        np.testing.assert_allclose(dense_coef(model)[label], liblinear(X, Y[:, label]), atol=2e-3)


@pytest.mark.parametrize("tol", [1e-3, 1e-5], ids=["single", "double"])
def test_nearly_equal_rows_need_fewer_than_1000_passes(tol: float) -> None:
    """Coordinate descent alone takes over 2,000 passes in single precision: its steps are short."""
    X, Y = nearly_equal(0)
    model = M3LClassifier(tol=tol, max_iter=1000, random_state=0).fit(X, Y)
    dense = X.toarray()
    is_optimal(model, dual_of(dense @ dense.T, Y), tol, 1e-4 if tol == 1e-3 else 1e-7)


def test_free_variable_steps_respect_weights_costs_and_unknown_relevance() -> None:
    X, Y = nearly_equal(1, labels=4)
    rng = np.random.default_rng(0)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weight = rng.uniform(0, 2, len(Y))
    miss, alarm = np.array([1.0, 2.0, 0.5, 3.0]), 0.7
    model = M3LClassifier(loss={"miss": miss, "false_alarm": alarm}, tol=1e-5, max_iter=2000)
    model.fit(X, Y, sample_weight=weight)
    K = X.toarray() @ X.toarray().T
    is_optimal(model, dual_of(K, Y, None, 1.0, miss, alarm, weight), 1e-5, 1e-6)
    assert (model.dual_coef_[np.isnan(Y)] == 0).all()


@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_sparse_rows_give_the_same_bits_with_any_number_of_threads(prior: str | None) -> None:
    """40 labels are three blocks; some of them take conjugate-gradient steps."""
    X, Y = nearly_equal(2, labels=40)
    settings: dict[str, Any] = {"prior": prior, "max_iter": 300, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, threaded = (M3LClassifier(n_jobs=jobs, **settings).fit(X, Y) for jobs in (1, 3))
    assert threaded.dual_coef_.tobytes() == model.dual_coef_.tobytes()
    assert dense_coef(threaded).tobytes() == dense_coef(model).tobytes()
    assert threaded.duality_gap_ == model.duality_gap_


def test_rare_labels_start_from_the_never_relevant_label() -> None:
    """20 rare labels start from a common solution, single labels from 0; both reach the optimum."""
    X, Y = many(7, 400, 60, 20, 8)
    rare = (np.random.default_rng(0).random(Y.shape) < 0.06).astype(float) * Y
    together = M3LClassifier(tol=1e-5, max_iter=10000).fit(X, rare)
    for label in (0, 7, 19):
        alone = M3LClassifier(tol=1e-5, max_iter=10000).fit(X, rare[:, [label, label]])
        np.testing.assert_allclose(dense_coef(together)[label], dense_coef(alone)[0], atol=1e-3)


@pytest.mark.parametrize("kind", ["none", "dense", "singular"])
def test_the_kernel_solver_equals_the_linear_solver(kind: str) -> None:
    X, Y = data(8, rows=60, labels=6)
    R = priors(6)[kind]
    linear = M3LClassifier(prior=R, tol=1e-5, max_iter=20000).fit(X, Y)
    kernel = M3LClassifier(prior=R, tol=1e-4, kernel=lambda A, B: A @ B.T).fit(X, Y)
    assert kernel.dual_objective_ == pytest.approx(linear.dual_objective_, rel=1e-5)
    new = np.random.default_rng(0).normal(size=(10, X.shape[1]))
    np.testing.assert_allclose(
        kernel.decision_function(new), linear.decision_function(new), atol=5e-3
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_the_optimum_does_not_depend_on_row_order_or_cache_size(kernel: str, prior: Any) -> None:
    X, Y = data(9, rows=90, labels=20)
    order = np.random.default_rng(1).permutation(90)
    settings: dict[str, Any] = {"kernel": kernel, "prior": prior, "gamma": 0.1, "max_iter": 20000}
    first = M3LClassifier(random_state=0, **settings).fit(X, Y)
    others = [
        M3LClassifier(random_state=1, **settings).fit(X[order], Y[order]),
        # The kernel matrix has 90 rows of 360 bytes; the smallest cache holds 8 of them.
        M3LClassifier(random_state=0, cache_size=0.002, **settings).fit(X, Y),
        M3LClassifier(random_state=0, cache_size=0.012, **settings).fit(X, Y),
    ]
    for other in others:
        assert other.dual_objective_ == pytest.approx(first.dual_objective_, rel=1e-5)
        np.testing.assert_allclose(
            other.decision_function(X), first.decision_function(X), atol=0.02
        )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_kernels_give_the_same_bits_with_any_number_of_threads(kernel: str, prior: Any) -> None:
    X, Y = many(10, 200, 3000, 40, 12)
    models = [
        M3LClassifier(kernel=kernel, prior=prior, tol=0.1, n_jobs=jobs, random_state=3).fit(X, Y)
        for jobs in (1, 2, 5)
    ]
    for other in models[1:]:
        assert other.dual_coef_.tobytes() == models[0].dual_coef_.tobytes()
        assert other.decision_function(X).tobytes() == models[0].decision_function(X).tobytes()
        assert other.duality_gap_ == models[0].duality_gap_


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    labels=st.integers(2, 18),
    rows=st.integers(1, 12),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    kind=st.sampled_from(KINDS),
    linear=st.booleans(),
)
def test_small_random_problems_reach_the_optimum(
    seed: int, labels: int, rows: int, C: float, kind: str, linear: bool
) -> None:
    X, Y = data(seed, rows=rows, columns=4, labels=labels)
    R = priors(labels, seed)[kind]
    K = X @ X.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some problems need more passes than max_iter
        model = M3LClassifier(C=C, prior=R, kernel="linear" if linear else "precomputed")
        model.set_params(max_iter=3000).fit(X if linear else K, Y)
    best = dual_of(K, Y, R, C).maximum()
    assert model.dual_objective_ <= best * (1 + 1e-3) + 1e-3
    assert best <= (model.dual_objective_ + model.duality_gap_) * (1 + 1e-3) + 1e-3


def test_empty_rows_and_labels_with_a_zero_prior_reach_their_bounds() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    Y = np.array([[1, 0, 1], [0, 1, 1]])
    model = M3LClassifier(C=0.5, prior=np.diag([1.0, 1.0, 0.0])).fit(X, Y)
    assert model.dual_coef_[0].tolist() == [0.5, -0.5, 0.5]
    assert model.dual_coef_[1, 2] == 0.5
    assert (model.decision_function(X)[:, 2] == 0).all()
    assert model.predict(X)[0].tolist() == [1, 1, 1]  # a score of 0 is relevant
