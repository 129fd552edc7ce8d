r"""The exponential problem that M3L starts from, solved by cutting planes: a reference.

With z the weights, a row's answers are all sign vectors y' of the L labels, and

    min  ½ Σ_lk (R⁻¹)_lk z_l·z_k + C Σ_i max_y' [ Δ(y_i, y') − Σ_l (y_il − y'_l) z_l·x_i ],

Δ being 2 for each wrong label: the paper's P1 with Hamming's loss, 2^L constraints a row. The
one-slack method of SVM-struct (Joachims, Finley, Yu, 2009) adds the worst answer of all rows as
one cut, b − ⟨G, z⟩, and solves for the weights of the cuts λ >= 0, Σλ = C, among which is the cut
of the right answers (0, 0):

    max  b·λ − ½ λᵀHλ,   H_jk = ⟨G_j, R G_k⟩,   z = R Σ_j λ_j G_j.

That value is a lower bound of the optimum, the objective at z an upper one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

INTERIOR_STEPS = 100
CENTRE = 0.1
BACK = 0.99
PRECISE = 1e-10


class Solved(NamedTuple):
    """Bounds of the optimum, the number of cuts, and the weights, (labels, features)."""

    lower: float
    upper: float
    cuts: int
    weights: Matrix


def solve(X: Any, Y: Any, R: Any, C: float, gap: float, most: int = 2_000) -> Solved:
    """Add cuts until upper and lower bound are within ``gap``, in relation to the upper one."""
    X, R = np.asarray(X, dtype=np.float64), np.asarray(R, dtype=np.float64)
    signs = np.where(np.asarray(Y) > 0, 1.0, -1.0)
    z = np.zeros((signs.shape[1], X.shape[1]))
    cuts, images = np.zeros((1, z.size)), np.zeros((1, z.size))
    b, H = np.zeros(1), np.zeros((1, 1))
    lower, upper, best, length = 0.0, np.inf, z, 0.0
    for _ in range(most):
        slack = 2 - 2 * signs * (X @ z.T)
        value = length / 2 + C * np.maximum(slack, 0).sum()
        if value < upper:
            upper, best = value, z
        if upper - lower <= gap * upper:
            break
        # The worst of all 2^L answers of a row differs where a flip pays.
        wrong = np.where(slack > 0, 2 * signs, 0.0)
        G = (wrong.T @ X).ravel()
        cuts = np.vstack([cuts, G])
        images = np.vstack([images, (R @ G.reshape(z.shape)).ravel()])
        b = np.append(b, np.abs(wrong).sum())
        inner = images @ G
        H = np.block([[H, inner[:-1, None]], [inner[None, :]]])
        share = weights_of_cuts(H, b, C)
        length = float(share @ H @ share)
        lower = max(lower, float(b @ share - length / 2))
        z = (share @ images).reshape(z.shape)
    return Solved(lower, float(upper), len(b) - 1, best)


def weights_of_cuts(H: Matrix, b: Matrix, total: float) -> Matrix:
    """Return the maximum of b·λ − ½λᵀHλ over λ >= 0, Σλ = total, by an interior point method.

    λ s = μ for every cut, H λ − b + s + ν = 0 and Σλ = total, μ falling; Newton's steps are cut
    where λ or s would cross 0. The answer is scaled to be exactly feasible.
    """
    n = len(b)
    # In units of the whole, so that nothing depends on how data is scaled.
    unit = max(np.abs(b).max() * total, 1e-300)
    Q, c = H * total**2 / unit, b * total / unit
    x, s, nu = np.full(n, 1 / n), np.ones(n), 0.0
    for _ in range(INTERIOR_STEPS):
        mu = float(x @ s) / n
        dual = Q @ x - c - s + nu
        if mu < PRECISE and np.abs(dual).max() < PRECISE:
            break
        complement = CENTRE * mu - x * s
        system = Q + np.diag(s / x)
        both = np.linalg.solve(system, np.column_stack([complement / x - dual, np.ones(n)]))
        # Σλ stays at 1.
        d_nu = both[:, 0].sum() / both[:, 1].sum()
        d_x = both[:, 0] - d_nu * both[:, 1]
        d_s = (complement - s * d_x) / x
        step = 1.0
        for value, change in ((x, d_x), (s, d_s)):
            falling = change < 0
            step = min(step, BACK * (-value[falling] / change[falling]).min(initial=np.inf))
        x, s, nu = x + step * d_x, s + step * d_s, nu + step * d_nu
    return np.asarray(total * x / x.sum())
