"""Bars that stand on a line."""

from collections.abc import Sequence
from dataclasses import dataclass

from tagalong.server.page.charts.layout import Box
from tagalong.server.page.charts.scales import Scale

__all__ = ["Bar", "bars"]

_LEAST_HEIGHT = 1.0
_BETWEEN = 2.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar as it is drawn.

    Parameters
    ----------
    x, y : float
        Its upper left corner.
    width, height : float
        Its size.
    """

    x: float
    y: float
    width: float
    height: float


def bars(groups: Sequence[tuple[float, float, int]], x: Scale, box: Box) -> tuple[Bar, ...]:
    """Return a bar per group that is not empty; the highest one fills the box.

    Parameters
    ----------
    groups : sequence of (float, float, int)
        Where each group begins and ends, and its number.
    x : Scale
        The scale of the ends.
    box : Box
        Where the bars are.
    """
    most = max((count for _, _, count in groups), default=0)
    found = []
    for low, high, count in groups:
        if count <= 0:
            continue
        height = max(_LEAST_HEIGHT, round(box.height * count / most, 1))
        start, end = x(low), x(high)
        width = max(1.0, round(end - start - _BETWEEN, 1))
        found.append(Bar(round(start + _BETWEEN / 2, 1), box.bottom - height, width, height))
    return tuple(found)
