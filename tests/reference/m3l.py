"""Reference implementation of M3L's dual: its optimality conditions, and a general solver."""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .geometries import FloatArray


@dataclass(frozen=True)
class Dual:
    """Maximise <t, b> - 2 Σ_lk R_lk b_l' K b_k subject to low <= b <= high.

    b has one row per row of the data and one column per label.
    """

    K: FloatArray
    R: FloatArray
    target: FloatArray
    low: FloatArray
    high: FloatArray

    def value(self, b: FloatArray) -> float:
        return float((self.target * b).sum() - 2 * np.einsum("lk,il,ik->", self.R, b, self.K @ b))

    def derivative(self, b: FloatArray) -> FloatArray:
        return self.target - 4 * self.K @ b @ self.R

    def primal(self, b: FloatArray) -> float:
        """Return the primal value at the weights of b, with optimal slack variables."""
        h = self.derivative(b)
        complexity = 2 * np.einsum("lk,il,ik->", self.R, b, self.K @ b)
        # The slack of a variable is max(0, y h); its C is the length of its interval.
        return float(
            complexity + (self.high * np.maximum(h, 0) + self.low * np.minimum(h, 0)).sum()
        )

    def violation(self, b: FloatArray) -> float:
        """Return the largest projected derivative."""
        h = self.derivative(b)
        up = np.where(b < self.high, np.maximum(h, 0), 0)
        down = np.where(b > self.low, np.maximum(-h, 0), 0)
        return float(np.maximum(up, down).max())

    def maximum(self) -> float:
        """Return the optimal value, computed by Clarabel."""
        clarabel: Any = importlib.import_module("clarabel")
        n, L = self.target.shape
        P = 4 * np.kron(self.R, self.K)  # b column by column
        count = n * L
        A = sparse.vstack([sparse.eye(count), -sparse.eye(count)], format="csc")
        bounds = np.concatenate([self.high.T.ravel(), -self.low.T.ravel()])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P)),
            -self.target.T.ravel(),
            A,
            bounds,
            [clarabel.NonnegativeConeT(2 * count)],
            settings,
        ).solve()
        assert str(solution.status) in {"Solved", "AlmostSolved"}
        return -float(solution.obj_val)


def dual_of(
    K: FloatArray,
    Y: FloatArray,
    R: FloatArray | None = None,
    C: float = 1.0,
    miss: Any = 1.0,
    false_alarm: Any = 1.0,
    weight: Any = 1.0,
    tied: bool = False,
    cost: Any = 1.0,
) -> Dual:
    """Return the dual for targets of 0, 1 and NaN.

    ``miss`` and ``false_alarm`` are costs per label, ``weight`` is per row, ``cost``
    per row and label.
    """
    n, L = Y.shape
    R = np.eye(L) if R is None else R
    signs = np.where(np.isnan(Y), 0, np.where(Y == 1, 1.0, -1.0))
    margin = 2 * np.where(Y == 1, np.broadcast_to(miss, L), np.broadcast_to(false_alarm, L))
    target = np.where(signs == 0, 0, cost) * (2 * signs @ R if tied else signs * margin)
    bound = C * np.broadcast_to(np.asarray(weight, dtype=float).reshape(-1, 1), (n, L))
    return Dual(K, R, target, np.where(signs < 0, -bound, 0.0), np.where(signs > 0, bound, 0.0))
