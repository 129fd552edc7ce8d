"""Scales from values to positions, and the values that an axis names."""

import math
from dataclasses import dataclass

__all__ = ["Scale", "Tick", "count_ticks", "share_ticks"]


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale from values to positions.

    Parameters
    ----------
    low, high : float
        The values at both ends; values outside are drawn at the nearer end.
    start, end : float
        The positions of both ends. ``start`` may be the larger one, as positions in an SVG grow
        downwards.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value, to a tenth of a unit.

        Parameters
        ----------
        value : float
            The value, which is not NaN.
        """
        if self.high <= self.low:
            return round(self.start, 1)
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)


@dataclass(frozen=True, slots=True)
class Tick:
    """A value that an axis names.

    Parameters
    ----------
    position : float
        Where it is.
    text : str
        The value as text.
    """

    position: float
    text: str


def count_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Return round whole numbers from 0 on, at equal distances.

    Parameters
    ----------
    scale : Scale
        The scale of the axis, from 0.
    most : int
        Maximum number of ticks, at least 2.
    """
    step = _round_step(scale.high / (most - 1))
    values = range(0, math.floor(scale.high) + 1, step)
    return tuple(Tick(scale(value), f"{value:,}") for value in values)


def _round_step(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 and so on that is not below a number."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def share_ticks(scale: Scale, parts: int) -> tuple[Tick, ...]:
    """Return the percentages that divide a scale from 0 to 1 into equal parts.

    Parameters
    ----------
    scale : Scale
        The scale of the axis.
    parts : int
        Number of parts.
    """
    shares = [part / parts for part in range(parts + 1)]
    return tuple(Tick(scale(share), f"{100 * share:.0f} %") for share in shares)
