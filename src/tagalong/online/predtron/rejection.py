"""The reject option: abstain if a prediction is expected to cost more than REJECT."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.online.native import NativePredtron
from tagalong.online.predtron.python_engine import PythonEngine
from tagalong.problems.binary import Binary

__all__ = ["confidences", "is_rejected"]


def confidences(
    native: NativePredtron | PythonEngine, scores: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Return, per row, how often predictions with such scores were right recently."""
    found = (native.probabilities(np.ascontiguousarray(row)).max() for row in scores)
    return np.fromiter(found, np.float64, count=len(scores))


def is_rejected(
    problem: Any,
    scores: npt.NDArray[Any],
    best: npt.NDArray[np.int64],
    confidence: npt.NDArray[np.float64],
) -> npt.NDArray[np.bool_]:
    """Return the rows for which rejecting is expected to cost less than predicting.

    The result includes the rows that the problem's decoding rejects. There are none if the weights
    started at zero: the updates sum to zero over the classes, so REJECT scores 0, and some class
    scores at least 0.

    Parameters
    ----------
    problem : Binary or Multiclass
        A problem with a reject option.
    scores : array of shape (rows, K)
        The scores of the classes.
    best : array of shape (rows,)
        The class with the highest score.
    confidence : array of shape (rows,)
        The probability that this class is right.
    """
    wide = scores.astype(np.float64)
    score_of_reject = np.add.accumulate(wide, axis=1)[:, -1] / np.sqrt(wide.shape[1])
    if isinstance(problem, Binary) and wide.shape[1] == 2:
        reject = np.broadcast_to(problem.reject, 2)
        other = 1 - best
        predicting = (1 - confidence) * np.take(problem.costs, other)
        rejecting = confidence * reject[best] + (1 - confidence) * reject[other]
    else:
        predicting, rejecting = 1 - confidence, np.full(len(best), problem.reject[0])
    return np.asarray((rejecting < predicting) | (score_of_reject > wide.max(axis=1)))
