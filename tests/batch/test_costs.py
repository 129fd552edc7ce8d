"""M3L's costs per row and label: the paper's general loss Δ, compared with brute force."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

from tagalong import M3LClassifier
from tests.batch.problems import data, many, nearly_equal, priors
from tests.batch.test_optimality import is_optimal
from tests.reference.m3l import dual_of
from tests.weights import dense_coef


def costs(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Return random costs, a fifth of them 0."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 4, shape) * (rng.random(shape) > 0.2)


def fitted(X: Any, Y: Any, cost: Any, **parameters: Any) -> M3LClassifier:
    model = M3LClassifier(**{"max_iter": 20_000, "random_state": 0, **parameters})
    return model.fit(X, Y, cost=cost)


@pytest.mark.parametrize("solver", ["auto", "smo"])
@pytest.mark.parametrize("kind", ["none", "dense", "singular"])
@pytest.mark.parametrize("form", ["dense", "sparse", "kernel"])
def test_costs_reach_the_optimum(solver: str, kind: str, form: str) -> None:
    X, Y = data(3, labels=4)
    R, cost, K = priors(4)[kind], costs(Y.shape), X @ X.T
    given = {"dense": X, "sparse": sp.csr_matrix(X), "kernel": K}[form]
    kernel = "precomputed" if form == "kernel" else "linear"
    model = fitted(given, Y, cost, prior=R, kernel=kernel, solver=solver)
    is_optimal(model, dual_of(K, Y, R, cost=cost), 1e-3, 1e-4)


@pytest.mark.parametrize("solver", ["auto", "smo"])
def test_costs_combine_with_weights_losses_and_unknown_relevance(solver: str) -> None:
    X, Y = data(4, labels=4)
    rng = np.random.default_rng(1)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weight, miss = rng.uniform(0, 2, len(Y)), np.array([1.0, 2.0, 0.5, 3.0])
    cost = costs(Y.shape)
    cost[np.isnan(Y)] = np.nan
    model = M3LClassifier(
        loss={"miss": miss}, prior=priors(4)["negative"], max_iter=20_000, solver=solver
    ).fit(X, Y, sample_weight=weight, cost=cost)
    dual = dual_of(X @ X.T, Y, priors(4)["negative"], 1.0, miss, 1.0, weight, cost=cost)
    is_optimal(model, dual, 1e-3, 1e-4)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_costs_scale_the_loss_that_is_tied_to_the_prior(kernel: str) -> None:
    X, Y = data(4, labels=4)
    R = np.eye(4) + 0.2 * np.array([[0, 1, -1, 0], [1, 0, 0, 1], [-1, 0, 0, 0], [0, 1, 0, 0]])
    cost, K = costs(Y.shape), X @ X.T
    given = K if kernel == "precomputed" else X
    model = fitted(given, Y, cost, prior=R, loss="prior", kernel=kernel)
    is_optimal(model, dual_of(K, Y, R, tied=True, cost=cost), 1e-3, 1e-4)


@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_several_blocks_conjugate_gradients_and_single_labels(prior: str | None) -> None:
    """40 sparse labels are three blocks; nearly equal rows take conjugate-gradient steps."""
    for X, Y in (nearly_equal(2, rows=40, labels=40), many(6, 100, 80, 40, 9)):
        cost, K = costs(Y.shape), (X @ X.T).toarray()
        model = fitted(X, Y, cost, prior=prior, tol=1e-5)
        R = None
        if prior:
            counts = Y.T @ Y
            root = np.sqrt(np.maximum(np.diag(counts), 1))
            R = counts / np.outer(root, root)
            np.fill_diagonal(R, 1.0)
        dual = dual_of(K, Y, R, cost=cost)
        assert dual.violation(model.dual_coef_) < 1.1e-5
        assert model.duality_gap_ < 1e-4 * model.dual_objective_


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["none", "negative"]))
def test_costs_are_those_of_the_structured_problem(seed: int, kind: str) -> None:
    """The paper's problem P1 charges Σ_l Δ_l(y_i, y_l) for every answer y: brute force over all."""
    X, Y = data(seed, rows=8, columns=4, labels=3)
    R, cost = priors(3, seed)[kind], costs(Y.shape, seed)
    model = fitted(X, Y, cost, prior=R, tol=1e-5, max_iter=100_000)
    signs, scores = 2 * Y - 1, model.decision_function(X)
    slack = 0.0
    for row in range(len(Y)):
        # The worst answer: its loss, minus by how much the truth scores more.
        slack += max(
            float(
                (2 * cost[row] * (signs[row] != answer)).sum()
                - ((signs[row] - np.array(answer)) * scores[row]).sum()
            )
            for answer in itertools.product((-1.0, 1.0), repeat=3)
        )
    b = model.dual_coef_.astype(float)
    complexity = 2 * np.einsum("lk,il,ik->", np.eye(3) if R is None else R, b, X @ X.T @ b)
    primal = model.dual_objective_ + model.duality_gap_
    assert complexity + slack == pytest.approx(primal, rel=1e-4, abs=1e-4)


def test_equal_costs_are_the_loss_per_label() -> None:
    X, Y = data(5, labels=3)
    per_label = np.array([0.5, 1.0, 3.0])
    plain = M3LClassifier(
        loss={"miss": per_label, "false_alarm": per_label}, tol=1e-6, max_iter=50_000
    ).fit(X, Y)
    model = fitted(X, Y, np.tile(per_label, (len(Y), 1)), tol=1e-6, max_iter=50_000)
    np.testing.assert_allclose(dense_coef(model), dense_coef(plain), atol=1e-4)
    ones = fitted(X, Y, np.ones(Y.shape), tol=1e-6)
    np.testing.assert_allclose(
        dense_coef(ones), dense_coef(fitted(X, Y, None, tol=1e-6)), atol=1e-4
    )


@pytest.mark.parametrize("solver", ["auto", "smo"])
def test_the_cost_is_the_margin_until_the_penalty_is_smaller(solver: str) -> None:
    """One row x = 1: min z²/2 + max(0, 2c - 2z) has its minimum at min(c, 2)."""
    given = np.array([[0.0, 0.5, 1.0, 2.0, 3.0]])
    model = fitted([[1.0]], np.ones((1, 5)), given, solver=solver, tol=1e-5)
    np.testing.assert_allclose(model.decision_function([[1.0]]), np.minimum(given, 2.0), atol=1e-4)


def test_costs_do_not_decide_between_equal_rows() -> None:
    """They ask for margins and are no weights: both sides of a contradiction pull equally hard."""
    X, Y = [[1.0], [1.0]], np.array([[1.0, 1.0], [0.0, 0.0]])
    assert abs(fitted(X, Y, [[5.0, 1.0], [1.0, 5.0]]).decision_function([[1.0]])).max() < 1e-3
    weighted = M3LClassifier(max_iter=20_000).fit(X, Y, sample_weight=[5.0, 1.0])
    assert weighted.decision_function([[1.0]])[0, 0] > 0.9


def test_columns_are_those_of_classes_for_named_labels_and_single_labels() -> None:
    sets = [["b"], ["a"]]
    for y in (sets, [each[0] for each in sets]):
        X = np.eye(2)
        cost = np.ones((2, 2))
        cost[0, fitted(X, y, None).classes_.tolist().index("b")] = 2.0
        model = fitted(X, y, cost)
        scores, _ = model.score_one(([0], [1.0]))
        found = dict(zip(model.classes_.tolist(), scores.tolist(), strict=True))
        assert found == pytest.approx({"a": -1.0, "b": 2.0}, abs=1e-3)


def test_sparse_costs_and_costs_of_integers() -> None:
    X, Y = data(6, labels=3)
    cost = (costs(Y.shape) * 2).astype(int)
    models = [fitted(X, Y, given) for given in (cost, sp.csr_matrix(cost), cost.tolist())]
    assert len({dense_coef(model).tobytes() for model in models}) == 1


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones(20), r"cost must have shape \(20, 3\).*got shape \(20,\)"),
        (np.ones((3, 20)), r"cost must have shape \(20, 3\).*got shape \(3, 20\)"),
        (np.where(np.arange(60).reshape(20, 3) == 7, -1.0, 1.0), "row 2, column 1 is -1;"),
        (np.where(np.arange(60).reshape(20, 3) == 7, np.nan, 1.0), "row 2, column 1 is nan;"),
        (np.where(np.arange(60).reshape(20, 3) == 7, np.inf, 1.0), "row 2, column 1 is inf;"),
        ("high", "cost must be a matrix of numbers, got 'high'"),
    ],
)
def test_invalid_costs_are_refused_and_leave_the_model(cost: Any, message: str) -> None:
    X, Y = data(7, rows=20, labels=3)
    model = fitted(X, Y, None)
    before = dense_coef(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, cost=cost)
    np.testing.assert_array_equal(dense_coef(model), before)


def test_a_grid_search_divides_the_costs_like_the_rows() -> None:
    X, Y = data(8, rows=60, labels=3)
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = M3LClassifier(random_state=0).set_fit_request(cost=True)
        search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3, error_score="raise")
        search.fit(X, Y, cost=costs(Y.shape))
    assert search.best_params_["C"] in (0.1, 1.0)
