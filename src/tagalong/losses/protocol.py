r"""The protocol of a surrogate loss of margins.

A loss :math:`L` is defined on margins in [-R, R]. It is positive, convex, nonincreasing and twice
continuously differentiable. With :math:`g = -L'`, a label with margin :math:`\Delta` is relevant
with the probability :math:`p(\Delta) = g(-\Delta) / (g(\Delta) + g(-\Delta))`.
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong import parameters

__all__ = ["LossConstants", "MarginLoss", "Margins", "evaluated", "probabilities"]

Margins: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LossConstants:
    r"""The constants of a loss on [-R, R] in the theorems on partial feedback (P3, Theorem 2).

    Parameters
    ----------
    probability_slope : float
        :math:`c_L`, at least the largest slope of the probability :math:`p`.
    squared_slope : float
        :math:`c'_L`, at least the largest :math:`L'(\Delta)^2`.
    curvature : float
        :math:`c''_L`, at most the least :math:`L''(\Delta)`; positive.
    """

    probability_slope: float
    squared_slope: float
    curvature: float

    def __post_init__(self) -> None:
        for name in ("probability_slope", "squared_slope", "curvature"):
            object.__setattr__(self, name, parameters.positive(getattr(self, name), name))


class MarginLoss(Protocol):
    """The members that `PartialFeedbackRanker` needs of a loss; `check_loss` tests them.

    The methods of margins get an array and return an array of the same shape, or one number if
    they are constant.
    """

    def value(self, margins: Margins) -> npt.ArrayLike:
        """Return L, at least 0."""

    def slope(self, margins: Margins) -> npt.ArrayLike:
        """Return the derivative L', at most 0."""

    def curvature(self, margins: Margins) -> npt.ArrayLike:
        """Return the second derivative L'', positive."""

    def constants(self, radius: float) -> LossConstants:
        """Return the constants for margins from -radius to radius."""


def evaluated(loss: MarginLoss, method: str, margins: Margins) -> Margins:
    """Return the values of a method of a loss; ValueError unless they are finite numbers.

    Parameters
    ----------
    loss : MarginLoss
        The loss.
    method : str
        "value", "slope" or "curvature".
    margins : array of shape (points,)
        Margins.
    """
    name = f"{type(loss).__name__}.{method}"
    try:
        found = np.asarray(getattr(loss, method)(margins.copy()), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must return numbers for an array of margins: {error}") from error
    if found.shape not in ((), margins.shape):
        raise ValueError(
            f"{name} must return an array of the shape of its margins, {margins.shape}, or one "
            f"number, got shape {found.shape}"
        )
    found = np.broadcast_to(found, margins.shape)
    wrong = ~np.isfinite(found)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{name} is {found[at]} at margin {margins[at]:g}; it must be finite")
    return found


def probabilities(loss: MarginLoss, margins: Margins) -> Margins:
    """Return the probability of each margin that its label is relevant.

    Parameters
    ----------
    loss : MarginLoss
        The loss.
    margins : array of shape (points,)
        Margins.
    """
    yes, no = evaluated(loss, "slope", -margins), evaluated(loss, "slope", margins)
    return np.asarray(yes / (yes + no))
