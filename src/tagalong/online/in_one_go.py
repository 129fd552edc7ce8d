"""Single examples that are learnt one after the other in one call of the native learner."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong.learning.labels import LabelRows, Targets
from tagalong.learning.rounds import Rounds
from tagalong.online.label_ranker.learner import LabelRanker

__all__ = ["watch_in_one_go"]

Parts = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]


def watch_in_one_go(
    learner: LabelRanker,
    rows: Parts,
    targets: Targets,
    weights: npt.NDArray[np.float64] | None,
) -> Rounds:
    """Learn like ``watch_one`` for each row, and return what an observer of the rounds can know.

    Unlike a matrix for ``watch``, the rows have no fixed number of columns, and nothing is noted
    about columns: all is as after so many calls of ``watch_one``, to the bit.

    Parameters
    ----------
    learner : LabelRanker
        One that has begun, with numbers for features.
    rows : (indptr, indices, values)
        The rows in compressed form, their features ascending and valid.
    targets : Targets
        The labels of each row, known or new, none of them of unknown relevance.
    weights : array of shape (rows,), optional
        How much each row counts, all valid; 1 if left out.
    """
    indptr, indices, values = rows
    last = int(indices.max(initial=-1))
    matrix = core.Matrix.csr(values, indices, indptr.astype(np.int32), last + 1)
    learner._labels.extend(targets.new)
    count = len(indptr) - 1
    scores: npt.NDArray[Any] = np.empty(
        (count, len(learner._labels)), dtype=learner._settings["dtype"]
    )
    if targets.new:  # a row says nothing about labels that come later
        scores.fill(-np.inf)
    rounds = Rounds(scores, np.empty(count), targets.relevant, LabelRows.empty(count))
    learner._learn(matrix, targets, weights, rounds)
    return rounds
