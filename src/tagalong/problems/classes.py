"""Functions of the problems with classes.

Class i is represented by the unit vector e_i, and REJECT by the normalised sum of all e_i.
"""

import numpy as np

from tagalong.problems.protocol import Vector
from tagalong.problems.reject import REJECT, ClassPrediction, Reject

__all__ = ["decode_class", "known_dimension", "represent_class", "worst_class"]


def known_dimension(dimension: int | None) -> int:
    """Return the number of scores; raise ValueError if it is not known yet."""
    if dimension is None:
        raise ValueError("the number of classes is not known yet: set dimension of the problem")
    return dimension


def represent_class(prediction: ClassPrediction, dimension: int) -> Vector:
    """Return e_i for class i, or the normalised sum of all e_i for REJECT."""
    if isinstance(prediction, Reject):
        return np.full(dimension, 1 / np.sqrt(dimension))
    out = np.zeros(dimension)
    out[prediction] = 1.0
    return out


def decode_class(scores: Vector, losses: Vector, reject: float | None) -> ClassPrediction:
    """Return the class with the largest sum of loss and score, or REJECT if its sum is larger.

    Parameters
    ----------
    scores : array of shape (m,)
        Scores of the classes.
    losses : array of shape (m,)
        Loss of each class.
    reject : float or None
        Loss of REJECT; None if it cannot be predicted.
    """
    sums = losses + scores
    best = int(np.argmax(sums))
    if reject is None:
        return best
    return REJECT if reject + _reject_score(scores) > sums[best] else best


def worst_class(scores: Vector, losses: Vector, reject: float | None) -> ClassPrediction:
    """Return the prediction with the largest loss among those with the highest score.

    Parameters
    ----------
    scores : array of shape (m,)
        Scores of the classes.
    losses : array of shape (m,)
        Loss of each class.
    reject : float or None
        Loss of REJECT; None if it cannot be predicted.
    """
    top = float(scores.max())
    best = int(np.argmax(np.where(scores == top, losses, -1.0)))
    if reject is None:
        return best
    reject_score = _reject_score(scores)
    if reject_score > top or (reject_score == top and reject > losses[best]):
        return REJECT
    return best


def _reject_score(scores: Vector) -> float:
    # Sums in order, as the native core does: np.sum would differ in the last bits.
    return float(float(np.add.accumulate(scores)[-1]) / np.sqrt(len(scores)))
