"""Binary classification with a cost per class and an optional reject option."""

from typing import Any, Self

import numpy as np

from tagalong import parameters
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.classes import decode_class, represent_class, worst_class
from tagalong.problems.protocol import Vector
from tagalong.problems.reject import REJECT, ClassPrediction, reject_costs

__all__ = ["Binary"]


class Binary(BuiltinProblem):
    r"""Two classes, 0 and 1.

    Without a reject option there is one score; class 1 is represented by +1 and class 0 by -1.
    This is the perceptron. With a reject option there are two scores; the classes are represented
    by :math:`e_0` and :math:`e_1`, and REJECT by :math:`(e_0 + e_1)/\sqrt 2`.

    Parameters
    ----------
    costs : tuple of two floats, default (1.0, 1.0)
        Cost of a mistake on class 0, and on class 1.
    reject : float or tuple of two floats, optional
        Cost of REJECT, for both classes or for each; at most 1. None: REJECT is never predicted.
    """

    def __init__(
        self,
        costs: tuple[float, float] = (1.0, 1.0),
        reject: float | tuple[float, float] | None = None,
    ):
        if not isinstance(costs, (tuple, list)) or len(costs) != 2:
            raise ValueError(f"costs must be two numbers, got {costs!r}")
        self._store_arguments(
            costs=tuple(costs), reject=tuple(reject) if isinstance(reject, list) else reject
        )
        self.costs = tuple(parameters.positive(cost, "costs", 1e6) for cost in costs)
        self.reject = reject_costs(reject, "reject", 2)

    def sized(self, dimension: int) -> Self:
        """Return the problem itself: its number of scores is fixed."""
        return self

    @property
    def dimension(self) -> int:
        """Number of scores: 1, or 2 with a reject option."""
        return 2 if self.reject else 1

    @property
    def least_loss(self) -> float:
        """The smallest cost."""
        return min(*self.costs, *self.reject)

    @property
    def most_loss(self) -> float:
        """The largest cost."""
        return max(*self.costs, *self.reject)

    def loss(self, prediction: ClassPrediction, y: int) -> float:
        """Return the cost of a mistake or of REJECT."""
        if prediction is REJECT:
            return self.reject[0 if len(self.reject) == 1 else y]
        return 0.0 if prediction == y else self.costs[y]

    def represent(self, prediction: ClassPrediction) -> Vector:
        """Return -1 or 1; with a reject option e_0, e_1, or their normalised sum for REJECT."""
        if not self.reject:
            return np.array([1.0 if prediction == 1 else -1.0])
        return represent_class(prediction, 2)

    def decode(self, scores: Vector) -> ClassPrediction:
        """Return the class, or REJECT; a score of 0 predicts class 0."""
        if not self.reject:
            return int(scores[0] > 0)
        return decode_class(scores, np.zeros(2), 0.0)

    def worst_decode(self, scores: Vector, y: int) -> ClassPrediction:
        """Return the prediction with the largest loss among those with the highest score."""
        if not self.reject:
            return 1 - y if scores[0] == 0 else self.decode(scores)
        return worst_class(scores, self._losses(y), self.loss(REJECT, y))

    def _losses(self, y: int) -> Vector:
        return np.array([self.loss(0, y), self.loss(1, y)])

    def augmented_decode(self, scores: Vector, y: int) -> ClassPrediction:
        """Return the class, or REJECT, with the largest sum of loss and score."""
        losses = self._losses(y)
        if not self.reject:
            return int(losses[1] + scores[0] > losses[0] - scores[0])
        return decode_class(scores, losses, self.loss(REJECT, y))

    def correct(self, y: int, scores: Vector) -> int:
        """Return y."""
        return y

    def rule(self) -> dict[str, Any]:
        """Return the problem's description for the native core."""
        return {"kind": "binary", "costs": list(self.costs), "reject": list(self.reject)}
