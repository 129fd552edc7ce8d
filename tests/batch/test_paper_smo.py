"""M3L's solver "smo": the paper's algorithms, and why their printed form needs corrections."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from tagalong import M3LClassifier, load
from tagalong.learning import model_files
from tests.batch.problems import data, nearly_equal, priors
from tests.batch.test_optimality import KINDS, is_optimal
from tests.reference.m3l import dual_of
from tests.reference.paper_smo import algorithm1, linear, linear_with_active_sets

COUPLED = ["dense", "negative", "singular"]


def smo(**parameters: Any) -> M3LClassifier:
    return M3LClassifier(solver="smo", random_state=0, **{"max_iter": 20_000, **parameters})


@pytest.mark.parametrize("kind", KINDS)
def test_algorithm_1_reaches_the_optimum(kind: str) -> None:
    X, Y = data(2, labels=4)
    R = priors(4)[kind]
    K = rbf_kernel(X, gamma=0.2)
    for rows, kernel in ((X, "rbf"), (sp.csr_matrix(X), "rbf"), (K, "precomputed")):
        model = smo(C=0.7, prior=R, kernel=kernel, gamma=0.2).fit(rows, Y)
        is_optimal(model, dual_of(K, Y, R, 0.7), 1e-3, 1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tol", [1e-3, 1e-6], ids=["single", "double"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_linear_algorithm_reaches_the_optimum(kind: str, tol: float, sparse: bool) -> None:
    X, Y = data(1, labels=5)
    R = priors(5)[kind]
    model = smo(C=0.7, prior=R, tol=tol).fit(sp.csr_matrix(X) if sparse else X, Y)
    is_optimal(model, dual_of(X @ X.T, Y, R, 0.7), tol, 1e-8 if tol == 1e-6 else 1e-4)


@pytest.mark.parametrize("kind", ["none", "negative"])
def test_a_constant_feature_counts_in_every_row(kind: str) -> None:
    X, Y = data(3, labels=4)
    for rows in (X, sp.csr_matrix(X)):
        model = smo(prior=priors(4)[kind], constant=0.5, tol=1e-5).fit(rows, Y)
        is_optimal(model, dual_of(X @ X.T + 0.25, Y, priors(4)[kind]), 1e-5, 1e-6)
        peer = M3LClassifier(prior=priors(4)[kind], constant=0.5, tol=1e-5, max_iter=20_000)
        np.testing.assert_allclose(model.intercept_, peer.fit(rows, Y).intercept_, atol=1e-3)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(KINDS),
    st.sampled_from(["linear", "precomputed"]),
    st.sampled_from([0.02, 1.0, 50.0]),
)
def test_both_solvers_reach_the_same_optimum(seed: int, kind: str, kernel: str, C: float) -> None:
    rng = np.random.default_rng(seed)
    X, Y = data(seed, rows=25, columns=6, labels=3)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    weight = rng.uniform(0, 2, len(Y))
    given = X @ X.T if kernel == "precomputed" else X
    found = []
    for solver in ("smo", "auto"):
        model = M3LClassifier(
            C=C,
            prior=priors(3, seed)[kind],
            kernel=kernel,
            loss={"miss": [1.0, 2.0, 3.0]},
            solver=solver,
            max_iter=100_000,
            random_state=0,
        ).fit(given, Y, sample_weight=weight)
        found.append((model.dual_objective_, model.dual_objective_ + model.duality_gap_))
    slack = 1e-4 * abs(found[0][1]) + 1e-6
    assert max(low for low, _ in found) <= min(high for _, high in found) + slack


@pytest.mark.parametrize("kind", KINDS)
def test_iterations_are_those_of_the_naive_algorithm(kind: str) -> None:
    """The native solver chooses the same labels and pairs, so it counts the same.

    Random costs keep derivatives apart. Later on, single precision breaks near-ties differently.
    """
    X, Y = data(6, rows=30, labels=4, density=1.0)
    K = rbf_kernel(X, gamma=0.1)
    R, cost = priors(4)[kind], np.random.default_rng(0).uniform(0.5, 2, Y.shape)
    for tol in (1.0, 0.5):
        # The native solver aims at .7 of the tolerance, so that its check does not fail narrowly.
        twin = algorithm1(dual_of(K, Y, R, cost=cost), 0.7 * tol, 10_000)
        assert twin.iterations > 20
        model = smo(prior=R, kernel="precomputed", tol=tol).fit(K, Y, cost=cost)
        assert model.n_iter_ == twin.iterations
        b = np.zeros(Y.shape)
        b[model.support_] = model.dual_coef_
        np.testing.assert_allclose(b, twin.b, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_linear_algorithm_visits_what_its_naive_twin_visits(kind: str) -> None:
    """The same variables in the same order: delayed updates, active sets, their return.

    With a diagonal prior some labels are solved to rounding errors long before the others. Then
    the sign of an error decides about their active sets, so there the tolerances are large.
    """
    X, Y = data(6, rows=30, columns=8, labels=4, density=1.0)
    R, cost = priors(4)[kind], np.random.default_rng(0).uniform(0.5, 2, Y.shape)
    dual = dual_of(X @ X.T, Y, R, cost=cost)
    tolerances = (1.0, 0.5) if kind == "diagonal" else (5e-5, 1e-6)
    for seed, tol in zip((0, 3), tolerances, strict=True):
        order = int(np.random.RandomState(seed).randint(2**31 - 1))
        twin = linear_with_active_sets(X, dual, tol, 100_000, order)
        assert twin.iterations > 5 * Y.size
        plain = linear_with_active_sets(X, dual, tol, 100_000, order, delays=False)
        model = M3LClassifier(
            solver="smo", prior=R, tol=tol, max_iter=20_000, random_state=seed
        ).fit(X, Y, cost=cost)
        assert model.n_iter_ == twin.iterations
        wanted: Any = 2 * dual.R @ (twin.b.T @ X)
        # Below 1e-4 the solver has double precision.
        atol = 1e-6 if tol < 1e-4 else 1e-4
        np.testing.assert_allclose(np.asarray(model.coef_), wanted, atol=atol)
        if kind in COUPLED:  # without a prior no label follows another
            assert plain.iterations != twin.iterations


def test_fewer_iterations_for_a_looser_tolerance_and_a_growing_dual() -> None:
    X, Y = data(7, rows=60, labels=5)
    runs = [smo(kernel="rbf", tol=tol).fit(X, Y) for tol in (1.0, 0.3, 0.1, 0.01)]
    iterations = [model.n_iter_ for model in runs]
    duals = [model.dual_objective_ for model in runs]
    assert iterations == sorted(set(iterations))
    assert duals == sorted(set(duals))


def test_without_a_prior_the_choice_among_labels_changes_only_the_order() -> None:
    """All labels to one tolerance take as many iterations together as one after the other."""
    X, Y = data(7, rows=60, labels=5, density=1.0)
    together = smo(kernel="rbf", tol=0.1).fit(X, Y)
    alone = [smo(kernel="rbf", tol=0.1).fit(X, Y[:, [label, label]]) for label in range(5)]
    assert together.n_iter_ == sum(model.n_iter_ // 2 for model in alone)


@pytest.mark.parametrize("kind", COUPLED)
def test_printed_propagation_stops_at_a_wrong_point(kind: str) -> None:
    """Inside the inner loop, all but the last step of a turn count more than once."""
    X, Y = data(8, rows=20, labels=3)
    dual = dual_of(X @ X.T + np.eye(20), Y, priors(3)[kind])
    best = dual.maximum()
    right = algorithm1(dual, 1e-3, 20_000)
    assert dual.violation(right.b) < 1.1e-3
    assert dual.value(right.b) == pytest.approx(best, rel=1e-4)
    printed = algorithm1(dual, 1e-3, 20_000, propagates_inside=True)
    assert dual.violation(printed.b) > 0.1
    assert dual.value(printed.b) < best - 1e-3 * abs(best)


def test_printed_propagation_does_no_harm_without_a_prior() -> None:
    X, Y = data(8, rows=20, labels=3)
    dual = dual_of(X @ X.T + np.eye(20), Y)
    printed = algorithm1(dual, 1e-3, 20_000, propagates_inside=True)
    assert dual.violation(printed.b) < 1.1e-3


def test_opposite_rows_make_the_printed_pair_singular() -> None:
    """K_pq = -√(K_pp K_qq) passes the printed test of pairs, and the gain is 0 / 0."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.3, 1.0]])
    Y = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    dual = dual_of(X @ X.T, Y)
    printed = algorithm1(dual, 1e-3, 100, absolute=False)
    assert np.isnan(printed.b).any()
    right = algorithm1(dual, 1e-3, 100)
    assert dual.violation(right.b) < 1.1e-3
    is_optimal(smo(kernel="precomputed").fit(X @ X.T, Y), dual, 1e-3, 1e-4)


@pytest.mark.parametrize("kind", COUPLED)
def test_printed_update_of_the_weights_stops_at_a_wrong_point(kind: str) -> None:
    """Eq. 40 names z_l alone: the other labels never hear of the step."""
    X, Y = data(9, rows=20, labels=3)
    dual = dual_of(X @ X.T, Y, priors(3)[kind])
    right = linear(X, dual, 1_000, seed=0)
    assert dual.violation(right.b) < 1e-2
    printed = linear(X, dual, 1_000, seed=0, only_own=True)
    assert printed.believed < 1e-2
    assert dual.violation(printed.b) > 0.1


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_rows_and_labels_without_influence(kernel: str) -> None:
    """Zero rows have K_pp = 0; a label with R_ll = 0 scores 0. Both go straight to their bounds."""
    X, Y = data(10, rows=20, labels=3)
    X[3] = X[7] = 0
    R = np.diag([1.0, 0.0, 2.0])
    K = X @ X.T
    model = smo(prior=R, kernel=kernel).fit(K if kernel == "precomputed" else X, Y)
    is_optimal(model, dual_of(K, Y, R), 1e-3, 1e-4)
    assert (model.decision_function(K if kernel == "precomputed" else X)[:, 1] == 0).all()


def test_a_label_without_examples_follows_the_prior() -> None:
    X, Y = data(11, labels=3)
    Y[:, 2] = np.nan
    R = np.eye(3)
    R[1, 2] = R[2, 1] = -0.8
    for kernel in ("linear", "rbf"):
        scores = smo(prior=R, kernel=kernel).fit(X, Y).decision_function(X)
        np.testing.assert_allclose(scores[:, 2], -0.8 * scores[:, 1], atol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_max_iter_ends_training_with_a_warning_and_a_warm_start_completes_it(kernel: str) -> None:
    X, Y = nearly_equal(0, rows=30, labels=4)
    model = smo(kernel=kernel, prior="cooccurrence", max_iter=1, warm_start=True, tol=1e-4)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model.fit(X, Y)
    assert 0 < model.n_iter_ <= Y.size
    first = model.dual_objective_
    model.set_params(max_iter=50_000).fit(X, Y)
    assert model.dual_objective_ > first
    fresh = smo(kernel=kernel, prior="cooccurrence", tol=1e-4, max_iter=50_000).fit(X, Y)
    assert model.dual_objective_ == pytest.approx(fresh.dual_objective_, rel=1e-4)
    assert model.fit(X, Y).n_iter_ < fresh.n_iter_ / 2


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_same_bits_with_any_number_of_threads_and_any_cache(kernel: str) -> None:
    X, Y = data(12, rows=60, labels=6)
    runs = [
        smo(kernel=kernel, prior="cooccurrence", n_jobs=jobs, cache_size=size).fit(X, Y)
        for jobs, size in ((1, 200), (3, 200), (1, 0.003))
    ]
    assert len({(run.dual_coef_.tobytes(), run.n_iter_) for run in runs}) == 1
    # The gap is a sum over rows of the kernel, in an order that depends on what is in the cache.
    assert [run.duality_gap_ for run in runs] == pytest.approx([runs[0].duality_gap_] * 3, rel=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_solver_is_kept_in_the_file(kernel: str, tmp_path: Path) -> None:
    X, Y = data(13)
    model = smo(kernel=kernel).fit(X, Y)
    path = tmp_path / "model.tagalong"
    model_files.save(model, path)
    loaded = load(path)
    assert isinstance(loaded, M3LClassifier)
    assert loaded.solver == "smo"
    assert loaded.n_iter_ == model.n_iter_
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    # Files of the default solver do not name it, so that earlier versions read them, too.
    assert "solver" not in M3LClassifier().fit(X, Y).to_parts()[0]["params"]


def test_an_unknown_solver_is_refused() -> None:
    X, Y = data(14)
    model = M3LClassifier().fit(X, Y)
    before = model.decision_function(X)
    model.solver = "newton"
    with pytest.raises(ValueError, match=r"solver must be .*'auto'.*'smo'.*'newton'"):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_many_labels_switch_to_delayed_updates() -> None:
    """With 35 labels a turn has 35 steps; the optimum is the same."""
    X, Y = data(5, rows=25, labels=35)
    R = priors(35)["negative"]
    model = smo(prior=R, tol=1e-5).fit(X, Y)
    is_optimal(model, dual_of(X @ X.T, Y, R), 1e-5, 1e-6)
