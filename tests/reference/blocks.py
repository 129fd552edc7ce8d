r"""Reference implementation of simultaneous projections: one weight vector, one block per trial.

A row is multiplied by its sign, :math:`z_j = y_j x_j`, and requires
:math:`\langle w, z_j\rangle \ge\gamma`. A trial updates
:math:`\theta \mathrel{+}= \sum_j \lambda_j z_j`; a scheme chooses :math:`\lambda`.

========= ============================================= ============================
geometry  :math:`G(\theta)`                             :math:`w`
========= ============================================= ============================
euclidean :math:`\tfrac12 |\theta|^2`                   :math:`\theta`
entropic  :math:`\log\sum_i e^{\theta_i} - \log n`      :math:`\mathrm{softmax}(\theta)`
========= ============================================= ============================
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from .geometries import FloatArray, log_sum_exp
from .program import Program

BlockGeometry = Literal["euclidean", "entropic"]
Scheme = Literal["simperc", "conproj", "simproj", "simopt", "max", "optimal"]

SHARED: tuple[Scheme, ...] = ("simperc", "conproj", "simproj", "max")


def own_step(
    geometry: BlockGeometry, w: FloatArray, z: FloatArray, margin: float, cap: float
) -> float:
    """Return the best step along one row, within [0, cap]."""
    if geometry == "euclidean":
        return float(np.clip((margin - w @ z) / (z @ z), 0.0, cap))
    return ternary_step(w, z, margin, cap) if is_ternary(z) else tilted_step(w, z, margin, cap)


def is_ternary(z: FloatArray) -> bool:
    """Return whether all values are -1, 0 or 1."""
    return bool(np.isin(z, (-1.0, 0.0, 1.0)).all())


def ternary_step(w: FloatArray, z: FloatArray, margin: float, cap: float) -> float:
    """Return the entropic step along a row of -1, 0 and 1, by the closed form."""
    plus, minus, zero = w[z == 1].sum(), w[z == -1].sum(), w[z == 0].sum()
    if plus == 0.0 or margin >= 1.0:
        return cap
    root = np.sqrt((margin * zero) ** 2 + 4 * (1 - margin**2) * plus * minus)
    with np.errstate(divide="ignore"):
        return float(np.clip(np.log((margin * zero + root) / (2 * (1 - margin) * plus)), 0.0, cap))


def tilted_step(w: FloatArray, z: FloatArray, margin: float, cap: float) -> float:
    """Return the entropic step along any row: the mean under tilted weights equals the margin."""

    def shortfall(step: float) -> float:
        tilted = w * np.exp(step * z - (step * z).max())
        return float(margin - tilted @ z / tilted.sum())

    if shortfall(0.0) <= 0.0:
        return 0.0
    if shortfall(cap) >= 0.0:
        return cap
    return float(brentq(shortfall, 0.0, cap, xtol=1e-15, rtol=1e-14, maxiter=500))


def gain(geometry: BlockGeometry, w: FloatArray, z: FloatArray, margin: float) -> float:
    """Return ``margin`` minus the increase of G if theta moves by ``z``: the dual gain."""
    if geometry == "euclidean":
        return float(margin - w @ z - 0.5 * z @ z)
    top = z.max()
    return float(margin - top - np.log(w @ np.exp(z - top)))


def movable(geometry: BlockGeometry, z: FloatArray) -> bool:
    """Return whether a step along the row changes the weights; softmax ignores constant rows."""
    return bool(np.ptp(z) > 0.0) if geometry == "entropic" else bool(z.any())


def shared_step(
    scheme: Scheme,
    geometry: BlockGeometry,
    w: FloatArray,
    Z: FloatArray,
    v: FloatArray,
    margin: float,
    budget: float,
) -> FloatArray:
    """Return the coefficients of SimPerc, ConProj, SimProj or MaxPA.

    Each counted row takes its own best step, divided by the number of counted rows; MaxPA takes
    the step of the worst row only.
    """
    values, caps = (Z * w).sum(axis=1), budget / v
    counted = values <= 0.0 if scheme in {"simperc", "conproj"} else values < margin
    share = 1.0 / max(1, counted.sum())
    if scheme == "max":
        worst = np.argmax((margin - values) / v)
        counted, share = counted & (np.arange(len(v)) == worst), 1.0
    masses = np.zeros(len(v))
    for j in np.flatnonzero(counted):
        if movable(geometry, Z[j]):
            full_step = scheme == "simperc"
            alpha = caps[j] if full_step else own_step(geometry, w, Z[j], margin, caps[j])
            masses[j] = alpha * share
    return masses


def simopt_step(losses: ArrayLike, q: ArrayLike, budget: float) -> FloatArray:
    """Return the coefficients of SimOpt by its formula.

    ``losses`` are hinge losses, at least 0; ``q`` has the squared lengths of the rows.
    """
    losses, q = np.asarray(losses, dtype=np.float64), np.asarray(q, dtype=np.float64)
    masses = np.zeros(len(losses))
    order = [j for j in np.argsort(-losses, kind="stable") if losses[j] > 0.0 and q[j] > 0.0]
    if not order:
        return masses
    loss, v = losses[order], q[order]
    if (loss / v).sum() <= budget:
        masses[order] = loss / v
        return masses
    tau = 0.0
    for i in range(1, len(order) + 1):
        tau = ((loss[:i] / (budget * v[:i])).sum() - 1) / (1 / (budget**2 * v[:i])).sum()
        if i == len(order) or budget * loss[i] <= tau:
            break
    masses[order] = np.maximum(0.0, loss - tau / budget) / v
    return masses


def surrogate_step(losses: ArrayLike, q: ArrayLike, v: ArrayLike, budget: float) -> FloatArray:
    """Maximise Σ(λ l - ½ λ² q) subject to λ >= 0, Σ v λ <= budget.

    A root finder determines the multiplier of the budget constraint.
    """
    losses, q, v = (np.asarray(part, dtype=np.float64) for part in (losses, q, v))
    live = (losses > 0.0) & (q > 0.0)
    masses = np.zeros(len(losses))

    def solution(multiplier: float) -> FloatArray:
        return np.maximum(0.0, losses[live] - multiplier * v[live]) / q[live]

    def excess(multiplier: float) -> float:
        return float(v[live] @ solution(multiplier) - budget)

    if not live.any() or excess(0.0) <= 0.0:
        multiplier = 0.0
    else:
        multiplier = brentq(excess, 0.0, (losses[live] / v[live]).max(), xtol=1e-16, rtol=1e-14)
    masses[live] = solution(multiplier)
    return masses


def block_optimum(
    geometry: BlockGeometry,
    w: FloatArray,
    Z: FloatArray,
    v: FloatArray,
    margin: float,
    budget: float,
) -> tuple[FloatArray, float]:
    r"""Minimise :math:`D(u, w) + C\max_j\max(0, \gamma - u\cdot z_j)/v_j` over u.

    D is half the squared distance, or the relative entropy on the simplex.

    Returns
    -------
    best : the weights after the best step.
    value : the minimum.
    """
    n = len(w)
    entropic = geometry == "entropic"
    program = Program((2 * n if entropic else n) + 1)
    loss = program.unit(len(program.linear) - 1)
    program.linear[-1] = budget
    program.require("nonnegative", (loss, 0.0))
    # In the Euclidean geometry the variable is the step u - w: the solver loses fewer digits.
    shift = np.zeros(n) if entropic else w
    for z, weight in zip(Z, v, strict=True):
        row = np.zeros(len(program.linear))
        row[:n] = z
        program.require("nonnegative", (weight * loss + row, float(shift @ z) - margin))
    if not entropic:
        program.quadratic[:n] = 1.0
        found, value = program.minimise()
        return found[:n] + w, value
    _relative_entropy(program, w)
    found, value = program.minimise()
    return found[:n], value


def stream_optimum(
    geometry: BlockGeometry,
    n: int,
    trials: list[tuple[FloatArray, list[NDArray[np.intp]], FloatArray]],
    margin: float,
    C: float,
) -> tuple[FloatArray, float]:
    """Return the best fixed weights for a whole stream, and their value F + C Σ loss.

    A trial is a tuple: the signed rows, the row numbers of each set, and the rows' weights.
    """
    entropic = geometry == "entropic"
    sets = [(Z[rows], v[rows], len(parts)) for Z, parts, v in trials for rows in parts]
    first_loss = 2 * n if entropic else n
    program = Program(first_loss + len(sets))
    for index, (Z, v, parts) in enumerate(sets):
        loss = program.unit(first_loss + index)
        program.linear[first_loss + index] = C / parts
        program.require("nonnegative", (loss, 0.0))
        for z, weight in zip(Z, v, strict=True):
            row = np.zeros(len(program.linear))
            row[:n] = z
            program.require("nonnegative", (weight * loss + row, -margin))
    if entropic:
        _relative_entropy(program, np.full(n, 1.0 / n))
    else:
        program.quadratic[:n] = 1.0
    found, value = program.minimise()
    return found[:n], value


def _relative_entropy(program: Program, w: FloatArray) -> None:
    """Add the relative entropy Σ u log(u/w) of weights u on the simplex to a program.

    The constraint u exp(-e/u) <= w is e >= u log(u/w); the objective minimises e.
    """
    n = len(w)
    nothing = np.zeros(len(program.linear))
    program.require("zero", (sum((program.unit(i) for i in range(n)), nothing), -1.0))
    for i in range(n):
        program.linear[n + i] = 1.0
        program.require(
            "exponential",
            (-program.unit(n + i), 0.0),
            (program.unit(i), 0.0),
            (nothing, float(w[i])),
        )


class NaiveBlocks:
    """Reference implementation of `BlockProjection` on dense arrays.

    Parameters
    ----------
    n : number of features.
    scheme : any but "optimal" in the entropic geometry, where the solver gives no coefficients.
    geometry : the geometry, which defines G.
    C : budget of a trial.
    margin : the margin.
    """

    def __init__(
        self, n: int, scheme: Scheme, geometry: BlockGeometry, C: float, margin: float
    ) -> None:
        self.scheme: Scheme = scheme
        self.geometry: BlockGeometry = geometry
        self.C, self.margin = C, margin
        self.theta = np.zeros(n)
        self.mistakes = self.loss = self.gain = 0.0

    @property
    def coef(self) -> FloatArray:
        """The weights."""
        if self.geometry == "euclidean":
            return self.theta.copy()
        return np.asarray(np.exp(self.theta - log_sum_exp(self.theta)))

    @property
    def dual(self) -> float:
        """Gain minus G."""
        if self.geometry == "euclidean":
            return self.gain - 0.5 * float(self.theta @ self.theta)
        return self.gain - log_sum_exp(self.theta) + float(np.log(len(self.theta)))

    def learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> float:
        """Learn a block, and return its loss before learning."""
        Z = np.asarray(X, dtype=np.float64) * np.asarray(y, dtype=np.float64)[:, None]
        v = np.ones(len(Z)) if weights is None else np.asarray(weights, dtype=np.float64)
        sets = rows_of_sets(len(Z), groups)
        w, loss = self.coef, 0.0
        step: Callable[[FloatArray, FloatArray], FloatArray] = self._step(w)
        masses = np.zeros(len(Z))
        for rows in sets:
            values = (Z[rows] * w).sum(axis=1)  # in the order of the steps, so that ties agree
            loss += max(0.0, float(((self.margin - values) / v[rows]).max())) / len(sets)
            self.mistakes += bool((values <= 0.0).any()) / len(sets)
            masses[rows] = step(Z[rows], v[rows] * len(sets))
        self.theta = self.theta + masses @ Z
        self.gain += self.margin * float(masses.sum())
        self.loss += loss
        return loss

    def _step(self, w: FloatArray) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Return a function that computes the coefficients of a set.

        A part of the budget is equivalent to the whole budget with larger row weights.
        """

        def step(Z: FloatArray, v: FloatArray) -> FloatArray:
            if self.scheme == "simopt":
                losses = np.maximum(0.0, self.margin - Z @ w)
                return surrogate_step(losses, (Z**2).sum(axis=1), v, self.C)
            return shared_step(self.scheme, self.geometry, w, Z, v, self.margin, self.C)

        return step


def rows_of_sets(rows: int, groups: ArrayLike | None) -> list[NDArray[np.intp]]:
    """Return the row numbers of each set."""
    if groups is None:
        return [np.arange(rows)]
    labels = np.asarray(groups)
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]
