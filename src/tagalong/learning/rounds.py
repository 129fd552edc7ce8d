"""What an observer of learning can know about its rounds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import LabelRows

__all__ = ["QueryRound", "Round", "Rounds"]


@dataclass(frozen=True, slots=True)
class Round:
    """One round: what was predicted, and the labels that turned out to be right.

    Parameters
    ----------
    scores : array of shape (K,)
        Of all labels, before the round; -infinity for labels that came with it.
    cutoff : float
        The score from which ``predict`` would have included a label.
    relevant, unknown : list of int
        The numbers of the round's labels.
    shown : list of int, optional
        The numbers of the labels that were shown, in order, if the learner shows lists.
    """

    scores: npt.NDArray[Any]
    cutoff: float
    relevant: list[int]
    unknown: list[int]
    shown: list[int] | None = None


@dataclass(frozen=True, slots=True)
class Rounds:
    """A batch of rounds, in order.

    Parameters
    ----------
    scores : array of shape (rows, K)
        Before each round; -infinity for labels that did not exist yet.
    cutoffs : array of shape (rows,)
        Before each round.
    relevant, unknown : LabelRows
        The numbers of each round's labels.
    """

    scores: npt.NDArray[Any]
    cutoffs: npt.NDArray[np.float64]
    relevant: LabelRows
    unknown: LabelRows


@dataclass(frozen=True, slots=True)
class QueryRound:
    """One query: what its documents scored before it was learnt, and their grades.

    Parameters
    ----------
    scores : array of shape (documents,)
        Before the round.
    grades : array of shape (documents,)
        How relevant they turned out to be.
    """

    scores: npt.NDArray[Any]
    grades: npt.NDArray[np.float64]
