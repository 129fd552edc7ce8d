"""Losses as tables of numbers, for the native core and for model files."""

from dataclasses import astuple
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from tagalong import parameters
from tagalong.losses.protocol import LossConstants, MarginLoss, Margins, evaluated

__all__ = ["LossNumbers", "TabulatedLoss", "tabulated"]

LossNumbers: TypeAlias = list[list[float]]
"""The constants c_L, c', c'' and L(-R); g at equidistant margins from -R to R; g' at these."""

INTERVALS = [2**power for power in range(5, 13)]
GOOD, ACCEPTABLE = 1e-10, 1e-6  # errors of the interpolated slope, relative to the largest slope


class TabulatedLoss:
    """A loss in a model file: a cubic interpolation of the loss that the ranker had.

    Parameters
    ----------
    radius : float
        R; the loss exists for margins from -R to R.
    numbers : list of three lists of float
        As `tabulated` returns them.
    """

    def __init__(self, radius: float, numbers: LossNumbers) -> None:
        self.radius = parameters.positive(radius, "radius")
        try:
            fixed, g, g_slope = (np.asarray(part, dtype=np.float64) for part in numbers)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the table of the loss must be three lists: {error}") from None
        if fixed.shape != (4,) or g.ndim != 1 or len(g) < 2 or g.shape != g_slope.shape:
            raise ValueError("the table of the loss must have four constants, and two lists")
        if not all(np.isfinite(part).all() for part in (fixed, g, g_slope)):
            raise ValueError("the table of the loss must have finite numbers")
        self.numbers: LossNumbers = [part.tolist() for part in (fixed, g, g_slope)]
        self._constants = LossConstants(*fixed[:3].tolist())

    def __repr__(self) -> str:
        return f"TabulatedLoss(radius={self.radius:g})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TabulatedLoss)
            and self.radius == other.radius
            and self.numbers == other.numbers
        )

    def __hash__(self) -> int:
        return hash((self.radius, *self.numbers[0]))

    @cached_property
    def _g(self) -> Any:
        # SciPy's splines take longer to import than most programs need to start.
        from scipy.interpolate import CubicHermiteSpline

        _, g, g_slope = self.numbers
        return CubicHermiteSpline(np.linspace(-self.radius, self.radius, len(g)), g, g_slope)

    def value(self, margins: Margins) -> Margins:
        """Return L.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(self.numbers[0][3] - self._g.antiderivative()(margins))

    def slope(self, margins: Margins) -> Margins:
        """Return L'.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(-self._g(margins))

    def curvature(self, margins: Margins) -> Margins:
        """Return L''.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(-self._g(margins, 1))

    def constants(self, radius: float) -> LossConstants:
        """Return the constants; ValueError for another radius than that of the table.

        Parameters
        ----------
        radius : float
            R.
        """
        if radius != self.radius:
            raise ValueError(
                f"loss is a table from a model file for radius={self.radius:g}, got "
                f"radius={radius:g}; pass the loss itself"
            )
        return self._constants


def tabulated(loss: MarginLoss, radius: float) -> LossNumbers:
    """Return the numbers of a valid loss, for as many margins as its smoothness requires.

    Parameters
    ----------
    loss : MarginLoss
        A valid loss.
    radius : float
        R.
    """
    if isinstance(loss, TabulatedLoss):
        return loss.numbers
    worst = float(evaluated(loss, "value", np.array([-radius]))[0])
    fixed = [*astuple(loss.constants(radius)), worst]
    for intervals in INTERVALS:
        points = np.linspace(-radius, radius, intervals + 1)
        g, g_slope = -evaluated(loss, "slope", points), -evaluated(loss, "curvature", points)
        step = points[1] - points[0]
        middle = (g[:-1] + g[1:]) / 2 + step / 8 * (g_slope[:-1] - g_slope[1:])
        exact = -evaluated(loss, "slope", points[:-1] + step / 2)
        error = float(np.abs(middle - exact).max() / np.abs(g).max())
        if error <= GOOD:
            break
    if error > ACCEPTABLE:
        raise ValueError(
            f"{type(loss).__name__} is not smooth enough: {intervals} polynomials give its slope "
            f"to {error:.0e} only"
        )
    return [fixed, g.tolist(), g_slope.tolist()]
