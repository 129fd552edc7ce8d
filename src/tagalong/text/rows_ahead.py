"""Features of items that are read before they are learnt."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagalong import _native as core
from tagalong.learning.examples import SparseRows

__all__ = ["RowsAhead", "RowsAheadPart", "joined_rows"]


class RowsAhead(NamedTuple):
    """The features of some items, and what learning their words has to record.

    Parameters
    ----------
    rows : SparseRows
        One row per item.
    notes : Notes
        The words, to be learnt when the item is.
    """

    rows: SparseRows
    notes: core.Notes


class RowsAheadPart(NamedTuple):
    """Consecutive items among those that were read together.

    Parameters
    ----------
    ahead : RowsAhead
        The items.
    start, stop : int
        The first row, and the row after the last.
    """

    ahead: RowsAhead
    start: int
    stop: int

    def rows(self) -> SparseRows:
        """Return the rows of the part."""
        rows = self.ahead.rows
        ends = rows.indptr[self.start : self.stop + 1]
        entries = slice(ends[0], ends[-1])
        return SparseRows(ends - ends[0], rows.indices[entries], rows.values[entries])

    def learn(self, features: core.TextFeatures) -> None:
        """Learn the words of the part."""
        features.learn_notes(self.ahead.notes, self.start, self.stop)


def joined_rows(parts: Sequence[RowsAheadPart]) -> SparseRows:
    """Return the rows of all parts.

    Parameters
    ----------
    parts : sequence of RowsAheadPart
        The parts, at least one.
    """
    each = [part.rows() for part in parts]
    if len(each) == 1:
        return each[0]
    starts = np.cumsum([0, *(len(rows.indices) for rows in each)])
    indptr = [rows.indptr[:-1] + start for rows, start in zip(each, starts, strict=False)]
    return SparseRows(
        np.concatenate([*indptr, starts[-1:]]),
        np.concatenate([rows.indices for rows in each]),
        np.concatenate([rows.values for rows in each]),
    )
