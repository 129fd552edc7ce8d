"""Frequency and last occurrence of each label."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.learning.labels import LabelRows

__all__ = ["LabelHistory"]


class LabelHistory:
    """Number of items per label, and the last item of each label.

    Parameters
    ----------
    items : int
        Number of items so far.
    count, last : sequence of int
        For each label the number of its items, and the number of its last item.
    """

    def __init__(self, items: int = 0, count: Sequence[int] = (), last: Sequence[int] = ()):
        if len(count) != len(last):
            raise ValueError(
                f"count and last must have the same length, got {len(count)} and {len(last)}"
            )
        self.items = parameters.integer(items, "items", 0, 2**62)
        self.count = _counts(count, "count", 2**62)
        self.last = _counts(last, "last", self.items)

    def __len__(self) -> int:
        return len(self.count)

    def note(self, labels: int, relevant: Sequence[int]) -> None:
        """Count one more item.

        Parameters
        ----------
        labels : int
            Number of labels so far, including those of the item.
        relevant : sequence of int
            Numbers of the labels of the item.
        """
        self.extend_to(labels)
        self.items += 1
        for label in relevant:
            self.count[label] += 1
            self.last[label] = self.items

    def note_rows(self, labels: int, relevant: LabelRows) -> None:
        """Count several items.

        Parameters
        ----------
        labels : int
            Number of labels so far, including those of the items.
        relevant : LabelRows
            Numbers of the labels of each item.
        """
        self.extend_to(labels)
        rows = len(relevant.indptr) - 1
        numbers = np.repeat(np.arange(1, rows + 1), np.diff(relevant.indptr)) + self.items
        np.add.at(self.count, relevant.indices, 1)
        np.maximum.at(self.last, relevant.indices, numbers)
        self.items += rows

    def extend_to(self, labels: int) -> None:
        """Add new labels with count 0, up to a total number of labels."""
        missing = labels - len(self)
        if missing > 0:
            self.count = np.concatenate([self.count, np.zeros(missing, np.int64)])
            self.last = np.concatenate([self.last, np.zeros(missing, np.int64)])

    def recount(self, labels: int, before: Sequence[int], now: Sequence[int]) -> None:
        """Correct the labels of an item: as if it had been counted with the new ones only.

        Parameters
        ----------
        labels : int
            Number of labels so far, including those of the item.
        before, now : sequence of int
            Numbers of the wrong labels, and of the right ones.
        """
        self.note(labels, now)
        for label in before:
            self.count[label] = max(0, self.count[label] - 1)

    def drop(self, label: int) -> None:
        """Remove a label; the numbers of later labels decrease by one."""
        self.count = np.delete(self.count, label)
        self.last = np.delete(self.last, label)

    def merge(self, labels: Sequence[int]) -> None:
        """Merge labels into the first of them and remove the others."""
        first, *others = labels
        self.count[first] = self.count[labels].sum()
        self.last[first] = self.last[labels].max()
        self.count = np.delete(self.count, others)
        self.last = np.delete(self.last, others)

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of the constructor as JSON values."""
        return {"items": self.items, "count": self.count.tolist(), "last": self.last.tolist()}


def _counts(values: Sequence[int], name: str, most: int) -> npt.NDArray[np.int64]:
    return np.array([parameters.integer(value, name, 0, most) for value in values], dtype=np.int64)
