"""The bound on the regret with RBF kernels, on models that are sums of kernels at known centres."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from tagalong import PartialFeedbackRanker
from tagalong.evaluate import LabelModel
from tests.reference.partial import expected_cost

LABELS, CENTRES = 5, 12


class KernelModel:
    """Margins u_i(x) = sum_j c_ij k(z_j, x) whose norm in the space of the kernel is U.

    With the factor L of the kernel matrix G = L L^T of the centres, u_i(x) is the product of L^T
    c_i and v(x) = L^-1 k(z, x), and the norm of u_i, sqrt(c_i^T G c_i), is the length of L^T c_i.
    So a linear model of v has the same probabilities.
    """

    def __init__(self, rng: np.random.Generator, gamma: float, norm: float, loss: str):
        self.gamma = gamma
        self.centres = rng.normal(size=(CENTRES, 3))
        self.G = rbf_kernel(self.centres, gamma=gamma)
        given = rng.normal(size=(LABELS, CENTRES))
        lengths = np.sqrt(np.einsum("ij,jk,ik->i", given, self.G, given))
        self.coefficients = given * norm / lengths[:, None]
        self.factor = np.linalg.cholesky(self.G)
        self.linear = LabelModel(self.coefficients @ self.factor, loss)

    def seen(self, X: Any) -> Any:
        """Return v(x) of each row."""
        return np.linalg.solve(self.factor, rbf_kernel(self.centres, X, gamma=self.gamma)).T

    def margins(self, X: Any) -> Any:
        """Return u_i(x), from its definition."""
        return rbf_kernel(X, self.centres, gamma=self.gamma) @ self.coefficients.T


def rows_near(model: KernelModel, rng: np.random.Generator, count: int) -> Any:
    """Rows around the centres, where the margins are not all near 0, of length 1."""
    X = model.centres[rng.integers(CENTRES, size=count)] + 0.3 * rng.normal(size=(count, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("gamma", "norm", "loss", "radius", "settings"),
    [
        (0.5, 1.0, "square", 1.0, {"max_labels": 2}),
        (2.0, 1.0, "square", 1.0, {"miss_weight": 0.2}),
        (0.5, 1.5, "logistic", 1.5, {"max_labels": 2}),
    ],
)
def test_the_bound_holds_in_the_space_of_the_kernel(
    gamma: float, norm: float, loss: str, radius: float, settings: dict[str, Any]
) -> None:
    rng = np.random.default_rng(11)
    model = KernelModel(rng, gamma, norm, loss)
    X = rows_near(model, rng, 250)
    np.testing.assert_allclose(model.margins(X), model.seen(X) @ model.linear.weights.T, atol=1e-9)
    assert np.linalg.norm(model.linear.weights, axis=1) == pytest.approx([norm] * LABELS)
    assert np.abs(model.margins(X)).max() > 0.4
    ranker = PartialFeedbackRanker(
        loss,
        radius,
        covariance="kernel",
        kernel="rbf",
        gamma=gamma,
        norm_bound=norm,
        dtype="float64",
        **settings,
    ).add_labels(range(LABELS))
    regret = 0.0
    for start in range(0, len(X), 50):
        rows = X[start : start + 50]
        for x, offer in zip(rows, ranker.suggest(rows) if start else [], strict=False):
            found = ranker.decision_function(x[None])[0][offer.labels]
            true = model.margins(x[None])[0][offer.labels]
            assert (np.abs(np.clip(found, -radius, radius) - true) <= offer.widths + 1e-9).all()
        shown = ranker.play(rows, model.linear.draw(rng, model.seen(rows))).shown
        regret += model.linear.regret(model.seen(rows), shown, **settings).sum()
        bound = ranker.certificate_
        assert bound.proven
        assert bound.rounds == start + len(rows)
        assert 0 < regret <= bound.regret


def test_the_regret_is_that_of_all_lists() -> None:
    """The regret of a game is the cost of its lists minus the least cost of any list."""
    rng = np.random.default_rng(12)
    model = KernelModel(rng, 0.5, 1.0, "square")
    X = rows_near(model, rng, 30)
    ranker = PartialFeedbackRanker(
        covariance="kernel", kernel="rbf", gamma=0.5, norm_bound=1.0, max_labels=3
    )
    shown = ranker.play(X, model.linear.draw(rng, model.seen(X))).shown
    lists = [order for size in range(4) for order in permutations(range(LABELS), size)]
    total = 0.0
    for x, given in zip(X, shown, strict=True):
        p = (1 + model.margins(x[None])[0]) / 2
        costs = [expected_cost(order, p, 0.5, "decreasing") for order in lists]
        total += expected_cost(tuple(given), p, 0.5, "decreasing") - min(costs)
    found = model.linear.regret(model.seen(X), shown, max_labels=3).sum()
    assert found == pytest.approx(total, abs=1e-9)
    assert 0 < total <= ranker.certificate_.regret
