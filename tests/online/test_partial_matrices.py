"""The matrices behind the widths: inverses without drift, projections, labels not shown."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from tagalong import PartialFeedbackRanker
from tests.online.partial_streams import sparse_rows, true_stream
from tests.reference.geometries import FloatArray
from tests.weights import dense_coef

DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])


def matrices(ranker: PartialFeedbackRanker, label: int) -> tuple[Any, Any]:
    native = ranker._native
    return native.matrix(label, False), native.matrix(label, True)


def direct(ranker: PartialFeedbackRanker, rows: list[Any]) -> Any:
    """I + the sum of x x', with features in the order of appearance."""
    places = ranker._native.state()["arrays"]["features"]
    X = np.array(rows).reshape(-1, max(1, len(rows[0]) if rows else 1))
    return np.eye(len(places)) + X[:, places].T @ X[:, places] if rows else np.eye(len(places))


@DTYPES
def test_matrices_sum_the_rounds_in_which_labels_were_shown(dtype: str) -> None:
    """In any order of features: rows are sparse, and a label may lack most features."""
    stream = sparse_rows(21, 200, 13, 6)
    ranker = PartialFeedbackRanker(max_labels=2, exploration=0.1, normalize=False, dtype=dtype)
    played = ranker.play(stream.X, stream.Y)
    for label in range(6):
        rows = [x for x, shown in zip(stream.X, played.shown, strict=True) if label in shown]
        expected = direct(ranker, rows)
        matrix, inverse = matrices(ranker, label)
        np.testing.assert_allclose(matrix, expected, atol=1e-5 if dtype == "float32" else 1e-12)
        close = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(inverse, np.linalg.inv(expected), atol=close)
        information = ranker._native.state()["arrays"]["information"][label]
        assert information == pytest.approx(np.linalg.slogdet(expected)[1], rel=1e-4, abs=1e-6)


def updated(dtype: str, rounds: int, features: int, common: float) -> tuple[Any, Any]:
    """A ranker after many rounds of one label, with rows close to one direction."""
    rng = np.random.default_rng(31)
    ranker = PartialFeedbackRanker(dtype=dtype, norm_bound=1.0).add_labels(["only"])
    total = np.eye(features)
    direction = rng.normal(size=features) / np.sqrt(features)
    while rounds > 0:
        count = min(rounds, 10_000)
        X = rng.normal(size=(count, features)) / np.sqrt(features) + common * direction
        X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32).astype(float)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        labels = [["only"]] * count
        ranker.feedback(X, labels, labels)
        total += X.T @ X
        rounds -= count
    return ranker, total


def assert_no_drift(ranker: PartialFeedbackRanker, total: Any, close: float) -> None:
    places = ranker._native.state()["arrays"]["features"]
    expected = np.linalg.inv(total)[np.ix_(places, places)]
    _, inverse = matrices(ranker, 0)
    scale = np.abs(expected).max()
    assert np.abs(inverse - expected).max() <= close * scale


@pytest.mark.parametrize(("dtype", "close"), [("float32", 2e-3), ("float64", 1e-11)])
@pytest.mark.parametrize("common", [0.0, 3.0])
def test_inverses_stay_close_to_direct_ones(dtype: str, close: float, common: float) -> None:
    assert_no_drift(*updated(dtype, 3000, 24, common), close)


@pytest.mark.long
@pytest.mark.parametrize(("dtype", "close"), [("float32", 2e-3), ("float64", 1e-9)])
@pytest.mark.parametrize("common", [0.0, 3.0])
def test_inverses_stay_close_over_many_rounds(dtype: str, close: float, common: float) -> None:
    assert_no_drift(*updated(dtype, 100_000, 40, common), close)


def test_a_drifted_inverse_is_recomputed() -> None:
    """An inverse that was corrupted in the state is correct again within 64 updates."""
    stream = true_stream(5, 200, 6, 2)
    ranker = PartialFeedbackRanker(miss_weight=1.0).fit(stream.X[:50], stream.Y[:50])
    state = ranker._native.state()
    state["arrays"]["inverse"] = state["arrays"]["inverse"] * 1.01
    damaged = ranker._make_native(ranker._settings)
    damaged.restore(state)
    ranker._native = damaged
    assert ranker._native.certificate().refactorisations == 0
    ranker.partial_fit(stream.X[50:], stream.Y[50:])
    assert ranker._native.certificate().refactorisations == 2
    for label in range(2):
        matrix, inverse = matrices(ranker, label)
        np.testing.assert_allclose(inverse, np.linalg.inv(matrix), atol=1e-12)


def distance(v: FloatArray, w: FloatArray, A: FloatArray) -> tuple[float, FloatArray]:
    """(v - w)' A (v - w) and its gradient."""
    return float((v - w) @ A @ (v - w)), 2 * A @ (v - w)


def test_the_projection_is_the_nearest_point_in_the_metric_of_the_matrix() -> None:
    """min (v - w)' A (v - w) subject to v.x in [-R, R], by a solver."""
    stream = true_stream(17, 60, 4, 3)
    ranker = PartialFeedbackRanker(radius=0.05, max_labels=2, exploration=0.2)
    ranker.fit(stream.X, stream.Y)
    seen = 0
    for x in true_stream(18, 20, 4, 3).X:
        before = dense_coef(ranker).copy()
        places = ranker._native.state()["arrays"]["features"]
        ranker.feedback(x[None], [[]], [[]])  # no labels shown: only the projection changes weights
        box: list[Any] = [
            {"type": "ineq", "fun": lambda v, x=x: 0.05 - v @ x},
            {"type": "ineq", "fun": lambda v, x=x: 0.05 + v @ x},
        ]
        for label in range(3):
            matrix = matrices(ranker, label)[0]
            A = np.empty((4, 4))
            A[np.ix_(places, places)] = matrix
            w = before[label]
            found = minimize(
                distance,
                w,
                args=(w, A),
                jac=True,
                method="SLSQP",
                constraints=box,
                options={"ftol": 1e-15, "maxiter": 300},
            )
            np.testing.assert_allclose(dense_coef(ranker)[label], found.x, atol=1e-5)
            seen += abs(w @ x) > 0.05
    assert seen > 10  # the projection was active


@pytest.mark.parametrize("covariance", ["full", "diagonal", "kernel"])
def test_labels_not_shown_change_by_the_projection_only(covariance: str) -> None:
    stream = true_stream(19, 200, 5, 8)
    ranker = PartialFeedbackRanker(
        radius=0.3, max_labels=2, exploration=0.1, covariance=covariance, width="determinant"
    )
    ranker.fit(stream.X[:100], stream.Y[:100])
    moved = 0
    for x, y in zip(stream.X[100:], stream.Y[100:], strict=True):
        before, weights = ranker._native.state()["arrays"], dense_coef(ranker).copy()
        margins = ranker.decision_function(x[None])[0]
        (shown,) = ranker.play(x[None], y[None]).shown
        after = ranker._native.state()["arrays"]
        hidden = np.setdiff1d(np.arange(8), shown)
        for name in ("information", "updates"):
            assert before[name][hidden].tobytes() == after[name][hidden].tobytes()
        assert (after["updates"][shown] == before["updates"][shown] + 1).all()
        if covariance == "full":  # all labels have matrices of the same size here
            kept = before["inverse"].reshape(8, -1)[hidden]
            assert kept.tobytes() == after["inverse"].reshape(8, -1)[hidden].tobytes()
        inside = hidden[np.abs(margins[hidden]) <= 0.3]
        outside = np.setdiff1d(hidden, inside)
        if covariance != "kernel":
            assert dense_coef(ranker)[inside].tobytes() == weights[inside].tobytes()
        now = ranker.decision_function(x[None])[0]
        np.testing.assert_allclose(now[outside], np.clip(margins[outside], -0.3, 0.3), atol=1e-9)
        moved += len(outside)
    assert moved > 20
