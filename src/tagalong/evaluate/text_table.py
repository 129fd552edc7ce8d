"""Tables of aligned columns."""

import math
from collections.abc import Sequence

__all__ = ["aligned", "percent", "plural"]


def aligned(rows: Sequence[Sequence[str]], texts: int = 1) -> list[str]:
    """Return the lines of a table.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells, headings first.
    texts : int, default 1
        Number of columns, from the left, that are aligned to the left; the others are numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, or a dash for NaN.

    Parameters
    ----------
    share : float
        The share, from 0 to 1.
    digits : int, default 1
        Number of digits after the point.
    """
    return "–" if math.isnan(share) else f"{100 * share:.{digits}f} %"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
