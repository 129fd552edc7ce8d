"""Records of learning rounds: the prediction before learning, and the true labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import LabelRows
from tagalong.learning.places import Places

__all__ = ["QueryRound", "Round", "Rounds"]


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the prediction before learning, and the labels of the example.

    Parameters
    ----------
    scores : array of shape (K,)
        Scores of all labels before the round; -infinity for labels that are new in it.
    cutoff : float
        The lowest score at which ``predict`` would have included a label.
    relevant, unknown : list of int
        The numbers of the relevant labels, and of those with unknown relevance.
    shown : list of int, optional
        If the learner shows lists: the numbers of the labels shown, in order.
    places : Places, optional
        The first places before the round, as a single row; None if the round was not judged or the
        learner has no confidence.
    """

    scores: npt.NDArray[Any]
    cutoff: float
    relevant: list[int]
    unknown: list[int]
    shown: list[int] | None = None
    places: Places | None = None


@dataclass(frozen=True, slots=True)
class Rounds:
    """A batch of rounds, in order.

    Parameters
    ----------
    scores : array of shape (rows, K)
        Scores before each round; -infinity for labels that did not exist yet.
    cutoffs : array of shape (rows,)
        The cut-off before each round.
    relevant, unknown : LabelRows
        Per round, the numbers of the relevant labels, and of those with unknown relevance.
    places : Places, optional
        The first places before each round; None if the rounds were not judged or the learner has
        no confidence.
    """

    scores: npt.NDArray[Any]
    cutoffs: npt.NDArray[np.float64]
    relevant: LabelRows
    unknown: LabelRows
    places: Places | None = None


@dataclass(frozen=True, slots=True)
class QueryRound:
    """One query: the scores of its documents before learning, and their grades.

    Parameters
    ----------
    scores : array of shape (documents,)
        Scores before the round.
    grades : array of shape (documents,)
        The true relevance of each document.
    """

    scores: npt.NDArray[Any]
    grades: npt.NDArray[np.float64]
