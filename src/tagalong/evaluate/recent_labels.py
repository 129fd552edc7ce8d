"""Which labels the last rows chose, and which were relevant."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.labels import LabelRows

__all__ = ["RecentLabels"]

_HIT, _CHOSEN, _RELEVANT = 0, 1, 2
_FIRST_SIZE = 1024


class RecentLabels:
    """Counts per label over the last rows.

    The native core keeps such counts over all rows only. An entry is a row and a code, three
    times the label plus what happened: a hit, a choice, a relevant label. Entries are kept in
    the order of the rows, so those of the last rows are the tail of an array.

    Parameters
    ----------
    window : int
        How many rows count.
    """

    def __init__(self, window: int):
        self.window = window
        self.row = 0
        self._end = 0
        self._codes = np.empty(_FIRST_SIZE, np.int64)
        self._rows = np.empty(_FIRST_SIZE, np.int64)

    def add(
        self,
        scores: npt.NDArray[Any],
        relevant: LabelRows,
        unknown: LabelRows,
        cutoffs: npt.NDArray[np.float64],
    ) -> None:
        """Count rows of scores, with their labels and cut-offs."""
        rows, labels = scores.shape
        is_chosen = scores >= _in_type_of(scores, cutoffs)[:, None]
        if len(unknown.indices):
            row = _row_numbers(unknown)
            known = unknown.indices < labels
            is_chosen[row[known], unknown.indices[known]] = False
        chosen = np.flatnonzero(is_chosen)
        chosen_row, chosen_label = np.divmod(chosen, max(labels, 1))
        row, label = _row_numbers(relevant), relevant.indices.astype(np.int64)
        scored = np.flatnonzero(label < labels)
        hits = scored[is_chosen[row[scored], label[scored]]]
        codes = [3 * label + _RELEVANT, 3 * label[hits] + _HIT, 3 * chosen_label + _CHOSEN]
        of_row = np.concatenate([row, row[hits], chosen_row])
        order = np.argsort(of_row, kind="stable")
        self._make_room(len(order))
        end = self._end + len(order)
        self._codes[self._end : end] = np.concatenate(codes)[order]
        self._rows[self._end : end] = of_row[order] + self.row
        self._end = end
        self.row += rows

    def counts(self, labels: int, row: int) -> npt.NDArray[np.int64]:
        """Return hits, choices and relevant rows of each label, (labels, 3).

        Parameters
        ----------
        labels : int
            How many labels there are, at least as many as have been met.
        row : int
            Of the rows before this one; at least where the last `add` began.
        """
        start, end = np.searchsorted(self._rows[: self._end], (row - self.window, row))
        return np.bincount(self._codes[start:end], minlength=3 * labels).reshape(labels, 3)

    def entries(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return copies of what still counts: how many rows ago, and the codes."""
        kept = self._kept()
        return self.row - self._rows[kept], self._codes[kept].copy()

    def restore(self, row: int, ago: npt.NDArray[np.int64], codes: npt.NDArray[np.int64]) -> None:
        """Take over what `entries` returned after so many rows, in place of what there is."""
        self.row, self._end = row, 0
        self._make_room(len(codes))
        self._codes[: len(codes)] = codes
        self._rows[: len(codes)] = row - ago
        self._end = len(codes)

    def _kept(self) -> slice:
        rows = self._rows[: self._end]
        return slice(int(np.searchsorted(rows, self.row - self.window)), self._end)

    def _make_room(self, count: int) -> None:
        """Move what still counts to the front; into larger arrays if that is not enough."""
        if self._end + count <= len(self._codes):
            return
        kept = self._kept()
        size = kept.stop - kept.start
        # Twice as large as needed, so that moving costs little on average.
        room = max(len(self._codes), 2 * (size + count))
        codes, rows = np.empty(room, np.int64), np.empty(room, np.int64)
        codes[:size], rows[:size] = self._codes[kept], self._rows[kept]
        self._codes, self._rows, self._end = codes, rows, size


def _row_numbers(rows: LabelRows) -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))


def _in_type_of(
    scores: npt.NDArray[Any], cutoffs: npt.NDArray[np.float64]
) -> npt.NDArray[np.floating[Any]]:
    """Return cut-offs that choose the same scores, as numbers of their type, which is quicker."""
    if scores.dtype != np.float32:
        return cutoffs
    rounded = cutoffs.astype(np.float32)
    return np.where(rounded < cutoffs, np.nextafter(rounded, np.float32(np.inf)), rounded)
