"""Names of labels as short lines of printable text."""

from collections.abc import Hashable

from tagalong.printable import printable

__all__ = ["shortened"]

LONGEST_NAME = 36


def shortened(label: Hashable) -> str:
    """Return a label as a short line of printable text."""
    text = printable(" ".join(str(label).split()))
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
