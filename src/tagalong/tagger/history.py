"""How often and how recently each label occurred."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import LabelRows

__all__ = ["LabelHistory"]


class LabelHistory:
    """Counts items a label, and remembers the last item of each.

    Parameters
    ----------
    items : int
        How many items there have been.
    count, last : sequence of int
        Items a label, and the number of the last one of them.
    """

    def __init__(self, items: int = 0, count: Sequence[int] = (), last: Sequence[int] = ()):
        if len(count) != len(last):
            raise ValueError("counts and last items must be of the same labels")
        self.items = items
        self.count = np.array(count, dtype=np.int64)
        self.last = np.array(last, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.count)

    def note(self, labels: int, relevant: Sequence[int]) -> None:
        """Count one more item.

        Parameters
        ----------
        labels : int
            How many labels there are by now.
        relevant : sequence of int
            The numbers of the item's labels.
        """
        self.reach(labels)
        self.items += 1
        for label in relevant:
            self.count[label] += 1
            self.last[label] = self.items

    def note_rows(self, labels: int, relevant: LabelRows) -> None:
        """Count more items, one after the other.

        Parameters
        ----------
        labels : int
            How many labels there are by now.
        relevant : LabelRows
            The numbers of each item's labels.
        """
        self.reach(labels)
        rows = len(relevant.indptr) - 1
        numbers = np.repeat(np.arange(1, rows + 1), np.diff(relevant.indptr)) + self.items
        np.add.at(self.count, relevant.indices, 1)
        np.maximum.at(self.last, relevant.indices, numbers)
        self.items += rows

    def reach(self, labels: int) -> None:
        """Make room for new labels."""
        more = labels - len(self)
        if more > 0:
            self.count = np.concatenate([self.count, np.zeros(more, np.int64)])
            self.last = np.concatenate([self.last, np.zeros(more, np.int64)])

    def uncount(self, relevant: Sequence[int]) -> None:
        """Take back that an item had some labels."""
        for label in relevant:
            self.count[label] = max(0, self.count[label] - 1)

    def drop(self, label: int) -> None:
        """Forget a label; those after it move up."""
        self.count = np.delete(self.count, label)
        self.last = np.delete(self.last, label)

    def merge(self, labels: Sequence[int]) -> None:
        """Make the first of some labels all of them together."""
        first, *others = labels
        self.count[first] = self.count[labels].sum()
        self.last[first] = self.last[labels].max()
        self.count = np.delete(self.count, others)
        self.last = np.delete(self.last, others)

    def best(self, scores: npt.NDArray[Any], k: int | None) -> list[int]:
        """Return the k best labels; equal scores go to the frequent, then to the recent."""
        among = np.arange(len(scores))
        if k is not None and 0 < k < len(scores):  # most labels need not be sorted
            among = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
        order = np.lexsort((-self.last[among], -self.count[among], -scores[among]))
        found: list[int] = among[order[:k]].tolist()
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what the constructor takes."""
        return {"items": self.items, "count": self.count.tolist(), "last": self.last.tolist()}
