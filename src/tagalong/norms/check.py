"""Test numerically that a custom norm satisfies the protocol."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.norms.protocol import MEMBERS, Matrix, Norm, Vector, as_norm

__all__ = ["check_norm"]

# Of sums in double precision, relative to the largest term.
TOLERANCE = 1e-9
# Of a difference quotient with steps of 1e-6: the dual need not have second derivatives.
QUOTIENT_TOLERANCE = 1e-4
QUOTIENT_STEP = 1e-6
ASCENTS = 8


def check_norm(norm: Norm, shape: tuple[int, int], *, rounds: int = 50, seed: int = 0) -> None:
    r"""Raise ValueError if a norm violates what Predtron assumes about it.

    The potential must be half of a squared norm: 0 at 0, positive elsewhere, convex, and four times
    as large for twice the weights. ``dual`` must be its convex dual: convex, and
    :math:`F(W) + G(\theta) \ge \langle W, \theta\rangle` with equality at the weights of
    :math:`\theta`. ``weights`` must be the gradient of ``dual``. ``radius`` must bound every step,
    as `Norm` defines it; this is the strong convexity that the bound of the certificate needs. The
    directions of the steps are made as bad as a few steps of ascent can make them.

    All of it is tested at random matrices, some of them sparse, small or large, so a fault that
    shows only at special points can escape.

    Parameters
    ----------
    norm : Norm
        The norm.
    shape : (int, int)
        The number of scores and the number of features of the matrices to test with.
    rounds : int, default 50
        Number of random points.
    seed : int, default 0
        Seed of the random points.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong.norms import check_norm
    >>> class Euclidean:
    ...     def potential(self, weights):
    ...         return np.sum(weights**2) / 2
    ...
    ...     def dual(self, theta):
    ...         return np.sum(theta**2) / 2
    ...
    ...     def weights(self, theta):
    ...         return theta.copy()
    ...
    ...     def radius(self, x):
    ...         return np.linalg.norm(x)
    >>> check_norm(Euclidean(), shape=(3, 5))
    """
    if isinstance(norm, str):
        raise ValueError(
            f"norm must be an object with the members {', '.join(MEMBERS)}, got {norm!r}"
        )
    as_norm(norm)
    rows, columns = (parameters.integer(size, "shape", 1) for size in shape)
    parameters.integer(rounds, "rounds", 1)
    rng = np.random.default_rng(seed)
    checked = _CheckedNorm(norm, (rows, columns))
    _check_zero(checked)
    for check in (_check_potential, _check_convexity, _check_gradient, _check_dual, _check_radius):
        points = _matrices(rng, (rows, columns))
        for _ in range(rounds):
            check(checked, next(points), next(points))


class _CheckedNorm:
    """A norm whose results are checked for shape and for numbers that are not finite."""

    def __init__(self, norm: Norm, shape: tuple[int, int]):
        self._norm = norm
        self.shape = shape

    def potential(self, weights: Matrix) -> float:
        return self._number("potential", self._norm.potential, weights)

    def dual(self, theta: Matrix) -> float:
        return self._number("dual", self._norm.dual, theta)

    def radius(self, x: Vector) -> float:
        return self._number("radius", self._norm.radius, x)

    def weights(self, theta: Matrix) -> Matrix:
        argument = theta.copy()
        found = np.asarray(self._norm.weights(argument), dtype=np.float64)
        _require_unchanged("weights", argument, theta)
        if found.shape != self.shape:
            _refuse(f"weights has shape {found.shape}, not {self.shape}", theta=theta)
        if not np.isfinite(found).all():
            _refuse("weights has numbers that are not finite", theta=theta)
        return found

    def _number(
        self, name: str, function: Callable[[Any], Any], point: npt.NDArray[np.float64]
    ) -> float:
        argument = point.copy()
        found = np.asarray(function(argument), dtype=np.float64)
        _require_unchanged(name, argument, point)
        if found.shape != () or not np.isfinite(found) or found < 0:
            _refuse(f"{name} must be one number of at least 0, got {found.tolist()!r}", at=point)
        return float(found)


def _matrices(rng: np.random.Generator, shape: tuple[int, int]) -> Iterator[Matrix]:
    """Yield random matrices that are not zero: dense and sparse ones, of many sizes."""
    while True:
        matrix = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3)
        if rng.random() < 0.5:
            matrix *= rng.random(shape) < rng.choice([0.1, 0.5])
        if rng.random() < 0.2:  # ties
            matrix = np.sign(matrix)
        if matrix.any():
            yield matrix


def _check_zero(norm: _CheckedNorm) -> None:
    zero = np.zeros(norm.shape)
    for name, value in (
        ("potential", norm.potential(zero)),
        ("dual", norm.dual(zero)),
        ("weights", np.abs(norm.weights(zero)).max()),
    ):
        if value != 0:
            _refuse(f"{name} of the zero matrix must be 0, got {value!r}")


def _check_potential(norm: _CheckedNorm, weights: Matrix, _: Matrix) -> None:
    value = norm.potential(weights)
    if not value > 0:
        _refuse("potential must be above 0 unless all weights are 0, got 0.0", weights=weights)
    for factor in (2.0, 0.3):
        scaled = norm.potential(factor * weights)
        if abs(scaled - factor**2 * value) > TOLERANCE * max(scaled, factor**2 * value):
            _refuse(
                f"potential is not half of a squared norm: it is {value:.6g}, and {scaled:.6g} "
                f"instead of {factor**2 * value:.6g} for {factor:g} times the weights",
                weights=weights,
            )


def _check_convexity(norm: _CheckedNorm, point: Matrix, other: Matrix) -> None:
    for name, function in (("potential", norm.potential), ("dual", norm.dual)):
        middle, mean = function((point + other) / 2), (function(point) + function(other)) / 2
        if middle > mean * (1 + TOLERANCE):
            _refuse(
                f"{name} is not convex: {middle:.6g} in the middle of two points whose mean is "
                f"{mean:.6g}",
                point=point,
                other=other,
            )


def _check_dual(norm: _CheckedNorm, theta: Matrix, other: Matrix) -> None:
    weights = norm.weights(theta)
    potential, dual, product = norm.potential(weights), norm.dual(theta), _inner(weights, theta)
    if abs(potential + dual - product) > TOLERANCE * max(potential, dual, abs(product)):
        _refuse(
            f"potential(weights) + dual(theta) is {potential + dual:.6g}, but <weights, theta> is "
            f"{product:.6g}; for weights = weights(theta) both must be equal (Fenchel)",
            theta=theta,
        )
    # The matrix on the line through `other` at which the inequality is tightest.
    if not (size := norm.potential(other)) > 0:
        return
    scaled = other * (_inner(other, theta) / (2 * size))
    potential, product = norm.potential(scaled), _inner(scaled, theta)
    if potential + dual < product - TOLERANCE * max(potential, dual, abs(product)):
        _refuse(
            f"potential(weights) + dual(theta) is {potential + dual:.6g}, below <weights, theta> = "
            f"{product:.6g}: dual is not the convex dual of potential (Fenchel-Young)",
            theta=theta,
            weights=scaled,
        )


def _check_gradient(norm: _CheckedNorm, theta: Matrix, direction: Matrix) -> None:
    step = QUOTIENT_STEP * np.linalg.norm(theta) / np.linalg.norm(direction)
    rise = norm.dual(theta + step * direction) - norm.dual(theta - step * direction)
    quotient, slope = rise / (2 * step), _inner(norm.weights(theta), direction)
    scale = 2 * np.sqrt(norm.dual(theta) * norm.dual(direction))
    if abs(quotient - slope) > QUOTIENT_TOLERANCE * max(scale, abs(slope)):
        _refuse(
            f"weights is not the gradient of dual: along direction dual changes by {quotient:.6g} "
            f"per unit, but <weights, direction> is {slope:.6g}",
            theta=theta,
            direction=direction,
        )


def _check_radius(norm: _CheckedNorm, theta: Matrix, other: Matrix) -> None:
    """Search for a step a x' along which the dual curves more than the radius says."""
    a, x = other.sum(axis=1), other[np.abs(other).sum(axis=1).argmax()]
    for size in (0.01, 1.0, 100.0):
        _check_steps(norm, theta, a, x, size * float(np.linalg.norm(theta)))
    _check_steps(norm, np.zeros(norm.shape), a, x, 1.0)


def _check_steps(norm: _CheckedNorm, theta: Matrix, a: Vector, x: Vector, size: float) -> None:
    """Check a step of the direction a, then of directions along which the dual curves more."""
    radius, dual, weights = norm.radius(x), norm.dual(theta), norm.weights(theta)
    for _ in range(ASCENTS):
        if not (length := float(np.linalg.norm(a))) > 0:
            return
        a = a * (size / length)
        after = norm.dual(theta + np.outer(a, x))
        slope = _inner(weights, np.outer(a, x))
        curved = after - dual - slope
        rounding = TOLERANCE * max(after, dual, abs(slope))
        if curved > (radius * size) ** 2 / 2 + rounding:
            needed = np.sqrt(2 * curved) / size
            _refuse(
                f"radius(x) is {radius:.6g}, but must be at least {needed:.6g}: the step a x' "
                f"raises dual by {curved:.6g} above its tangent, more than |a|^2 radius(x)^2 / 2 "
                f"= {(radius * size) ** 2 / 2:.6g}",
                theta=theta,
                a=a,
                x=x,
            )
        a = (norm.weights(theta + np.outer(a, x)) - weights) @ x


def _inner(a: Matrix, b: Matrix) -> float:
    return float((a * b).sum())


def _require_unchanged(
    name: str, after: npt.NDArray[np.float64], before: npt.NDArray[np.float64]
) -> None:
    if after.tobytes() != before.tobytes():
        _refuse(f"{name} must not change its argument", at=before)


def _refuse(message: str, **places: npt.NDArray[np.float64]) -> NoReturn:
    at = ", ".join(f"{name} = {np.array_repr(place)}" for name, place in places.items())
    raise ValueError(f"{message}{', at ' if at else ''}{at}")
