"""Counts of single labels: how often each was suggested first, and how often it was sure."""

import numpy as np
import numpy.typing as npt

__all__ = ["LABEL_COLUMNS", "checked_table", "macro_recall"]

LABEL_COLUMNS = ("answered", "suggested", "suggested_right", "marked", "marked_right")
"""The counts of a label: items with it and a first suggestion; items for which it was suggested
first; those among them where it was right; items in which it was sure at 95 %; those where it was
right."""

Table = npt.NDArray[np.int64]


def checked_table(state: npt.ArrayLike) -> Table:
    """Return saved counts; ValueError if they are not valid.

    Parameters
    ----------
    state : array of shape (labels, 5)
        The columns ``LABEL_COLUMNS`` of each label.
    """
    table = np.array(state, np.int64)
    if table.ndim != 2 or table.shape[1] != len(LABEL_COLUMNS) or (table < 0).any():
        raise ValueError(
            f"label_answers must have {len(LABEL_COLUMNS)} columns of numbers from 0, got "
            f"shape {table.shape}"
        )
    return table


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
