"""Ordinal classification: ordered levels, and a loss equal to the distance between them."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from tagalong import parameters
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.classes import (
    decode_class,
    known_dimension,
    represent_class,
    worst_class,
)
from tagalong.problems.protocol import Vector

__all__ = ["Ordinal"]


class Ordinal(BuiltinProblem):
    """One of m ordered levels: level i is represented by e_i, and the loss is |i - y|.

    Parameters
    ----------
    levels : int or sequence, optional
        The levels from the lowest to the highest; a number m means 0, 1, ..., m - 1. None: the
        classes of the data, sorted.
    dimension : int, optional
        The number of levels (default: from ``levels``, or else Predtron takes it from the data).
    """

    def __init__(
        self, levels: int | Sequence[Hashable] | None = None, dimension: int | None = None
    ):
        self._store_arguments(
            levels=tuple(levels) if isinstance(levels, list) else levels, dimension=dimension
        )
        self.levels: tuple[Hashable, ...] | None = None
        self.dimension = dimension
        if levels is None:
            return
        if isinstance(levels, (tuple, list)):
            self.levels = tuple(levels)
        else:
            self.levels = tuple(range(parameters.integer(levels, "levels", 1)))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise ValueError(f"levels must be distinct, got {levels!r}")
        self.dimension = len(self.levels)

    @property
    def least_loss(self) -> float:
        """The loss of the adjacent level: 1."""
        return 1.0

    @property
    def most_loss(self) -> float:
        """The distance from the lowest to the highest level."""
        return float(max(1, known_dimension(self.dimension) - 1))

    def loss(self, prediction: int, y: int) -> float:
        """Return the distance between the two levels."""
        return float(abs(prediction - y))

    def represent(self, prediction: int) -> Vector:
        """Return e_i."""
        return represent_class(prediction, known_dimension(self.dimension))

    def decode(self, scores: Vector) -> Any:
        """Return the level with the highest score."""
        return decode_class(scores, np.zeros(len(scores)), None)

    def augmented_decode(self, scores: Vector, y: int) -> Any:
        """Return the level with the largest sum of distance from y and score."""
        return decode_class(scores, np.abs(np.arange(len(scores)) - float(y)), None)

    def worst_decode(self, scores: Vector, y: int) -> Any:
        """Return the level farthest from y among those with the highest score."""
        return worst_class(scores, np.abs(np.arange(len(scores)) - float(y)), None)

    def correct(self, y: int, scores: Vector) -> int:
        """Return y."""
        return y

    def rule(self) -> dict[str, Any]:
        """Return the problem's description for the native core."""
        return {"kind": "ordinal"}
