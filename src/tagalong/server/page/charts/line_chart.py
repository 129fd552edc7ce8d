"""Lines of shares over the number of answers, each named at its end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tagalong.server.page.charts.layout import Box, Size, kept_apart, text_width
from tagalong.server.page.charts.scales import Scale, Tick, count_ticks, share_ticks

__all__ = ["Line", "LineChart", "Mark", "PlacedMark", "Series", "line_chart"]

_GAP = 8


@dataclass(frozen=True, slots=True)
class Series:
    """A line to draw.

    Parameters
    ----------
    name, short : str
        What stands at its end, in a wide and in a narrow chart.
    values : sequence of float
        Shares from 0 to 1 at each point; NaN where there is none.
    """

    name: str
    short: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A number of answers that is marked.

    Parameters
    ----------
    at : float
        The number of answers.
    text, short : str
        What happened there, for a wide and for a narrow chart.
    kind : str
        The class of its line: "start" or "change".
    """

    at: float
    text: str
    short: str
    kind: str = "start"


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is drawn.

    Parameters
    ----------
    path : str
        The path of the SVG.
    end : tuple of float
        Its last point.
    text : str
        Its name.
    text_y : float
        The height of the name.
    """

    path: str
    end: tuple[float, float]
    text: str
    text_y: float


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark as it is drawn: a vertical line, and a text above the chart in a row of its own.

    Parameters
    ----------
    x, text_x, text_y : float
        Where the line and its text are.
    anchor : str
        Which end of the text is there: "start" or "end".
    text, kind : str
        As for `Mark`.
    """

    x: float
    text_x: float
    text_y: float
    anchor: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """A chart with all positions.

    Parameters
    ----------
    size : Size
        Its size.
    box : Box
        Where the values are.
    x_ticks, y_ticks : tuple of Tick
        The values that the axes name.
    lines : tuple of Line
        The lines.
    marks : tuple of PlacedMark
        The marks.
    """

    size: Size
    box: Box
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    marks: tuple[PlacedMark, ...]


def line_chart(
    at: Sequence[float], series: Sequence[Series], marks: Sequence[Mark], size: Size
) -> LineChart:
    """Return a chart of shares. Lines without any value are left out.

    Parameters
    ----------
    at : sequence of float
        The numbers of answers at the points, in ascending order.
    series : sequence of Series
        The lines.
    marks : sequence of Mark
        What is marked.
    size : Size
        The size of the chart.
    """
    drawn = [one for one in series if any(math.isfinite(value) for value in one.values)]
    names = [one.short if size.is_narrow else one.name for one in drawn]
    row = size.font + 4
    box = Box(
        left=round(text_width("100 %", size.font) + _GAP),
        top=round(0.75 * size.font) + row * len(marks),
        right=size.width
        - round(max([text_width(name, size.font) for name in names], default=0.0))
        - 12,
        bottom=size.height - row - _GAP,
    )
    x = Scale(0, max(at, default=1), box.left, box.right)
    y = Scale(0, 1, box.bottom, box.top)
    ends = [_last_point(at, one.values, x, y) for one in drawn]
    heights = kept_apart([end[1] for end in ends], row - 1, box.top, box.bottom)
    lines = [
        Line(_path(at, one.values, x, y), end, name, height)
        for one, end, name, height in zip(drawn, ends, names, heights, strict=True)
    ]
    return LineChart(
        size,
        box,
        count_ticks(x, 4 if size.is_narrow else 6),
        share_ticks(y, 2 if size.is_narrow else 4),
        tuple(lines),
        tuple(
            _placed(mark, row * number + size.font, x, size) for number, mark in enumerate(marks)
        ),
    )


def _path(at: Sequence[float], values: Sequence[float], x: Scale, y: Scale) -> str:
    """Return the path through the points; it is interrupted where a value is missing."""
    parts = []
    is_drawing = False
    for where, value in zip(at, values, strict=True):
        if math.isfinite(value):
            parts.append(f"{'L' if is_drawing else 'M'}{x(where):g} {y(value):g}")
        is_drawing = math.isfinite(value)
    return "".join(parts)


def _last_point(
    at: Sequence[float], values: Sequence[float], x: Scale, y: Scale
) -> tuple[float, float]:
    where, value = next(
        (where, value)
        for where, value in zip(reversed(at), reversed(values), strict=True)
        if math.isfinite(value)
    )
    return x(where), y(value)


def _placed(mark: Mark, height: float, x: Scale, size: Size) -> PlacedMark:
    text = mark.short if size.is_narrow else mark.text
    position, width = x(mark.at), text_width(text, size.font)
    if position + 4 + width <= size.width:
        return PlacedMark(position, position + 4, height, "start", text, mark.kind)
    return PlacedMark(position, max(position - 4, width), height, "end", text, mark.kind)
