"""Reference implementation of ranking with partial feedback (P3), directly from the formulas.

Every round solves linear systems with the full matrices.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def cost(name: str, place: int, size: int) -> float:
    return (size - place + 1) / size if name == "decreasing" else 1.0


def expected_cost(order: tuple[int, ...], p: Array, a: float, costs: str) -> float:
    """Return the expected cost of a list, up to a constant that is the same for all lists."""
    size = len(order)
    total = 0.0
    for place, label in enumerate(order, start=1):
        c = (1 - a) * cost(costs, place, size)
        total += c - (a + c) * p[label]
    return total


@dataclass
class NaivePartial:
    """Reference implementation of `PartialFeedbackRanker`."""

    features: int
    labels: int
    loss: Any = "square"
    radius: float = 1.0
    miss_weight: float = 0.5
    slot_cost: str = "decreasing"
    max_labels: int | None = None
    delta: float = 0.05
    norm_bound: float | None = None
    covariance: str = "full"
    exploration: float = 1.0
    update: str = "partial"
    width: str = "dimension"
    ties: str = "width"
    rounds: int = 0
    w: Array = field(init=False)
    A: Array = field(init=False)
    shown: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.w = np.zeros((self.labels, self.features))
        self.A = np.repeat(np.eye(self.features)[None], self.labels, axis=0)

    def constants(self) -> tuple[float, float, float]:
        R = self.radius
        if self.loss == "square":
            return (1 + R) ** 2, 1.0, (1 + R) ** 2 / 2
        if self.loss != "logistic":
            found = self.loss.constants(R)
            return found.squared_slope, found.curvature, float(self.loss.value(-R))
        return 1.0, 1 / (2 * (1 + np.cosh(R))), float(np.log1p(np.exp(R)))

    def g(self, margin: Any) -> Any:
        if self.loss == "square":
            return 1 - margin
        return 1 / (np.exp(margin) + 1) if self.loss == "logistic" else -self.loss.slope(margin)

    def p(self, margin: Any) -> Any:
        margin = np.clip(margin, -self.radius, self.radius)
        return self.g(-margin) / (self.g(margin) + self.g(-margin))

    def margins(self, x: Array) -> Array:
        return np.asarray(np.clip(self.w @ x, -self.radius, self.radius))

    def widths(self, x: Array) -> tuple[Array, Array]:
        """Return the confidence widths with the cap of Remark 1, and without it."""
        c1, c2, worst = self.constants()
        t, d = self.rounds + 1, self.features
        q, logs = self.variances(x)
        information: Any = d * np.log(1 + (t - 1) / d)
        if self.width == "determinant":
            information = logs
        U2 = c1 / c2**2 * information if self.norm_bound is None else self.norm_bound**2
        log = np.log(self.labels * (t + 4) / self.delta)
        inner = U2 + c1 / c2**2 * information + 12 / c2 * (c1 / c2 + 3 * worst) * log
        free = (0.0 if self.update == "full" else self.exploration) * np.sqrt(q * inner)
        return (np.minimum(free, 2 * self.radius) if self.norm_bound is None else free), free

    def variances(self, x: Array) -> tuple[Array, Array]:
        """Return x.A^-1 x and ln|A| of each label."""
        q = np.array([x @ np.linalg.solve(A, x) for A in self.A])
        return q, np.array([np.linalg.slogdet(A)[1] for A in self.A])

    def choose(self, x: Array) -> list[int]:
        capped, free = self.widths(x)
        margins = self.margins(x)
        p = self.p(margins + capped)
        tie = margins + free if self.ties == "width" else np.zeros(self.labels)
        order = np.lexsort((np.arange(self.labels), -tie, -p))
        most = min(self.max_labels or self.labels, self.labels)
        if self.miss_weight == 1 and self.slot_cost == "decreasing":
            return [int(label) for label in order[:most]]
        best, least = 0, 0.0
        for size in range(1, most + 1):
            value = expected_cost(tuple(order[:size]), p, self.miss_weight, self.slot_cost)
            if value < least:
                best, least = size, value
        return [int(label) for label in order[:best]]

    def play(self, x: Array, y: Array) -> list[int]:
        shown = self.choose(x)
        observed = range(self.labels) if self.update == "full" else shown
        self.learn(x, {label: 1.0 if y[label] else -1.0 for label in observed})
        return shown

    def learn(self, x: Array, signs: dict[int, float]) -> None:
        for i in range(self.labels):
            margin = self.w[i] @ x
            direction = np.linalg.solve(self.A[i], x)
            projected = float(np.clip(margin, -self.radius, self.radius))
            if margin != projected:
                self.w[i] -= (margin - projected) / (x @ direction) * direction
            if i not in signs:
                continue
            outer = np.outer(x, x)
            self.A[i] += np.diag(x**2) if self.covariance == "diagonal" else outer
            slope = self.g(signs[i] * projected) * signs[i] / self.constants()[1]
            self.w[i] += slope * np.linalg.solve(self.A[i], x)
        self.rounds += 1


class NaiveKernelPartial(NaivePartial):
    """The kernel form on a known sequence of rows: x is the number of a row.

    A weight vector is a sum of coefficients times rows in feature space. With the kernel matrix G
    of all rows and the rows s for which a label was shown, A^-1 x_t = x_t - sum over s of
    ((I + G_ss)^-1 G_st)_s x_s, and ln|A| = ln|I + G_ss|.
    """

    def __init__(self, G: Array, labels: int, **settings: Any) -> None:
        super().__init__(1, labels, width="determinant", **settings)
        self.G = G
        self.w = np.zeros((labels, len(G)))
        self.rows: list[list[int]] = [[] for _ in range(labels)]

    def direction(self, label: int, t: int) -> Array:
        """Return A^-1 x_t as coefficients of all rows."""
        out = np.zeros(len(self.G))
        out[t] = 1.0
        s = self.rows[label]
        inner = np.eye(len(s)) + self.G[np.ix_(s, s)]
        np.subtract.at(out, s, np.linalg.solve(inner, self.G[s, t]))
        return out

    def margins(self, x: Any) -> Array:
        return np.asarray(np.clip(self.w @ self.G[x], -self.radius, self.radius))

    def variances(self, x: Any) -> tuple[Array, Array]:
        labels = range(self.labels)
        q = [self.G[x] @ self.direction(i, x) for i in labels]
        logs = [np.linalg.slogdet(np.eye(len(s)) + self.G[np.ix_(s, s)])[1] for s in self.rows]
        return np.array(q), np.array(logs)

    def learn(self, x: Any, signs: dict[int, float]) -> None:
        for i in range(self.labels):
            margin = float(self.w[i] @ self.G[x])
            direction = self.direction(i, x)
            projected = float(np.clip(margin, -self.radius, self.radius))
            if margin != projected:
                self.w[i] -= (margin - projected) / (self.G[x] @ direction) * direction
            if i not in signs:
                continue
            self.rows[i].append(x)
            slope = self.g(signs[i] * projected) * signs[i] / self.constants()[1]
            self.w[i] += slope * self.direction(i, x)
        self.rounds += 1
