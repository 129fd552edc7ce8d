"""What problems with classes share: class i is e_i, REJECT their sum over its length."""

from typing import Any

import numpy as np

from tagalong.problems.protocol import Vector
from tagalong.problems.reject import REJECT

__all__ = ["decode_class", "known_dimension", "represent_class", "worst_class"]


def known_dimension(dimension: int | None) -> int:
    """Return the number of scores, which the data must have told."""
    if dimension is None:
        raise ValueError("the number of classes is not known yet: give the problem its dimension")
    return dimension


def represent_class(prediction: Any, dimension: int) -> Vector:
    """Return e_i, or the direction of all of them together."""
    if prediction is REJECT:
        return np.full(dimension, 1 / np.sqrt(dimension))
    out = np.zeros(dimension)
    out[prediction] = 1.0
    return out


def decode_class(scores: Vector, losses: Vector, reject: float | None) -> Any:
    """Return the class with the largest loss plus score; REJECT if it has more.

    Parameters
    ----------
    scores : array of shape (m,)
        Of the classes.
    losses : array of shape (m,)
        What is added to them.
    reject : float or None
        What is added for REJECT; None if it cannot be predicted.
    """
    worth = losses + scores
    best = int(np.argmax(worth))
    if reject is None:
        return best
    # Term by term, as the native core sums.
    together = float(np.add.accumulate(scores)[-1]) / np.sqrt(len(scores))
    return REJECT if reject + together > worth[best] else best


def worst_class(scores: Vector, losses: Vector, reject: float | None) -> Any:
    """Return the prediction that loses most among those that score best.

    Parameters
    ----------
    scores : array of shape (m,)
        Of the classes.
    losses : array of shape (m,)
        What each would lose.
    reject : float or None
        What REJECT would lose; None if it cannot be predicted.
    """
    top = float(scores.max())
    best = int(np.argmax(np.where(scores == top, losses, -1.0)))
    if reject is None:
        return best
    together = float(np.add.accumulate(scores)[-1]) / np.sqrt(len(scores))
    if together > top or (together == top and reject > losses[best]):
        return REJECT
    return best
