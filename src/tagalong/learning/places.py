"""The first places of rankings, and how far each of them can be trusted."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters

__all__ = ["PLACES_JUDGED", "Covered", "Places", "TieOrder", "answers_counted"]

TieOrder: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Per label, its number of items and the number of its last item. Of labels with equal scores,
frequent ones come first, then those of later items."""

PLACES_JUDGED = 10
"""Number of places whose confidence is learnt; labels further down are never sure."""

LARGEST_SAMPLE = 1000.0


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

    @classmethod
    def from_native(cls, arrays: core.PlaceArrays) -> "Places":
        """Return the arrays that a native learner has written."""
        return cls(**arrays.take())

    def to_native(self) -> core.PlaceArrays:
        """Return a copy in the form of the native learners."""
        arrays = core.PlaceArrays(*self.labels.shape)
        arrays.fill(
            labels=np.ascontiguousarray(self.labels, np.int32),
            scores=np.ascontiguousarray(self.scores, np.float64),
            probabilities=np.ascontiguousarray(self.probabilities, np.float64),
            assured=np.ascontiguousarray(self.assured, np.float64),
            chosen=np.ascontiguousarray(self.chosen, np.bool_),
            whole=np.ascontiguousarray(self.whole, np.float64),
            known=np.ascontiguousarray(self.known, np.int32),
            in_runs=np.ascontiguousarray(self.in_runs, np.bool_),
        )
        return arrays

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: slice) -> "Places":
        """Return some of the rows."""
        return Places(*(getattr(self, name)[rows] for name in self.__slots__))

    def probability_matrix(self, labels: int) -> npt.NDArray[np.float64]:
        """Return the probabilities as a matrix with a column per label; 0 for labels not ranked.

        Parameters
        ----------
        labels : int
            Number of labels.
        """
        found = np.zeros((len(self), labels))
        rows, places = np.nonzero(self.labels >= 0)
        found[rows, self.labels[rows, places]] = self.probabilities[rows, places]
        return found


class Covered(NamedTuple):
    """How much can be filed without asking at a target.

    Parameters
    ----------
    target : float
        The precision that was asked for.
    share : float
        Share of the recent items whose first suggestion was sure.
    precision : float
        Share of these that was right; NaN if there were none.
    answers : float
        How many answers the precision was measured on, old ones counting less.
    """

    target: float
    share: float
    precision: float
    answers: float


def answers_counted(judged: bool | float) -> float:
    """Return how many answers a round counts for when confidence is learnt.

    Parameters
    ----------
    judged : bool or float
        True for an answer by itself, False for none; or the number of items, at least 1, that an
        answer of a random sample stands for.
    """
    if isinstance(judged, (bool, np.bool_)):
        return float(judged)
    number = parameters.real(judged, "judged")
    if not 1 <= number <= LARGEST_SAMPLE:
        raise ValueError(
            f"judged must be True, False or a number from 1 to {LARGEST_SAMPLE:g}, got {judged!r}"
        )
    return number
