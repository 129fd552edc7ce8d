r"""The protocol of a prediction problem.

A learner computes scores :math:`t \in R^d`. A problem turns them into a prediction and defines its
loss. It represents every prediction :math:`\sigma` by a vector of length 1, and predicts
:math:`\mathrm{pred}(t) = \mathrm{argmax}_\sigma \langle \mathrm{rep}(\sigma), t\rangle`.
"""

import inspect
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MEMBERS", "Problem", "Vector", "missing_members"]

Vector: TypeAlias = npt.NDArray[np.float64]

MEMBERS = (
    "dimension",
    "least_loss",
    "most_loss",
    "loss",
    "represent",
    "decode",
    "augmented_decode",
    "correct",
)


class Problem(Protocol):
    """The members that Predtron needs of a problem; `check_problem` tests them.

    Predictions and answers may be any objects: only the problem looks into them. A problem may
    also have ``worst_decode(scores, y)``, which returns the prediction with the largest loss among
    those with the highest score. Learning then uses it instead of ``decode``, so that a tie counts
    as a mistake.
    """

    @property
    def dimension(self) -> int | None:
        """The number of scores; None until it is known from the data."""

    @property
    def least_loss(self) -> float:
        """Lower bound of all losses that are not zero: c_L."""

    @property
    def most_loss(self) -> float:
        """Upper bound of all losses: C_L."""

    def loss(self, prediction: Any, y: Any) -> float:
        """Return the loss of a prediction if the answer is y; zero if it is correct."""

    def represent(self, prediction: Any) -> Vector:
        """Return the vector of length 1 that represents a prediction."""

    def decode(self, scores: Vector) -> Any:
        """Return the prediction with the largest similarity <represent(prediction), scores>."""

    def augmented_decode(self, scores: Vector, y: Any) -> Any:
        """Return the prediction with the largest sum of loss and similarity."""

    def correct(self, y: Any, scores: Vector) -> Any:
        """Return any prediction with loss 0, for example the one with the highest similarity."""


def missing_members(candidate: object) -> list[str]:
    """Return the members of `Problem` that an object lacks; does not evaluate its properties."""
    absent = object()
    return [name for name in MEMBERS if inspect.getattr_static(candidate, name, absent) is absent]
