"""Weights for the trace norm: the link function of the squared Schatten r-norm."""

import numpy as np
import numpy.typing as npt

from tagalong.learning.examples import Pair

__all__ = ["TraceWeights", "link_exponent", "schatten_weights"]

Matrix = npt.NDArray[np.float64]


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


class TraceWeights:
    """A dense weight matrix and the dual vectors that determine it; one SVD per step.

    Parameters
    ----------
    features : int
        The number of columns, including a constant feature, which is the last one.
    """

    def __init__(self, features: int):
        self.theta: Matrix = np.zeros((0, features))
        self.weights: Matrix = np.zeros((0, features))

    def grow_to(self, scores: int) -> None:
        """Add zero rows until there is one row per score."""
        missing = scores - len(self.theta)
        if missing > 0:
            self.theta = np.pad(self.theta, ((0, missing), (0, 0)))
            self.weights = np.pad(self.weights, ((0, missing), (0, 0)))

    def score(self, x: Pair) -> Matrix:
        """Return the scores of an example, given as (features, values)."""
        return np.asarray(self.weights[:, x[0]] @ x[1])

    def move(self, x: Pair, direction: Matrix, p: float) -> None:
        """Add the outer product of direction and example to the dual vectors.

        Parameters
        ----------
        x : (features, values)
            The example.
        direction : array
            One number per score.
        p : float
            The dimension that sets the exponent, see `link_exponent`.
        """
        theta = self.theta.copy()
        theta[:, x[0]] += np.outer(direction, x[1])
        # Assigned, not changed in place: another thread reads the old weights or the new ones.
        self.theta, self.weights = theta, schatten_weights(theta, link_exponent(p))
