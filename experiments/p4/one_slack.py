r"""Reference solver: one-slack cutting planes for the exponential problem that M3L reformulates.

The possible answers for a row are all sign vectors y' of the L labels. With weights z, the problem
is

    min  ½ Σ_lk (R⁻¹)_lk z_l·z_k + C Σ_i max_y' [ Δ(y_i, y') − Σ_l (y_il − y'_l) z_l·x_i ],

where Δ is 2 per wrong label. This is the paper's P1 with the Hamming loss; it has 2^L constraints
per row. The one-slack method of SVM-struct (Joachims, Finley, Yu, 2009) adds the max_cuts violated
answers of all rows as one cut, b − ⟨G, z⟩. It then solves for the weights of the cuts, λ >= 0 with
Σλ = C, where the correct answers are the first cut (0, 0):

    max  b·λ − ½ λᵀHλ,   H_jk = ⟨G_j, R G_k⟩,   z = R Σ_j λ_j G_j.

The optimum of this problem is a lower bound, the objective at z an upper bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

INTERIOR_STEPS = 100
CENTRING = 0.1
STEP_FRACTION = 0.99
TOLERANCE = 1e-10


class Solved(NamedTuple):
    """Bounds of the optimum, the number of cuts, and the weights (labels × features)."""

    lower: float
    upper: float
    cuts: int
    weights: Matrix


def solve(X: Any, Y: Any, R: Any, C: float, gap: float, max_cuts: int = 2_000) -> Solved:
    """Add cuts until the relative gap between the bounds is at max_cuts ``gap``."""
    X, R = np.asarray(X, dtype=np.float64), np.asarray(R, dtype=np.float64)
    signs = np.where(np.asarray(Y) > 0, 1.0, -1.0)
    z = np.zeros((signs.shape[1], X.shape[1]))
    cuts, images = np.zeros((1, z.size)), np.zeros((1, z.size))
    b, H = np.zeros(1), np.zeros((1, 1))
    lower, upper, best, squared_norm = 0.0, np.inf, z, 0.0
    for _ in range(max_cuts):
        slack = 2 - 2 * signs * (X @ z.T)
        value = squared_norm / 2 + C * np.maximum(slack, 0).sum()
        if value < upper:
            upper, best = value, z
        if upper - lower <= gap * upper:
            break
        # The most violated of the 2^L answers flips exactly the labels with positive slack.
        wrong = np.where(slack > 0, 2 * signs, 0.0)
        G = (wrong.T @ X).ravel()
        cuts = np.vstack([cuts, G])
        images = np.vstack([images, (R @ G.reshape(z.shape)).ravel()])
        b = np.append(b, np.abs(wrong).sum())
        inner = images @ G
        H = np.block([[H, inner[:-1, None]], [inner[None, :]]])
        share = weights_of_cuts(H, b, C)
        squared_norm = float(share @ H @ share)
        lower = max(lower, float(b @ share - squared_norm / 2))
        z = (share @ images).reshape(z.shape)
    return Solved(lower, float(upper), len(b) - 1, best)


def weights_of_cuts(H: Matrix, b: Matrix, total: float) -> Matrix:
    """Maximise b·λ − ½λᵀHλ subject to λ >= 0, Σλ = total, by an interior point method.

    Newton's method solves λ s = μ for every cut, H λ − b − s + ν = 0 and Σλ = total, with
    decreasing μ. Steps are shortened so that λ and s stay positive. The result is scaled to be
    exactly feasible.
    """
    n = len(b)
    # Scaled variables, so that tolerances do not depend on the scale of the data.
    unit = max(np.abs(b).max() * total, 1e-300)
    Q, c = H * total**2 / unit, b * total / unit
    x, s, nu = np.full(n, 1 / n), np.ones(n), 0.0
    for _ in range(INTERIOR_STEPS):
        mu = float(x @ s) / n
        dual = Q @ x - c - s + nu
        if mu < TOLERANCE and np.abs(dual).max() < TOLERANCE:
            break
        complement = CENTRING * mu - x * s
        system = Q + np.diag(s / x)
        both = np.linalg.solve(system, np.column_stack([complement / x - dual, np.ones(n)]))
        # Keep the (scaled) sum of λ at 1.
        d_nu = both[:, 0].sum() / both[:, 1].sum()
        d_x = both[:, 0] - d_nu * both[:, 1]
        d_s = (complement - s * d_x) / x
        step = 1.0
        for value, change in ((x, d_x), (s, d_s)):
            shrinks = change < 0
            limit = (-value[shrinks] / change[shrinks]).min(initial=np.inf)
            step = min(step, STEP_FRACTION * limit)
        x, s, nu = x + step * d_x, s + step * d_s, nu + step * d_nu
    return np.asarray(total * x / x.sum())
