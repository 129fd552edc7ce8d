"""Names of labels in a form for comparison: without case, accents and separators."""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

__all__ = ["FoldedName", "folded"]

SEPARATORS = dict.fromkeys(map(ord, "_-/.:\0"), " ")


class FoldedName(NamedTuple):
    """A name in the form for comparison.

    Parameters
    ----------
    spaced : str
        Its words with a space between them.
    letters : str
        Its words with nothing between them.
    starts : str
        "1" for each of the letters that begins a word, "0" for the others.
    """

    spaced: str
    letters: str
    starts: str


@lru_cache(maxsize=2**15)
def folded(name: str) -> FoldedName:
    """Return a name in the form for comparison.

    Parameters
    ----------
    name : str
        Any text.

    Examples
    --------
    >>> folded("Reise/Hôtel_Garni")
    FoldedName(spaced='reise hotel garni', letters='reisehotelgarni', starts='100001000010000')
    """
    words = _plain(name).translate(SEPARATORS).split()
    starts = "".join("1" + "0" * (len(word) - 1) for word in words)
    return FoldedName(" ".join(words), "".join(words), starts)


def _plain(name: str) -> str:
    """Return a name in lower case without accents and without characters that cannot be seen."""
    if name.isascii():
        return name.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(c for c in decomposed if unicodedata.category(c) not in ("Mn", "Cf"))
