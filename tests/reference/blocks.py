r"""Simultaneous projections, literally: a block of rows a trial, one weight vector.

A row carries its sign, :math:`z_j = y_j x_j`, and asks for :math:`\langle w, z_j\rangle \ge\gamma`.
A trial moves :math:`\theta \mathrel{+}= \sum_j \lambda_j z_j`; a scheme chooses :math:`\lambda`.

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
    """Best step along one row, within [0, cap]."""
    if geometry == "euclidean":
        return float(np.clip((margin - w @ z) / (z @ z), 0.0, cap))
    return ternary_step(w, z, margin, cap) if is_ternary(z) else tilted_step(w, z, margin, cap)


def is_ternary(z: FloatArray) -> bool:
    """Whether all values are -1, 0 or 1."""
    return bool(np.isin(z, (-1.0, 0.0, 1.0)).all())


def ternary_step(w: FloatArray, z: FloatArray, margin: float, cap: float) -> float:
    """Entropic step along a row in {-1, 0, 1}, by the closed form."""
    plus, minus, zero = w[z == 1].sum(), w[z == -1].sum(), w[z == 0].sum()
    if plus == 0.0 or margin >= 1.0:
        return cap
    root = np.sqrt((margin * zero) ** 2 + 4 * (1 - margin**2) * plus * minus)
    with np.errstate(divide="ignore"):
        return float(np.clip(np.log((margin * zero + root) / (2 * (1 - margin) * plus)), 0.0, cap))


def tilted_step(w: FloatArray, z: FloatArray, margin: float, cap: float) -> float:
    """Entropic step along any row: where the mean of the tilted weights reaches the margin."""

    def shortfall(step: float) -> float:
        tilted = w * np.exp(step * z - (step * z).max())
        return float(margin - tilted @ z / tilted.sum())

    if shortfall(0.0) <= 0.0:
        return 0.0
    if shortfall(cap) >= 0.0:
        return cap
    return float(brentq(shortfall, 0.0, cap, xtol=1e-15, rtol=1e-14, maxiter=500))


def gain(geometry: BlockGeometry, w: FloatArray, z: FloatArray, margin: float) -> float:
    """What a move of theta by ``z`` adds to the dual value, ``margin`` being all it may claim."""
    if geometry == "euclidean":
        return float(margin - w @ z - 0.5 * z @ z)
    top = z.max()
    return float(margin - top - np.log(w @ np.exp(z - top)))


def movable(geometry: BlockGeometry, z: FloatArray) -> bool:
    """Whether a step along the row changes anything: constant rows are nothing to a softmax."""
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
    """SimPerc, ConProj, SimProj and MaxPA: each row's own step, shared out."""
    values, caps = (Z * w).sum(axis=1), budget / v
    counted = values <= 0.0 if scheme in {"simperc", "conproj"} else values < margin
    share = 1.0 / max(1, counted.sum())
    if scheme == "max":
        worst = np.argmax((margin - values) / v)
        counted, share = counted & (np.arange(len(v)) == worst), 1.0
    masses = np.zeros(len(v))
    for j in np.flatnonzero(counted):
        if movable(geometry, Z[j]):
            whole = scheme == "simperc"
            alpha = caps[j] if whole else own_step(geometry, w, Z[j], margin, caps[j])
            masses[j] = alpha * share
    return masses


def simopt_step(losses: ArrayLike, q: ArrayLike, budget: float) -> FloatArray:
    """SimOpt as the table of formulas has it; ``losses`` are cut at 0, ``q`` squared lengths."""
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
    """Maximise Σ(λ l - ½ λ² q), λ >= 0, Σ v λ <= budget, by a search for the price of budget."""
    losses, q, v = (np.asarray(part, dtype=np.float64) for part in (losses, q, v))
    live = (losses > 0.0) & (q > 0.0)
    masses = np.zeros(len(losses))

    def at(price: float) -> FloatArray:
        return np.maximum(0.0, losses[live] - price * v[live]) / q[live]

    def overdrawn(price: float) -> float:
        return float(v[live] @ at(price) - budget)

    if not live.any() or overdrawn(0.0) <= 0.0:
        price = 0.0
    else:
        price = brentq(overdrawn, 0.0, (losses[live] / v[live]).max(), xtol=1e-16, rtol=1e-14)
    masses[live] = at(price)
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
    # In the linear geometry the step is the variable: the solver loses fewer digits.
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
    """Best fixed weights for a whole stream, and the value F + C Σ loss they reach.

    A trial is its signed rows, the places of the rows of each set, and the rows' weights.
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
    """Weights on the simplex; u exp(-e/u) <= w, which is e >= u log(u/w), with e minimised."""
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
    """The learner, dense and in the plainest arithmetic.

    Parameters
    ----------
    n : number of features.
    scheme : any but "optimal" in the entropic geometry, whose coefficients are not to be had.
    geometry : which G.
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
        """Return the loss of a block, then learn it."""
        Z = np.asarray(X, dtype=np.float64) * np.asarray(y, dtype=np.float64)[:, None]
        v = np.ones(len(Z)) if weights is None else np.asarray(weights, dtype=np.float64)
        sets = places(len(Z), groups)
        w, loss = self.coef, 0.0
        step: Callable[[FloatArray, FloatArray], FloatArray] = self._step(w)
        masses = np.zeros(len(Z))
        for rows in sets:
            values = Z[rows] @ w
            loss += max(0.0, float(((self.margin - values) / v[rows]).max())) / len(sets)
            self.mistakes += bool((values <= 0.0).any()) / len(sets)
            masses[rows] = step(Z[rows], v[rows] * len(sets))
        self.theta = self.theta + masses @ Z
        self.gain += self.margin * float(masses.sum())
        self.loss += loss
        return loss

    def _step(self, w: FloatArray) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Coefficients of a set; a part of the budget is the budget with larger weights."""

        def step(Z: FloatArray, v: FloatArray) -> FloatArray:
            if self.scheme == "simopt":
                losses = np.maximum(0.0, self.margin - Z @ w)
                return surrogate_step(losses, (Z**2).sum(axis=1), v, self.C)
            return shared_step(self.scheme, self.geometry, w, Z, v, self.margin, self.C)

        return step


def places(rows: int, groups: ArrayLike | None) -> list[NDArray[np.intp]]:
    """Places of the rows of each set."""
    if groups is None:
        return [np.arange(rows)]
    given = np.asarray(groups)
    return [np.flatnonzero(given == one) for one in np.unique(given)]
