r"""What a prediction problem is.

A learner has scores :math:`t \in R^d`. A problem says what they predict and what that costs: it
represents every prediction :math:`\sigma` by a vector of length 1, and predicts
:math:`\mathrm{pred}(t) = \mathrm{argmax}_\sigma \langle \mathrm{rep}(\sigma), t\rangle`.
"""

import inspect
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["PARTS", "Problem", "Vector", "missing_parts"]

Vector: TypeAlias = npt.NDArray[np.float64]

PARTS = (
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
    """What Predtron asks of a problem; `check_problem` tests that it keeps its word.

    Predictions and answers are any objects: only the problem looks into them. A problem may also
    have ``worst_decode(scores, y)``, the prediction that loses most among those that score best;
    learning looks at it in place of ``decode``, so that equal scores are a mistake.
    """

    dimension: int | None
    """How many scores there are; None as long as the data have not told."""

    @property
    def least_loss(self) -> float:
        """The smallest loss that is not zero, or less: c_L."""

    @property
    def most_loss(self) -> float:
        """The largest loss, or more: C_L."""

    def loss(self, prediction: Any, y: Any) -> float:
        """Return what a prediction costs where the answer is y; zero if it is correct."""

    def represent(self, prediction: Any) -> Vector:
        """Return the vector of length 1 that stands for a prediction."""

    def decode(self, scores: Vector) -> Any:
        """Return the prediction whose representation is most similar to the scores."""

    def augmented_decode(self, scores: Vector, y: Any) -> Any:
        """Return the prediction with the largest loss plus similarity to the scores."""

    def correct(self, y: Any, scores: Vector) -> Any:
        """Return a prediction without loss; of several, perhaps the one that scores best."""


def missing_parts(given: object) -> list[str]:
    """Return what an object lacks to be a problem; its properties are not asked."""
    nothing = object()
    return [name for name in PARTS if inspect.getattr_static(given, name, nothing) is nothing]
