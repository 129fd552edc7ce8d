"""Sizes of charts, the space that texts need, and labels that keep apart."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["NARROW", "WIDE", "Box", "Size", "kept_apart", "text_width"]

# Mean width of a digit or letter of the usual fonts, as a part of the size of the font.
_LETTER = 0.58


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a chart in units of its own, which are pixels if it is not scaled.

    Parameters
    ----------
    width, height : int
        The size of the whole chart.
    font : int
        The size of its texts.
    is_narrow : bool
        Whether there is little room: texts are short, axes name few values.
    """

    width: int
    height: int
    font: int
    is_narrow: bool = False


WIDE = Size(680, 260, 14)
NARROW = Size(340, 240, 13, is_narrow=True)


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle of a chart in which the values are.

    Parameters
    ----------
    left, top, right, bottom : float
        Its sides.
    """

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """The distance of the sides."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The distance of top and bottom."""
        return self.bottom - self.top


def text_width(text: str, font: int) -> float:
    """Return about how wide a text of digits and letters is.

    Parameters
    ----------
    text : str
        The text.
    font : int
        The size of its font.
    """
    return _LETTER * font * len(text)


def kept_apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near those that are wanted, in the same order, that keep a distance.

    If there is not enough room for the distance, they share the room equally.

    Parameters
    ----------
    wanted : sequence of float
        The positions.
    gap : float
        The least distance of two positions.
    low, high : float
        The room: no position is outside.
    """
    count = len(wanted)
    if count > 1:
        gap = min(gap, (high - low) / (count - 1))
    order = sorted(range(count), key=lambda one: wanted[one])
    found = [0.0] * count
    before = low - gap
    for one in order:  # downwards, each as close to its place as those above allow
        before = found[one] = max(wanted[one], before + gap, low)
    after = high + gap
    for one in reversed(order):  # upwards, away from the end of the room
        after = found[one] = min(found[one], after - gap)
    return [round(min(max(position, low), high), 1) for position in found]
