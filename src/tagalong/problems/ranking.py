"""Base class of the problems whose predictions are rankings.

A prediction is the array of items, best first. The item at position i = 1, 2, ... is represented by
f(i)/Z, where f is decreasing and Z makes the vector's length 1. So decoding sorts by the scores.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.classes import known_dimension
from tagalong.problems.protocol import Vector

__all__ = ["POSITIONS", "Ranking"]

Position: TypeAlias = str | Callable[[int], float]
Order: TypeAlias = npt.NDArray[np.int64]
RankingLike: TypeAlias = Sequence[int] | Order
GradesLike: TypeAlias = Sequence[float] | npt.NDArray[Any]

# Each f as a pair: whether it is 1/i, and otherwise the power in -i^power.
POSITIONS = {"-i": (False, 1.0), "-i^1.1": (False, 1.1), "-i^2": (False, 2.0), "1/i": (True, 0.0)}


class Ranking(BuiltinProblem):
    """Base class of `LabelRanking` and `SubsetRanking`; an answer has one grade per item."""

    def __init__(
        self,
        position: Position = "-i",
        ties: str = "score",
        loss: str = "ndcg",
        k: int | None = None,
        dimension: int | None = None,
    ):
        self._store_arguments(position=position, ties=ties, loss=loss, k=k, dimension=dimension)
        if not callable(position):
            parameters.choice(position, "position", tuple(POSITIONS))
        self.position = position
        self.ties = parameters.choice(ties, "ties", ("score", "index"))
        self.loss_name = parameters.choice(loss, "loss", ("ndcg", "precision"))
        if k is None and loss == "precision":
            raise ValueError("k must be given for loss='precision', got None")
        self.k = None if k is None else parameters.integer(k, "k", 1)
        self.dimension = dimension
        self.top_grade = 1.0

    def places(self, m: int) -> tuple[Vector, Vector]:
        """Return f(1), ..., f(m) as a vector of length 1, and the discount of each position."""
        return _places(self.position, self.loss_name == "precision", self.k, m)

    def gains(self, y: npt.ArrayLike) -> Vector:
        """Return the gain of each item, before the discount of its position."""
        grades = np.asarray(y, dtype=np.float64)
        if self.loss_name == "precision":
            return (grades > 0).astype(np.float64)
        return np.asarray(np.exp2(grades) - 1)

    @property
    def least_loss(self) -> float:
        """A lower bound of all losses that are not zero."""
        m = known_dimension(self.dimension)
        if self.loss_name == "precision":
            assert self.k is not None
            return 1 / min(m, self.k)
        return float(2.0**-self.top_grade / (m * np.log2(2 * m)) ** 2)

    @property
    def most_loss(self) -> float:
        """The largest loss: 1."""
        return 1.0

    def loss(self, prediction: RankingLike, y: GradesLike) -> float:
        """Return 1 - NDCG, or 1 - (precision at k) / (best possible precision at k)."""
        gains, discounts = self.gains(y), self.places(len(y))[1]
        ideal = _sum(np.sort(gains)[::-1] * discounts)
        if ideal == 0:
            return 0.0
        return max(0.0, 1 - _sum(gains[np.asarray(prediction)] * discounts) / ideal)

    def represent(self, prediction: RankingLike) -> Vector:
        """Return f(position)/Z for each item."""
        out = np.empty(len(prediction))
        out[np.asarray(prediction)] = self.places(len(prediction))[0]
        return out

    def decode(self, scores: Vector) -> Order:
        """Return the items by decreasing score, ties by index."""
        return np.argsort(-np.asarray(scores), kind="stable")

    def worst_decode(self, scores: Vector, y: GradesLike) -> Order:
        """Return the items by decreasing score; among ties, the least relevant first."""
        return np.lexsort((self.gains(y), -np.asarray(scores)))

    def correct(self, y: GradesLike, scores: Vector) -> Order:
        """Return the items by decreasing grade; items of equal grade by score, or by index."""
        gains = self.gains(y)
        if self.ties == "index":
            return np.argsort(-gains, kind="stable")
        return np.lexsort((-np.asarray(scores), -gains))

    def augmented_decode(self, scores: Vector, y: GradesLike) -> Order:
        """Return the ranking with the largest sum of loss and similarity.

        With two grades, the items of each grade are sorted and the two lists are merged. With more
        grades it is a linear assignment of items to positions.
        """
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        gains, (f, discounts) = self.gains(y), self.places(len(scores))
        ideal = _sum(np.sort(gains)[::-1] * discounts)
        if ideal == 0:
            return self.decode(scores)
        levels = np.unique(gains)
        if len(levels) <= 2:
            high = np.flatnonzero(gains == levels[-1]).astype(np.int32)
            scaled = (levels[-1] - levels[0]) * discounts / ideal
            return core.merge_ranking(scores, high, f, scaled).astype(np.int64)
        objective = np.outer(scores, f) - np.outer(gains, discounts / ideal)
        from scipy.optimize import linear_sum_assignment  # takes long to load

        items, positions = linear_sum_assignment(objective, maximize=True)
        order = np.empty(len(scores), dtype=np.int64)
        order[positions] = items
        return order

    def rule(self) -> dict[str, Any] | None:
        """Return the problem's description for the native core; None if f is a user's function."""
        if callable(self.position):
            return None
        reciprocal, power = POSITIONS[self.position]
        return {
            "kind": "ranking",
            "reciprocal": reciprocal,
            "exponent": power,
            "precision": self.loss_name == "precision",
            "depth": self.k or 0,
            "ties_by_score": self.ties == "score",
        }


@lru_cache(maxsize=256)
def _places(position: Position, precision: bool, k: int | None, m: int) -> tuple[Vector, Vector]:
    i = np.arange(1, m + 1, dtype=np.float64)
    if callable(position):
        f = np.array([parameters.real(position(int(at)), "position") for at in i])
        if (np.diff(f) >= 0).any():
            at = int(np.argmax(np.diff(f) >= 0)) + 1
            raise ValueError(
                f"position must be decreasing, but position({at}) is {f[at - 1]:g} and "
                f"position({at + 1}) is {f[at]:g}"
            )
    else:
        reciprocal, power = POSITIONS[position]
        f = 1 / i if reciprocal else -(i**power)
    length = float(np.sqrt(np.add.accumulate(f * f)[-1])) if m else 1.0
    discounts = np.ones(m) if precision else 1 / np.log2(1 + i)
    if k is not None:
        discounts[k:] = 0.0
    vectors = f / (length or 1.0), discounts
    for array in vectors:
        array.flags.writeable = False  # the cache returns the same arrays again
    return vectors


def _sum(values: Vector) -> float:
    """Return the sum in order: a correct ranking then has a loss of exactly 0."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0
