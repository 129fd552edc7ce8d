"""The most recent rows of a table that grows."""

import numpy as np
import numpy.typing as npt

__all__ = ["RecentRows"]

Table = npt.NDArray[np.int64]


class RecentRows:
    """The last rows of a table of integers, in memory that follows what was seen.

    Parameters
    ----------
    window : int
        Number of rows to keep.
    columns : int
        Number of columns.
    """

    def __init__(self, window: int, columns: int):
        self._window = window
        self._memory = np.zeros((0, columns), np.int64)
        self._start = self._stop = 0

    @property
    def rows(self) -> Table:
        """The rows, the oldest first."""
        return self._memory[self._start : self._stop]

    def append(self, rows: Table) -> Table:
        """Append rows, and return the sum of the rows that left.

        Parameters
        ----------
        rows : array of shape (any number, columns)
            The new rows.
        """
        left = np.zeros(self._memory.shape[1], np.int64)
        if len(rows) > self._window:
            left += rows[: -self._window].sum(axis=0)
            rows = rows[-self._window :]
        surplus = max(0, self._stop - self._start + len(rows) - self._window)
        left += self._memory[self._start : self._start + surplus].sum(axis=0)
        self._start += surplus
        if self._stop + len(rows) > len(self._memory):
            self._make_room(len(rows))
        self._memory[self._stop : self._stop + len(rows)] = rows
        self._stop += len(rows)
        return left

    def _make_room(self, more: int) -> None:
        """Move the rows to the start of a memory of at most twice the size of the window."""
        kept = self.rows
        size = min(2 * self._window, max(2 * (len(kept) + more), 64))
        memory = np.zeros((max(size, len(kept) + more), kept.shape[1]), np.int64)
        memory[: len(kept)] = kept
        self._memory, self._start, self._stop = memory, 0, len(kept)
