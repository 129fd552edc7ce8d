"""Test numerically that a custom loss satisfies the protocol and its own constants."""

import inspect

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.losses.protocol import LossConstants, MarginLoss, Margins, evaluated

__all__ = ["check_loss", "require_loss"]

MEMBERS = ("value", "slope", "curvature", "constants")
POINTS = 2001
TOLERANCE = 1e-6  # relative; for rounding, and for losses that are interpolated
DERIVATIVE_TOLERANCE = 1e-4  # relative, of the change between two points


def require_loss(loss: object, name: str) -> None:
    """Raise ValueError unless an object has the members of `MarginLoss`.

    Parameters
    ----------
    loss : object
        The candidate.
    name : str
        The name of the parameter.
    """
    absent = object()
    missing = [m for m in MEMBERS if inspect.getattr_static(loss, m, absent) is absent]
    if missing or isinstance(loss, type):
        lacks = f"which has no {', '.join(missing)}" if missing else "which is a class"
        raise ValueError(
            f"{name} must be 'square', 'logistic' or an object with the methods of "
            f"tagalong.losses.MarginLoss, got {loss!r}, {lacks}"
        )


def check_loss(loss: MarginLoss, radius: float = 1.0) -> None:
    r"""Raise ValueError if a loss violates what the theory of partial feedback assumes.

    On equidistant margins from -radius to radius, the loss must be nonnegative, nonincreasing and
    convex; ``slope`` and ``curvature`` must be its derivatives; and the constants must be bounds:
    the slope of the probability is at most ``probability_slope``, :math:`L'^2` at most
    ``squared_slope``, and :math:`L''` at least ``curvature``. A violation between two of these
    margins is not found.

    Parameters
    ----------
    loss : MarginLoss
        The loss.
    radius : float, default 1
        R.

    Examples
    --------
    >>> from tagalong.losses import ExponentialLoss, check_loss
    >>> check_loss(ExponentialLoss(), radius=2.0)
    """
    require_loss(loss, "loss")
    radius = parameters.positive(radius, "radius")
    margins = np.linspace(-radius, radius, POINTS)
    name = type(loss).__name__
    constants = loss.constants(radius)
    if not isinstance(constants, LossConstants):
        raise ValueError(f"{name}.constants must return LossConstants, got {constants!r}")
    value, slope, curvature = (evaluated(loss, m, margins) for m in MEMBERS[:3])
    slack = TOLERANCE * np.abs(slope).max()
    _require(value >= 0, margins, f"{name}.value", value, "must be 0 or more")
    _require(slope <= slack, margins, f"{name}.slope", slope, "must be 0 or less")
    _require_derivative(loss, "value", "slope", margins)
    _require_derivative(loss, "slope", "curvature", margins)
    _require(
        curvature >= constants.curvature * (1 - TOLERANCE),
        margins,
        f"{name}.curvature",
        curvature,
        f"must be at least the constant curvature = {constants.curvature:g}",
    )
    _require(
        slope**2 <= constants.squared_slope * (1 + TOLERANCE),
        margins,
        f"the square of {name}.slope",
        slope**2,
        f"must be at most the constant squared_slope = {constants.squared_slope:g}",
    )
    # Curvature is positive, so that the sum of the slopes at m and -m is below 0.
    rise = -(slope * curvature[::-1] + curvature * slope[::-1]) / (slope + slope[::-1]) ** 2
    _require(
        rise <= constants.probability_slope * (1 + TOLERANCE),
        margins,
        f"the slope of {name}'s probability",
        rise,
        f"must be at most the constant probability_slope = {constants.probability_slope:g}",
    )


def _require(
    holds: npt.NDArray[np.bool_],
    margins: Margins,
    what: str,
    found: Margins,
    wanted: str,
) -> None:
    if not holds.all():
        at = int(np.argmin(holds))
        raise ValueError(f"{what} is {found[at]:.6g} at margin {margins[at]:g}; it {wanted}")


def _require_derivative(loss: MarginLoss, whole: str, derivative: str, margins: Margins) -> None:
    """Compare the change between neighbouring margins with the derivative's integral."""
    step = margins[1] - margins[0]
    middle = evaluated(loss, derivative, margins[:-1] + step / 2)
    ends, values = evaluated(loss, derivative, margins), evaluated(loss, whole, margins)
    change, integral = np.diff(values), step / 6 * (ends[:-1] + 4 * middle + ends[1:])
    allowed = DERIVATIVE_TOLERANCE * step * np.abs(ends).max() + 1e-12 * np.abs(values).max()
    wrong = ~(np.abs(change - integral) <= allowed)
    if wrong.any():
        at = int(np.argmax(wrong))
        name = type(loss).__name__
        raise ValueError(
            f"{name}.{derivative} must be the derivative of {name}.{whole}: at margin "
            f"{margins[at]:g} it is {middle[at]:.6g}, but {name}.{whole} changes by "
            f"{change[at] / step:.6g} per unit"
        )
