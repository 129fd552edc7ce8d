"""Optima computed by a general conic solver, to test the reference implementations."""

from collections.abc import Collection, Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from .geometries import FloatArray, Geometry
from .program import Program


def primal_minimum(
    X: ArrayLike,
    relevant_sets: Sequence[Collection[int]],
    *,
    n_labels: int,
    geometry: Geometry,
    C: float,
    margin: float,
    smooth: bool = False,
    temperature: float = 0.1,
    S: ArrayLike | None = None,
    unknown: Sequence[Collection[int]] | None = None,
    weights: ArrayLike | None = None,
    theta0: ArrayLike | None = None,
) -> float:
    r"""Return the minimum over w of :math:`F(w) + C\sum_t \text{weight}_t\,\text{loss}_t(w)`.

    The loss is :math:`\xi_t = \max(0, \gamma - (\min_Y\rho - \max_{\bar Y}\rho))`, or with
    ``smooth`` :math:`T\log(1 + \sum_{rs}e^{(\gamma - \rho_r + \rho_s)/T})`. F is
    :math:`\tfrac12|w|^2`, :math:`\tfrac12\sum_j\sqrt{S_j}|w_j|^2` (adaptive) or
    :math:`\sum_{yj} w_{yj}\log(n w_{yj})` on one simplex per label (entropic).

    Parameters
    ----------
    X : rows (rounds, n) as the learner sees them: normalised, with the constant feature.
    relevant_sets : relevant labels of each row.
    n_labels : number of labels, K.
    geometry : the geometry, which defines F.
    C : weight of the losses.
    margin : the margin.
    smooth : whether to use the smooth loss instead of the hinge loss.
    temperature : T of the smooth loss.
    S : one number per column, for the adaptive F.
    unknown : labels of each row that take part in no pair; none by default.
    weights : weights of the rows; ones by default.
    theta0 : dual vectors (K, n) on which F is centred, 0 by default; not in the entropic geometry.
        F is :math:`\tfrac12\sum_j\sqrt{S_j}|w_j - \theta_{0j}/\sqrt{S_j}|^2`.

    Returns
    -------
    value : the minimum.
    """
    X = np.asarray(X, dtype=np.float64)
    rounds, n = X.shape
    unknown = [()] * rounds if unknown is None else unknown
    factors = C * (np.ones(rounds) if weights is None else np.asarray(weights, dtype=np.float64))
    blocks = [_pairs(y, z, n_labels) for y, z in zip(relevant_sets, unknown, strict=True)]
    n_pairs = sum(map(len, blocks)) if smooth else 0
    n_weights = n_labels * n
    entropies = n_weights if geometry == "entropic" else 0
    # The variables: w, one loss per row, then extra ones for the entropies and the smooth losses.
    first_loss, first_entropy = n_weights, n_weights + rounds
    first_pair = first_entropy + entropies
    program = Program(first_pair + n_pairs + (rounds if smooth else 0))
    program.linear[first_loss:first_entropy] = factors
    constant = 0.0
    if geometry == "entropic":
        _entropic_complexity(program, n_labels, n, first_entropy)
    else:
        scale = np.sqrt(np.asarray(S, dtype=np.float64)) if geometry == "adaptive" else np.ones(n)
        program.quadratic[:n_weights] = np.tile(scale, n_labels)
        centre = np.zeros((n_labels, n)) if theta0 is None else np.asarray(theta0)
        program.linear[:n_weights] = -centre.ravel()
        constant = 0.5 * float(np.sum(centre**2 / scale))
    extra = first_pair
    for t, pairs in enumerate(blocks):
        loss = program.unit(first_loss + t)
        differences = [_difference(program, X[t], pair) for pair in pairs]
        if not smooth or not pairs:
            expressions = [(loss + difference, -margin) for difference in differences]
            program.require("nonnegative", (loss, 0.0), *expressions)
            continue
        _log_sum_exp(program, loss, differences, margin, temperature, extra)
        extra += len(pairs) + 1
    return program.minimise()[1] + constant


def _pairs(
    relevant: Collection[int], unknown: Collection[int], n_labels: int
) -> list[tuple[int, int]]:
    known = [y for y in range(n_labels) if y not in unknown]
    inside = [y for y in known if y in relevant]
    return list(product(inside, [y for y in known if y not in relevant]))


def _difference(program: Program, x: FloatArray, pair: tuple[int, int]) -> FloatArray:
    """Return the expression of a pair's score difference, relevant minus irrelevant."""
    row = np.zeros(len(program.linear))
    r, s = pair
    row[r * len(x) : (r + 1) * len(x)] = x
    row[s * len(x) : (s + 1) * len(x)] = -x
    return row


def _entropic_complexity(program: Program, n_labels: int, n: int, first_entropy: int) -> None:
    """Add the entropic F to a program: each w_y on the simplex, objective Σ w log(n w).

    The constraint w exp(-e/w) <= 1/n is e >= w log(n w); the objective minimises e.
    """
    nothing = np.zeros(len(program.linear))
    for label in range(n_labels):
        total = sum((program.unit(label * n + j) for j in range(n)), nothing)
        program.require("zero", (total, -1.0))
    for index in range(n_labels * n):
        entropy = program.unit(first_entropy + index)
        program.linear[first_entropy + index] = 1.0
        program.require(
            "exponential", (-entropy, 0.0), (program.unit(index), 0.0), (nothing, 1.0 / n)
        )


def _log_sum_exp(
    program: Program,
    loss: FloatArray,
    differences: list[FloatArray],
    margin: float,
    temperature: float,
    first_extra: int,
) -> None:
    """Require loss >= T log(1 + Σ exp((γ - difference)/T)).

    The constraint is equivalent to exp(-loss/T) + Σ exp((γ - difference - loss)/T) <= 1.
    """
    nothing = np.zeros(len(program.linear))
    exponents = [(-loss / temperature, 0.0)]
    exponents += [((-loss - row) / temperature, margin / temperature) for row in differences]
    extras = [program.unit(first_extra + i) for i in range(len(exponents))]
    for exponent, extra in zip(exponents, extras, strict=True):
        program.require("exponential", exponent, (nothing, 1.0), (extra, 0.0))
    program.require("nonnegative", (-sum(extras, nothing), 1.0))


def round_optimum(
    scores: ArrayLike,
    relevant: Collection[int],
    q: float,
    C: float,
    margin: float,
    unknown: Collection[int] = (),
) -> FloatArray:
    r"""Return the coefficients of Update III in a quadratic geometry.

    They maximise :math:`\gamma\sum_Y\alpha_y - \sum_y(\rho_y\alpha_y + \tfrac12 q\alpha_y^2)`
    subject to Σ α = 0, Σ_Y α <= C, α >= 0 on Y and α <= 0 elsewhere.

    Parameters
    ----------
    scores : scores (K,) before the step.
    relevant : relevant labels.
    q : squared norm of the row.
    C : budget of the round.
    margin : the margin.
    unknown : labels whose coefficient is zero.

    Returns
    -------
    alpha : coefficients (K,).
    """
    scores = np.asarray(scores, dtype=np.float64)
    inside = np.array([y in relevant for y in range(len(scores))], dtype=np.float64)
    program = Program(len(scores))
    program.quadratic[:] = q
    program.linear[:] = scores - margin * inside
    program.require("zero", (np.ones(len(scores)), 0.0))
    program.require("nonnegative", (-inside, C))
    for label in range(len(scores)):
        row = program.unit(label)
        if label in unknown:
            program.require("zero", (row, 0.0))
        else:
            program.require("nonnegative", (row if label in relevant else -row, 0.0))
    return program.minimise()[0]


def surrogate_optimum(losses: ArrayLike, v: float, C: float) -> FloatArray:
    """Return the weights of SimOpt: maximise Σ(λ l - ½ λ² v) subject to λ >= 0, Σ λ <= C.

    Parameters
    ----------
    losses : loss of each pair.
    v : squared norm, the same for all pairs.
    C : budget of the round.

    Returns
    -------
    masses : the weights, one per pair.
    """
    losses = np.asarray(losses, dtype=np.float64)
    program = Program(len(losses))
    program.quadratic[:] = v
    program.linear[:] = -losses
    program.require("nonnegative", (-np.ones(len(losses)), C))
    for index in range(len(losses)):
        program.require("nonnegative", (program.unit(index), 0.0))
    return program.minimise()[0]
