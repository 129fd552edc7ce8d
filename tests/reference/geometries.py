r"""Reference implementation of the three geometries, which map dual vectors to weights.

Every label has a vector :math:`\theta_y` and weights :math:`w_y = \nabla G(\theta_y)`.

========= ============================================= ============================
geometry  :math:`G(\theta_y)`                           :math:`w_y`
========= ============================================= ============================
euclidean :math:`\tfrac12 |\theta_y|^2`                 :math:`\theta_y`
adaptive  :math:`\tfrac12\sum_j\theta_{yj}^2/\sqrt{S_j}` :math:`\theta_{yj}/\sqrt{S_j}`
entropic  :math:`\log\sum_j e^{\theta_{yj}} - \log n`   :math:`\mathrm{softmax}(\theta_y)`
========= ============================================= ============================

A round moves :math:`\theta_y` only along the row ``x``. So an update rule needs only the functions
:math:`a \mapsto G(\theta_y + a x) - G(\theta_y)` of one number, which `Line` provides.
"""

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

FloatArray = NDArray[np.float64]
Geometry = Literal["euclidean", "adaptive", "entropic"]


def log_sum_exp(theta: FloatArray) -> float:
    """Return log Σ exp(theta); on short arrays several times faster than SciPy's function."""
    top = float(theta.max())
    return top + float(np.log(np.exp(theta - top).sum()))


def weights(geometry: Geometry, theta: FloatArray, S: FloatArray) -> FloatArray:
    """Return the weights (K, n) of dual vectors ``theta`` (K, n); only "adaptive" uses ``S``."""
    if geometry == "entropic":
        return np.asarray(softmax(theta, axis=1), dtype=np.float64)
    return theta / np.sqrt(S) if geometry == "adaptive" else theta.copy()


def scores(W: FloatArray, x: FloatArray) -> FloatArray:
    """Return the scores W x (K,); the order of summation is fixed, so equal rows tie exactly."""
    return np.asarray((W * x).sum(axis=1))


def potential(geometry: Geometry, theta: FloatArray, S: FloatArray) -> float:
    """Return the sum of G over the labels, which the dual value subtracts."""
    if geometry == "entropic":
        return sum(log_sum_exp(row) - float(np.log(len(row))) for row in theta)
    scale = np.sqrt(S) if geometry == "adaptive" else np.ones_like(S)
    return float(0.5 * np.sum(theta**2 / scale))


def curvature_bound(geometry: Geometry, x: FloatArray, S: FloatArray) -> float:
    """Return an upper bound of the second derivative of every line along ``x``."""
    if geometry == "entropic":
        return float(((x.max() - x.min()) / 2) ** 2)
    return squared_norm(geometry, x, S)


def squared_norm(geometry: Geometry, x: FloatArray, S: FloatArray) -> float:
    """Return the squared norm of ``x`` in the Euclidean or adaptive geometry."""
    scale = np.sqrt(S) if geometry == "adaptive" else np.ones_like(S)
    return float(np.sum(x**2 / scale))


class Line(Protocol):
    """G along one row, per label.

    Attributes
    ----------
    n_labels : number of labels.
    reach : width of the interval of scores that steps can reach; 0 if no step changes a score.
    """

    n_labels: int
    reach: float

    def value(self, label: int, a: float) -> float:
        """Return G(theta_y + a x) - G(theta_y)."""
        ...

    def slope(self, label: int, a: float) -> float:
        """Return the score of the label after a step of ``a``: the derivative of `value`."""
        ...

    def curvature(self, label: int, a: float) -> float:
        """Return the derivative of `slope`, which is never negative."""
        ...

    def level(self, label: int, a: float) -> float:
        """Return the score after the step, on a scale that is precise at the interval's ends."""
        ...

    def from_level(self, level: float) -> float:
        """Return the score of a `level`."""
        ...


class QuadraticLine:
    """Line of the Euclidean and adaptive geometries: score · a + ½ q a².

    Parameters
    ----------
    scores : scores (K,) before the step.
    q : squared norm of the row as the geometry measures it.
    """

    def __init__(self, scores: FloatArray, q: float) -> None:
        self.n_labels = len(scores)
        self.reach = np.inf if q > 0.0 else 0.0
        self.scores = scores
        self.q = q

    def value(self, label: int, a: float) -> float:
        """Return G(theta_y + a x) - G(theta_y)."""
        return float(self.scores[label] * a + 0.5 * self.q * a * a)

    def slope(self, label: int, a: float) -> float:
        """Return the score after the step."""
        return float(self.scores[label] + self.q * a)

    def curvature(self, label: int, a: float) -> float:
        """Return the squared norm of the row."""
        return self.q

    def level(self, label: int, a: float) -> float:
        """Return the score after the step."""
        return self.slope(label, a)

    def from_level(self, level: float) -> float:
        """Return the level itself."""
        return level


class EntropicLine:
    """Line of the entropic geometry: log-partition function of theta_y + a x.

    Its derivatives are the mean and the variance of x under the weights.

    Scores lie between the smallest and the largest entry of x. Levels are their log-odds, the
    logarithm of (score - smallest)/(largest - score).

    Parameters
    ----------
    theta : dual vectors (K, n) before the step.
    x : the row (n,).
    """

    def __init__(self, theta: FloatArray, x: FloatArray) -> None:
        self.n_labels = len(theta)
        self.low = float(x.min())
        self.high = float(x.max())
        self.reach = self.high - self.low
        self.theta = theta
        self.x = x

    def value(self, label: int, a: float) -> float:
        """Return G(theta_y + a x) - G(theta_y)."""
        return log_sum_exp(self.theta[label] + a * self.x) - log_sum_exp(self.theta[label])

    def slope(self, label: int, a: float) -> float:
        """Return the mean of x under the weights after the step."""
        return float(self._weights(label, a) @ self.x)

    def curvature(self, label: int, a: float) -> float:
        """Return the variance of x under the weights after the step."""
        return float(self._weights(label, a) @ (self.x - self.slope(label, a)) ** 2)

    def level(self, label: int, a: float) -> float:
        """Return the log-odds of the score after the step."""
        theta = self.theta[label] + a * self.x
        above, below = self.x > self.low, self.x < self.high
        return log_sum_exp(theta[above] + np.log(self.x[above] - self.low)) - log_sum_exp(
            theta[below] + np.log(self.high - self.x[below])
        )

    def from_level(self, level: float) -> float:
        """Return the score with these log-odds."""
        return float(self.low + self.reach * expit(level))

    def _weights(self, label: int, a: float) -> FloatArray:
        theta = self.theta[label] + a * self.x
        return np.asarray(np.exp(theta - log_sum_exp(theta)))


def line(geometry: Geometry, theta: FloatArray, S: FloatArray, x: FloatArray) -> Line:
    """Return G along ``x`` from the current theta."""
    if geometry == "entropic":
        return EntropicLine(theta, x)
    return QuadraticLine(scores(weights(geometry, theta, S), x), squared_norm(geometry, x, S))
