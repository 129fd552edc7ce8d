"""Edit distances between a typed text and many names at once.

The distance is the number of characters to insert, delete or replace, or of neighbours to exchange,
where no exchanged character is edited again (optimal string alignment). With a text of m characters
and n names of up to w characters, it takes m steps, each on an array of shape (n, w + 1): column j
of a name is the distance of the text so far to its first j characters. The dependence on the column
before, d[j] = min(d[j], d[j - 1] + 1), is a running minimum of d[j] - j.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong.server.page.folded_names import FoldedName

__all__ = ["MOST_COMPARED", "Distances", "NameTable"]

MOST_COMPARED = 64
"""The number of characters of a text and of a name that are compared; the rest is ignored."""

FAR = 1000
"""A distance above all that can occur."""

Cells: TypeAlias = npt.NDArray[np.int16]


class Distances(NamedTuple):
    """The names that are near a text.

    Parameters
    ----------
    numbers : array of int
        The numbers of the names, ascending.
    nearest : array of int
        The distance of the text to the nearest part of each name that begins with a word.
    whole : array of int
        The distance of the text to each whole name.
    """

    numbers: npt.NDArray[np.intp]
    nearest: Cells
    whole: Cells


class NameTable:
    """Names as arrays.

    Parameters
    ----------
    names : sequence of FoldedName
        The names.
    """

    def __init__(self, names: Sequence[FoldedName]):
        self._codes = _characters([name.letters for name in names])
        self._starts = _characters([name.starts for name in names]) == ord("1")
        self._lengths = np.count_nonzero(self._codes, axis=1)
        bits = np.left_shift(np.uint64(1), self._codes.astype(np.uint64) & np.uint64(63))
        self._sets = np.bitwise_or.reduce(bits, axis=1)

    def near(self, text: str, most: int, only_whole: bool = False) -> Distances:
        """Return the names with at most so many errors.

        Parameters
        ----------
        text : str
            The letters of a folded text.
        most : int
            Maximum distance.
        only_whole : bool
            Whether the distance to the whole name counts, not that to the nearest part.
        """
        codes = _characters([text[:MOST_COMPARED]])[0]
        codes = codes[: np.count_nonzero(codes)]
        possible = self._possible(codes, most)
        longer = self._lengths[possible] - len(codes)
        possible = possible[(longer >= -most) & ((longer <= most) | (not only_whole))]
        distances = self._whole if only_whole else self._nearest
        numbers = possible[distances(codes, possible) <= most]
        return Distances(numbers, self._nearest(codes, numbers), self._whole(codes, numbers))

    def with_all_letters(self, text: str) -> npt.NDArray[np.intp]:
        """Return the numbers of names that may have all letters of a text; no others have.

        Parameters
        ----------
        text : str
            The letters of a folded text.
        """
        return self._possible(_characters([text[:MOST_COMPARED]])[0], 0)

    def _possible(self, codes: npt.NDArray[np.uint32], most: int) -> npt.NDArray[np.intp]:
        """Return the names without too many of a text's letters missing, each of them an error."""
        missing = np.zeros(len(self._sets), np.int16)
        for bit in {int(code) & 63 for code in codes if code}:
            missing += (self._sets & np.uint64(1 << bit)) == 0
        return np.flatnonzero(missing <= most)

    def _nearest(self, codes: npt.NDArray[np.uint32], names: npt.NDArray[np.intp]) -> Cells:
        first = np.full((len(names), self._codes.shape[1] + 1), FAR, np.int16)
        first[:, :-1][self._starts[names]] = 0
        first[:, 0] = 0
        nearest: Cells = _last_row(codes, self._codes[names], first).min(axis=1)
        return nearest

    def _whole(self, codes: npt.NDArray[np.uint32], names: npt.NDArray[np.intp]) -> Cells:
        first = np.full((len(names), self._codes.shape[1] + 1), FAR, np.int16)
        first[:, 0] = 0
        last = _last_row(codes, self._codes[names], first)
        return np.take_along_axis(last, self._lengths[names][:, np.newaxis], axis=1)[:, 0]


def _last_row(text: npt.NDArray[np.uint32], names: npt.NDArray[np.uint32], first: Cells) -> Cells:
    """Return the distances of a text to the beginnings of names, from those of the empty text."""
    columns = np.arange(first.shape[1], dtype=np.int16)
    before = row = _with_deletions(first, columns)
    for at, code in enumerate(text):
        is_same = names == code
        new = row + np.int16(1)
        np.minimum(new[:, 1:], row[:, :-1] + ~is_same, out=new[:, 1:])
        if at > 0:
            is_exchanged = is_same[:, :-1] & (names[:, 1:] == text[at - 1])
            exchanged = np.where(is_exchanged, before[:, :-2] + np.int16(1), np.int16(FAR))
            np.minimum(new[:, 2:], exchanged, out=new[:, 2:])
        before, row = row, _with_deletions(new, columns)
    return row


def _with_deletions(row: Cells, columns: Cells) -> Cells:
    """Return the distances if characters of the names may be left out."""
    found: Cells = np.minimum.accumulate(row - columns, axis=1) + columns
    return found


def _characters(texts: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Return the code points of texts, one row each, with zeros after the last."""
    cut = [text[:MOST_COMPARED] for text in texts]
    width = max(map(len, cut), default=0)
    if width == 0:
        return np.zeros((len(cut), 0), np.uint32)
    return np.array(cut, dtype=f"<U{width}").view("<u4").reshape(len(cut), width)
