"""How much of the texts of an item is shown, if they are long."""

import unicodedata
from collections.abc import Mapping

__all__ = ["shown_lengths"]

MOST_MARKS = 32
"""The number of combining marks that are kept with their letter at the end of a cut text."""

JOINER = "\u200d"


def shown_lengths(texts: Mapping[str, str], limit: int) -> dict[str, int]:
    """Return the number of shown characters per field, at most the limit in all.

    Short fields are shown whole before long ones are; long ones get equal shares. A letter and its
    combining marks, the parts of an emoji and the two characters of an end of line are not
    separated.

    Parameters
    ----------
    texts : mapping of str to str
        The texts by field.
    limit : int
        Maximum number of shown characters of all texts together.
    """
    lengths = {}
    remaining = max(0, limit)
    for done, name in enumerate(sorted(texts, key=lambda name: len(texts[name]))):
        share = min(remaining // (len(texts) - done), len(texts[name]))
        lengths[name] = _cut(texts[name], share)
        remaining -= share
    return lengths


def _cut(text: str, length: int) -> int:
    """Return a length not above the given one at which a text can be cut."""
    for cut in range(length, max(0, length - MOST_MARKS), -1):
        if cut == len(text) or not _joins(text[cut - 1], text[cut]):
            return cut
    return length


def _joins(before: str, character: str) -> bool:
    if before == JOINER or character == JOINER or before + character == "\r\n":
        return True
    return unicodedata.category(character).startswith("M") or "\udc00" <= character <= "\udfff"
