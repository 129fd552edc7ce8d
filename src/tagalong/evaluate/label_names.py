"""Names of labels as short lines of printable text."""

from collections.abc import Hashable

__all__ = ["shortened"]

LONGEST_NAME = 36


def shortened(label: Hashable) -> str:
    """Return a label as a short line of printable text."""
    text = " ".join(str(label).encode(errors="replace").decode().split())
    text = "".join(letter if letter.isprintable() else "�" for letter in text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
