"""Counts of single labels: how often each was suggested first, and how often it was sure."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.answers import TARGETS
from tagalong.evaluate.judged_rows import JudgedRows

__all__ = ["LABEL_COLUMNS", "SURE_TARGET", "LabelCounts", "macro_recall"]

LABEL_COLUMNS = ("answered", "suggested", "suggested_right", "marked", "marked_right")
"""The counts of a label: items with it and a first suggestion; items for which it was suggested
first; those among them where it was right; items in which it was sure at 95 %; those where it was
right."""

SURE_TARGET = TARGETS[1]

Table = npt.NDArray[np.int64]


class LabelCounts:
    """Counts for each label the columns ``LABEL_COLUMNS``."""

    def __init__(self) -> None:
        self._table = np.zeros((0, len(LABEL_COLUMNS)), np.int64)

    def add(self, rows: JudgedRows) -> None:
        """Count rows.

        Parameters
        ----------
        rows : JudgedRows
            The rows.
        """
        suggested = rows.counts[:, 0]
        first, first_right = rows.labels[:, 0], suggested & rows.right[:, 0]
        marked = (rows.assured >= SURE_TARGET) & rows.counts & rows.has_confidence[:, np.newaxis]
        answered = np.repeat(suggested, rows.relevant_counts)
        parts: tuple[npt.NDArray[Any], ...] = (
            rows.relevant.indices[answered],
            first[suggested],
            first[first_right],
            rows.labels[marked],
            rows.labels[marked & rows.right],
        )
        count = max((int(part.max()) + 1 for part in parts if len(part)), default=0)
        self.extend_to(count)
        for column, part in enumerate(parts):
            if len(part):
                self._table[:, column] += np.bincount(part, minlength=len(self._table))

    def extend_to(self, labels: int) -> None:
        """Make room for a number of labels."""
        if labels > len(self._table):
            more = np.zeros((labels - len(self._table), len(LABEL_COLUMNS)), np.int64)
            self._table = np.vstack([self._table, more])

    def table(self, labels: int) -> Table:
        """Return the counts, one row per label.

        Parameters
        ----------
        labels : int
            Number of labels, at least the number of those that were counted.
        """
        found = np.zeros((labels, len(LABEL_COLUMNS)), np.int64)
        found[: len(self._table)] = self._table
        return found

    def __len__(self) -> int:
        return len(self._table)

    def state(self) -> Table:
        """Return the state as an array."""
        return self._table.copy()

    def restore(self, state: npt.ArrayLike) -> None:
        """Replace the state by one that ``state`` returned."""
        table = np.array(state, np.int64)
        if table.ndim != 2 or table.shape[1] != len(LABEL_COLUMNS) or (table < 0).any():
            raise ValueError(
                f"label_answers must have {len(LABEL_COLUMNS)} columns of numbers from 0, got "
                f"shape {table.shape}"
            )
        self._table = table


def macro_recall(items: Table, right: Table) -> float:
    """Return the mean over the labels of the share of their items with a right suggestion.

    Parameters
    ----------
    items : array of shape (labels,)
        Number of items with each label.
    right : array of shape (labels,)
        Number of these items for which the label was suggested first.
    """
    occurs = items > 0
    return float(np.mean(right[occurs] / items[occurs])) if occurs.any() else float("nan")
