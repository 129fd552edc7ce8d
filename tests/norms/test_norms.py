"""Norms of a user's own: `check_norm` finds faults, and Predtron learns and proves bounds."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

from tagalong import Predtron
from tagalong.norms import check_norm
from tagalong.problems import Multiclass
from tests.reference.predtron import NaivePredtron, margin_of, separable_stream
from tests.weights import dense_coef

Matrix = npt.NDArray[np.float64]


class Euclidean:
    def potential(self, weights: Matrix) -> float:
        return float((weights**2).sum() / 2)

    def dual(self, theta: Matrix) -> float:
        return float((theta**2).sum() / 2)

    def weights(self, theta: Matrix) -> Matrix:
        return theta

    def radius(self, x: Matrix) -> float:
        return float(np.linalg.norm(x))


class Neighbours:
    """Labels in a circle whose neighbours have similar weights: F = tr(W' A W) / 2."""

    def __init__(self, labels: int, strength: float):
        graph = np.roll(np.eye(labels), 1, axis=0) + np.roll(np.eye(labels), -1, axis=0)
        self.A = np.eye(labels) + strength * (np.diag(graph.sum(axis=1)) - graph)
        self.inverse = np.linalg.inv(self.A)
        self.largest = float(np.linalg.eigvalsh(self.inverse)[-1])

    def potential(self, weights: Matrix) -> float:
        return float((weights * (self.A @ weights)).sum() / 2)

    def dual(self, theta: Matrix) -> float:
        return float((theta * (self.inverse @ theta)).sum() / 2)

    def weights(self, theta: Matrix) -> Matrix:
        return np.asarray(self.inverse @ theta)

    def radius(self, x: Matrix) -> float:
        return float(np.sqrt(self.largest) * np.linalg.norm(x))


class PNorm:
    """Half the squared r-norm of all entries, r = s/(s - 1): curved, unlike the quadratic ones."""

    s = 4.0

    def potential(self, weights: Matrix) -> float:
        r = self.s / (self.s - 1)
        return float((np.abs(weights) ** r).sum() ** (2 / r) / 2)

    def dual(self, theta: Matrix) -> float:
        return float((np.abs(theta) ** self.s).sum() ** (2 / self.s) / 2)

    def weights(self, theta: Matrix) -> Matrix:
        size = (np.abs(theta) ** self.s).sum() ** (1 / self.s)
        return theta * (np.abs(theta) / size) ** (self.s - 2) if size > 0 else theta

    def radius(self, x: Matrix) -> float:
        return float(np.sqrt(self.s - 1) * (np.abs(x) ** self.s).sum() ** (1 / self.s))


@pytest.mark.parametrize("norm", [Euclidean(), Neighbours(5, 2.0), PNorm()])
@pytest.mark.parametrize("seed", range(3))
def test_sound_norms_pass(norm: Any, seed: int) -> None:
    check_norm(norm, (5, 4), seed=seed)


def broken(norm: type, **methods: Any) -> Any:
    return type("Broken", (norm,), methods)()


FAULTS = {
    "potential is not half of a squared norm": broken(
        Euclidean, potential=lambda _, W: float(np.abs(W).sum())
    ),
    "potential is not convex": broken(
        Euclidean, potential=lambda _, W: float((np.abs(W) ** 0.5).sum() ** 4 / 2)
    ),
    "potential must be above 0": broken(Euclidean, potential=lambda _, W: float(W[0] @ W[0] / 2)),
    "dual is not convex": broken(
        Euclidean, dual=lambda _, theta: float((np.abs(theta) ** 0.5).sum() ** 4 / 2)
    ),
    r"both must be equal \(Fenchel\)": broken(
        Euclidean, dual=lambda _, theta: float((theta**2).sum()), weights=lambda _, theta: 2 * theta
    ),
    "weights is not the gradient of dual": broken(
        Euclidean, weights=lambda _, theta: theta * np.arange(1, theta.shape[1] + 1)
    ),
    r"radius\(x\) is .* but must be at least": broken(
        Euclidean, radius=lambda _, x: 0.9 * float(np.linalg.norm(x))
    ),
    "weights must not change its argument": broken(
        Euclidean, weights=lambda _, theta: np.multiply(theta, 2, out=theta) / 2
    ),
    r"weights has shape \(4, 3\), not \(3, 4\)": broken(
        Euclidean, weights=lambda _, theta: theta.T
    ),
    "weights has numbers that are not finite": broken(
        Euclidean, weights=lambda _, theta: np.where(theta != 0, np.nan, 0.0)
    ),
    "radius must be one number of at least 0": broken(Euclidean, radius=lambda _, x: -1.0),
    "dual of the zero matrix must be 0": broken(Euclidean, dual=lambda _, theta: 1.0),
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_is_named_with_its_place(message: str) -> None:
    with pytest.raises(ValueError, match=message) as found:
        check_norm(FAULTS[message], (3, 4))
    assert "array(" in str(found.value) or "zero matrix" in str(found.value)


def test_a_fenchel_violation_beside_the_weights_is_found() -> None:
    """Too small a potential away from the line of the weights."""

    def potential(_: Any, W: Matrix) -> float:
        return float((W**2).sum() / 2 if np.ptp(W) < 1e-12 else (W**2).sum() / 4)

    with pytest.raises(ValueError, match="Fenchel"):
        check_norm(broken(Euclidean, potential=potential), (3, 4))


def test_the_worst_direction_of_a_step_is_searched() -> None:
    """A radius that is right for most directions, but not along the largest eigenvector."""
    norm = Neighbours(8, 3.0)
    norm.largest *= 0.95
    with pytest.raises(ValueError, match="must be at least"):
        check_norm(norm, (8, 5))


def test_what_is_no_norm_is_refused() -> None:
    with pytest.raises(ValueError, match="must be an object with the members potential, dual"):
        check_norm("l2", (2, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="which has no potential"):
        check_norm(object(), (2, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="which has no potential"):
        Predtron("multiclass", object()).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="shape must be at least 1"):
        check_norm(Euclidean(), (0, 2))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem", ["multiclass", "multilabel", "binary"])
def test_a_euclidean_norm_of_ones_own_equals_l2(problem: str, average: bool) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 6))
    scores = X @ rng.normal(size=(6, 3))
    y = {"multiclass": scores.argmax(axis=1), "binary": scores[:, 0] > 0, "multilabel": scores > 0}
    built_in, own = (
        Predtron(problem, norm, average=average, constant=1.0, dtype="float64").fit(X, y[problem])
        for norm in ("l2", Euclidean())
    )
    np.testing.assert_allclose(
        own.decision_function(X), built_in.decision_function(X), rtol=1e-9, atol=1e-12
    )
    assert own.certificate_.loss == built_in.certificate_.loss > 0
    assert own.certificate_.radius == pytest.approx(built_in.certificate_.radius)


@pytest.mark.parametrize("norm", [Neighbours(3, 2.0), PNorm()])
def test_learning_matches_the_naive_twin(norm: Any) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 5)), rng.integers(3, size=60)
    model = Predtron("multiclass", norm, step=0.3, dtype="float64")
    model.partial_fit(X, y, [0, 1, 2])
    twin = NaivePredtron(Multiclass(dimension=3), 5, lambda _: 0.3, to_weights=norm.weights)
    for x, target in zip(X, y.tolist(), strict=True):
        twin.learn(x, target)
    np.testing.assert_allclose(dense_coef(model), norm.weights(twin.theta), rtol=1e-9, atol=1e-12)
    assert model.certificate_.loss == twin.loss > 0
    again = pickle.loads(pickle.dumps(model))
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert clone(model).norm is not None


@pytest.mark.parametrize("update", ["mistake", "loss"])
@pytest.mark.parametrize("norm", [Euclidean(), Neighbours(4, 2.0), PNorm()])
def test_the_bound_holds_on_separable_streams(norm: Any, update: str) -> None:
    rng = np.random.default_rng(3)
    problem, predictions = Multiclass(dimension=4), range(4)
    W = norm.weights(rng.normal(size=(4, 6)))
    W /= np.sqrt(2 * norm.potential(W))
    X, y = separable_stream(problem, predictions, W, 0.1, 80, rng)
    # The step of the theory changes while the radius grows: give the last one from the start.
    step = 1 / (4 * max(norm.radius(x) for x in X) ** 2)
    model = Predtron("multiclass", norm, update, step=step, dtype="float64")
    for _ in range(30):
        model.partial_fit(X, y, classes=list(predictions))
    margin = min(margin_of(problem, predictions, W, x, t) for x, t in zip(X, y, strict=True))
    assert 0 < model.certificate_.loss <= model.certificate_.bound(margin) < np.inf


def test_a_model_file_holds_no_norm(tmp_path: Any) -> None:
    model = Predtron("multiclass", Euclidean()).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="cannot be saved: a model file holds no code, so only"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_what_a_norm_returns_while_learning_is_checked() -> None:
    X, y = np.eye(3), [0, 1, 2]
    with pytest.raises(ValueError, match=r"must return finite numbers of shape \(3, 3\), got"):
        Predtron("multiclass", broken(Euclidean, weights=lambda _, t: t[:1])).fit(X, y)
    with pytest.raises(ValueError, match="radius of the norm must return a number from 0"):
        Predtron("multiclass", broken(Euclidean, radius=lambda _, x: np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="subset ranking has one weight vector"):
        Predtron("subset-ranking", Euclidean()).fit(X, y)
    with pytest.raises(ValueError, match="needs norm='l2'"):
        Predtron("multiclass", Euclidean(), kernel="rbf").fit(X, y)
    model = Predtron("multiclass", Euclidean()).fit(X, y)
    with pytest.raises(ValueError, match="a custom norm, weights can only be changed by learning"):
        model.forget_labels([0])


@pytest.mark.parametrize("norm", ["trace", Euclidean()])
def test_scores_are_coefficients_and_intercept(norm: Any) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 5)) + 1, rng.integers(3, size=40)
    model = Predtron("multiclass", norm, constant=1.0, dtype="float64").fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), X @ dense_coef(model).T + model.intercept_, rtol=1e-9
    )
