"""When not to predict: where a mistake would cost more, going by what was right lately."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.online.native import NativeRanker
from tagalong.problems.binary import Binary

__all__ = ["confidences", "is_rejected"]


def confidences(native: NativeRanker, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return how often the best label of rows with such scores has been right lately."""
    found = (native.probabilities(np.ascontiguousarray(row)).max() for row in scores)
    return np.fromiter(found, np.float64, count=len(scores))


def is_rejected(
    problem: Any,
    scores: npt.NDArray[Any],
    best: npt.NDArray[np.int64],
    right: npt.NDArray[np.float64],
) -> npt.NDArray[np.bool_]:
    """Return where it costs less not to predict, on average over rounds with such scores.

    The problem's own decoding has a say too, but from zero weights it never rejects: the updates
    sum to zero over the classes, so REJECT scores 0, and some class no less.

    Parameters
    ----------
    problem : Binary or Multiclass
        With a reject option.
    scores : array of shape (rows, K)
        Of the classes.
    best : array of shape (rows,)
        The class that would be predicted.
    right : array of shape (rows,)
        How likely it is right.
    """
    wide = scores.astype(np.float64)
    together = np.add.accumulate(wide, axis=1)[:, -1] / np.sqrt(wide.shape[1])
    if isinstance(problem, Binary) and wide.shape[1] == 2:
        reject = np.broadcast_to(problem.reject, 2)
        other = 1 - best
        wrong = (1 - right) * np.take(problem.costs, other)
        none = right * reject[best] + (1 - right) * reject[other]
    else:
        wrong, none = 1 - right, np.full(len(best), problem.reject[0])
    return np.asarray((none < wrong) | (together > wide.max(axis=1)))
