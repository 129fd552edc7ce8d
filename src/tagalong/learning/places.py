"""The first places of rankings, and how far each of them can be trusted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["PLACES_JUDGED", "Places"]

PLACES_JUDGED = 10
"""Number of places whose confidence is learnt; labels further down are never sure."""


@dataclass(frozen=True, slots=True)
class Places:
    """The labels in the first k places of rankings, one ranking per row.

    Parameters
    ----------
    labels : array of int32 of shape (rows, k)
        The numbers of the labels, best first; -1 where a row has fewer labels.
    scores : array of shape (rows, k)
        Their scores.
    probabilities : array of shape (rows, k)
        The chance that each label is right; 0 where there is no label.
    assured : array of shape (rows, k)
        The highest precision that can be required of a label so that it is still marked sure; 0 if
        it is not marked at any. A label is sure at a target if this is at least the target.
    chosen : array of bool of shape (rows, k)
        Whether the label belongs to the answer: the best label of learners with one label per
        item, the labels that reach the cut-off otherwise.
    whole : array of shape (rows,)
        The chance that the chosen labels are exactly the right ones.
    known : array of int32 of shape (rows,)
        The number of features of the row that have weights.
    in_runs : array of bool of shape (rows,)
        Whether the labels came in runs far beyond chance at that time; then no label is sure.
    """

    labels: npt.NDArray[np.int32]
    scores: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64]
    assured: npt.NDArray[np.float64]
    chosen: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.float64]
    known: npt.NDArray[np.int32]
    in_runs: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: slice) -> "Places":
        """Return some of the rows."""
        return Places(*(getattr(self, name)[rows] for name in self.__slots__))
