"""Ordinal regression on a stream of dense rows: scaling, thresholds and steps by their formulas."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["NaiveGrades", "scaled_rows"]


def scaled_rows(X: Any) -> Any:
    """Each row as it is scaled when it arrives, from the rows up to itself."""
    out = np.zeros(X.shape)
    for t in range(1, len(X) + 1):
        seen, x = X[:t], X[t - 1]
        frequent = (seen != 0).sum(axis=0) >= 0.25 * t
        mean, deviation = seen.mean(axis=0), seen.std(axis=0)
        varies = deviation > 1e-12
        standard = np.where(varies, (x - mean) / np.where(varies, deviation, 1), 0)
        out[t - 1] = np.where(frequent, np.clip(standard, -4, 4), x)
    return out


@dataclass
class NaiveGrades:
    """One weight vector and thresholds; the update SimProj on the rows (x, -e_j)."""

    features: int
    grades: int
    C: float = 0.1
    margin: float = 1.0
    w: Any = field(init=False)
    thresholds: Any = field(init=False)

    def __post_init__(self) -> None:
        self.w, self.thresholds = np.zeros(self.features), np.zeros(self.grades - 1)

    def scores(self, x: Any) -> Any:
        """The distance of w.x to the nearer threshold of each grade, negative outside."""
        edges = np.concatenate([[-np.inf], np.sort(self.thresholds), [np.inf]])
        value = self.w @ x
        return np.minimum(value - edges[:-1], edges[1:] - value)

    def learn(self, x: Any, grade: int, weight: float = 1.0) -> None:
        """One trial."""
        signs = np.where(np.arange(self.grades - 1) < grade, 1.0, -1.0)
        losses = np.maximum(0, self.margin - signs * (self.w @ x - self.thresholds))
        losing = losses > 0
        if not losing.any():
            return
        own = np.minimum(self.C * weight, losses / (x @ x + 1))
        steps = np.where(losing, own / losing.sum(), 0) * signs
        self.w = self.w + steps.sum() * x
        self.thresholds = self.thresholds - steps
