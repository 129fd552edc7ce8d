"""Multiclass classification with an optional reject option."""

from typing import Any

import numpy as np

from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.classes import (
    decode_class,
    known_dimension,
    represent_class,
    worst_class,
)
from tagalong.problems.protocol import Vector
from tagalong.problems.reject import REJECT, ClassPrediction, reject_costs

__all__ = ["Multiclass"]


class Multiclass(BuiltinProblem):
    r"""One class out of m: the multiclass perceptron.

    Class i is represented by :math:`e_i`, REJECT by :math:`\sum_i e_i / \sqrt m`.

    Parameters
    ----------
    reject : float, optional
        Cost of REJECT, at most 1; a mistake costs 1. None: REJECT is never predicted.
    dimension : int, optional
        The number of classes (default: Predtron takes it from the data).
    """

    def __init__(self, reject: float | None = None, dimension: int | None = None):
        self._store_arguments(reject=reject, dimension=dimension)
        self.reject = reject_costs(reject, "reject", None)
        self.dimension = dimension

    @property
    def least_loss(self) -> float:
        """The cost of REJECT, or 1."""
        return self.reject[0] if self.reject else 1.0

    @property
    def most_loss(self) -> float:
        """The cost of a mistake: 1."""
        return 1.0

    def loss(self, prediction: ClassPrediction, y: int) -> float:
        """Return 1 for a mistake, or the cost of REJECT."""
        if prediction is REJECT:
            return self.least_loss
        return 0.0 if prediction == y else 1.0

    def represent(self, prediction: ClassPrediction) -> Vector:
        """Return e_i for class i, or the normalised sum of all e_i for REJECT."""
        return represent_class(prediction, known_dimension(self.dimension))

    def decode(self, scores: Vector) -> ClassPrediction:
        """Return the class with the highest score, or REJECT."""
        return decode_class(scores, np.zeros(len(scores)), 0.0 if self.reject else None)

    def augmented_decode(self, scores: Vector, y: int) -> ClassPrediction:
        """Return the class, or REJECT, with the largest sum of loss and score."""
        return decode_class(
            scores, self._losses(scores, y), self.reject[0] if self.reject else None
        )

    def worst_decode(self, scores: Vector, y: int) -> ClassPrediction:
        """Return the prediction with the largest loss among those with the highest score."""
        return worst_class(scores, self._losses(scores, y), self.reject[0] if self.reject else None)

    def _losses(self, scores: Vector, y: int) -> Vector:
        losses = np.ones(len(scores))
        losses[y] = 0.0
        return losses

    def correct(self, y: int, scores: Vector) -> int:
        """Return y."""
        return y

    def rule(self) -> dict[str, Any]:
        """Return the problem's description for the native core."""
        return {"kind": "classes", "reject": list(self.reject)}
