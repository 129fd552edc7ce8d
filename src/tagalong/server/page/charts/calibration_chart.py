"""Probabilities against the shares of suggestions that were right, with the number of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from tagalong.server.page.charts.bars import Bar, bars
from tagalong.server.page.charts.layout import Box, Size, text_width
from tagalong.server.page.charts.scales import Scale, Tick, share_ticks

__all__ = ["CALIBRATION", "CalibrationChart", "Dot", "SaidAndRight", "calibration_chart"]

CALIBRATION = Size(340, 350, 13, is_narrow=True)
"""The size of the chart."""
FEW = 10
"""Below this number of suggestions a dot is hollow."""
_HISTOGRAM = 44
_GAP = 8


@dataclass(frozen=True, slots=True)
class SaidAndRight:
    """Suggestions with about the same probability.

    Parameters
    ----------
    low, high : float
        The range of the probability.
    said : float
        The mean probability.
    right : int
        Number of suggestions that were right.
    count : int
        Number of suggestions, at least 1.
    """

    low: float
    high: float
    said: float
    right: int
    count: int

    @property
    def share(self) -> float:
        """The share of suggestions that were right."""
        return self.right / self.count


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot as it is drawn.

    Parameters
    ----------
    x, y : float
        Where it is.
    is_hollow : bool
        Whether it stands for few suggestions.
    """

    x: float
    y: float
    is_hollow: bool


@dataclass(frozen=True, slots=True)
class CalibrationChart:
    """A chart with all positions.

    Parameters
    ----------
    size : Size
        Its size.
    box : Box
        Where the dots are.
    x_ticks, y_ticks : tuple of Tick
        The values that the axes name.
    path : str
        The line through the dots that are not hollow.
    dots : tuple of Dot
        The dots.
    bars : tuple of Bar
        The number of suggestions, below the dots.
    bars_box : Box
        Where the bars are.
    """

    size: Size
    box: Box
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    path: str
    dots: tuple[Dot, ...]
    bars: tuple[Bar, ...]
    bars_box: Box


def calibration_chart(groups: Sequence[SaidAndRight], size: Size = CALIBRATION) -> CalibrationChart:
    """Return a chart of what was said and what was right.

    Parameters
    ----------
    groups : sequence of SaidAndRight
        The suggestions by their probability, in ascending order.
    size : Size
        The size of the chart.
    """
    row = size.font + 4
    left = round(text_width("100 %", size.font) + _GAP)
    right = size.width - round(text_width("100 %", size.font) / 2)
    bottom = size.height - 2 * row - _GAP
    below = Box(left, bottom - _HISTOGRAM, right, bottom)
    box = Box(left, round(0.75 * size.font), right, below.top - _GAP)
    x = Scale(0, 1, box.left, box.right)
    y = Scale(0, 1, box.bottom, box.top)
    dots = [Dot(x(one.said), y(one.share), one.count < FEW) for one in groups]
    solid = [dot for dot in dots if not dot.is_hollow]
    path = "".join(f"{'L' if i else 'M'}{dot.x:g} {dot.y:g}" for i, dot in enumerate(solid))
    return CalibrationChart(
        size,
        box,
        share_ticks(x, 2),
        share_ticks(y, 2),
        path,
        tuple(dots),
        bars([(one.low, one.high, one.count) for one in groups], x, below),
        below,
    )
