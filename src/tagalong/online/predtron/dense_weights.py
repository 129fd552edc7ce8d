"""Dense weights that are a function of dual variables: for the trace norm and custom norms."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from tagalong.learning.examples import Pair
from tagalong.norms.protocol import Matrix

__all__ = ["DenseWeights", "Link", "link_exponent", "schatten_weights"]

Link: TypeAlias = Callable[[Matrix], Matrix]


def link_exponent(p: float) -> float:
    """Return s = log p, the dual exponent of r = s/(s - 1); at least 2."""
    return max(2.0, float(np.log(p)))


def schatten_weights(theta: Matrix, s: float) -> Matrix:
    r"""Return the gradient of half the squared Schatten s-norm.

    It maps the singular values :math:`\sigma_i` to
    :math:`\sigma_i (\sigma_i / |\sigma|_s)^{s - 2}` and keeps the singular vectors.
    """
    if not theta.any():
        return np.zeros_like(theta)
    left, values, right = np.linalg.svd(theta, full_matrices=False)
    largest = values[0]
    norm = largest * float(((values / largest) ** s).sum()) ** (1 / s)
    return np.asarray((left * (values * (values / norm) ** (s - 2))) @ right)


class WeightState(NamedTuple):
    """Dual variables, their weights, and the sum of the weights after each of the first rounds."""

    theta: Matrix
    weights: Matrix
    sums: Matrix
    summed_rounds: int


class DenseWeights:
    """Weights and the dual variables that determine them; the link is computed once per step.

    Parameters
    ----------
    features : int
        The number of columns, including a constant feature, which is the last one.
    averaged : bool
        Whether predictions use the mean of the weights over the rounds.
    """

    def __init__(self, features: int, averaged: bool):
        empty = np.zeros((0, features))
        self._averaged = averaged
        # Assigned as a whole, never changed in place: another thread reads the old or the new one.
        self.state = WeightState(empty, empty, empty, 0)

    @property
    def scores(self) -> int:
        """The number of rows."""
        return len(self.state.theta)

    @property
    def nbytes(self) -> int:
        """The memory used by the weights, in bytes."""
        return (3 if self._averaged else 2) * self.state.theta.nbytes

    def grow_to(self, scores: int) -> None:
        """Add zero rows until there is one row per score."""
        missing = scores - self.scores
        if missing > 0:
            theta, weights, sums, rounds = self.state
            grown = [np.pad(each, ((0, missing), (0, 0))) for each in (theta, weights, sums)]
            self.state = WeightState(grown[0], grown[1], grown[2], rounds)

    def score(self, x: Pair, rounds: int | None) -> Matrix:
        """Return the scores of an example.

        Parameters
        ----------
        x : (features, values)
            The example.
        rounds : int or None
            The rounds so far, for the scores of the mean weights; None for the current weights.
        """
        features, values = x
        state = self.state
        scores = state.weights[:, features] @ values
        if self._averaged and rounds:
            sums = state.sums[:, features] @ values + (rounds - state.summed_rounds) * scores
            return np.asarray(sums / rounds)
        return np.asarray(scores)

    def matrix(self, rounds: int) -> Matrix:
        """Return the weights for predictions after so many rounds."""
        state = self.state
        if not self._averaged or not rounds:
            return state.weights
        return (state.sums + (rounds - state.summed_rounds) * state.weights) / rounds

    def move(self, x: Pair, direction: Matrix, link: Link, rounds_before: int) -> None:
        """Add the outer product of direction and example to the dual variables.

        Parameters
        ----------
        x : (features, values)
            The example.
        direction : array
            One number per score.
        link : callable
            Returns the weights of dual variables.
        rounds_before : int
            The number of rounds before this one.
        """
        state = self.state
        theta = state.theta.copy()
        theta[:, x[0]] += np.outer(direction, x[1])
        sums = state.sums
        if self._averaged:
            sums = sums + (rounds_before - state.summed_rounds) * state.weights
        self.state = WeightState(theta, self._checked(link(theta.copy())), sums, rounds_before)

    def _checked(self, weights: Matrix) -> Matrix:
        found = np.asarray(weights, dtype=np.float64)
        if found.shape != self.state.theta.shape or not np.isfinite(found).all():
            raise ValueError(
                f"weights of the norm must return finite numbers of shape {self.state.theta.shape}"
                f", got shape {found.shape}; tagalong.norms.check_norm tests a norm"
            )
        return found
