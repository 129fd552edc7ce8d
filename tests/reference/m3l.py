"""M3L's dual solved by a general solver, and its conditions of optimality, in plain NumPy."""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .geometries import FloatArray


@dataclass(frozen=True)
class Dual:
    """max over b of <t, b> - 2 sum R_lk b_l' K b_k, low <= b <= high; b has a column a label."""

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
        """The primal value at the weights of b, its slacks solved for."""
        h = self.derivative(b)
        complexity = 2 * np.einsum("lk,il,ik->", self.R, b, self.K @ b)
        # A variable's slack is max(0, y h), and its C the length of its interval.
        return float(
            complexity + (self.high * np.maximum(h, 0) + self.low * np.minimum(h, 0)).sum()
        )

    def violation(self, b: FloatArray) -> float:
        """The largest projected derivative."""
        h = self.derivative(b)
        up = np.where(b < self.high, np.maximum(h, 0), 0)
        down = np.where(b > self.low, np.maximum(-h, 0), 0)
        return float(np.maximum(up, down).max())

    def maximum(self) -> float:
        """The optimum, by clarabel."""
        clarabel: Any = importlib.import_module("clarabel")
        n, L = self.target.shape
        P = 4 * np.kron(self.R, self.K)  # b column by column
        count = n * L
        A = sparse.vstack([sparse.eye(count), -sparse.eye(count)], format="csc")
        limits = np.concatenate([self.high.T.ravel(), -self.low.T.ravel()])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P)),
            -self.target.T.ravel(),
            A,
            limits,
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
) -> Dual:
    """The dual of targets 0, 1 and NaN, with costs a label and weights a row."""
    n, L = Y.shape
    R = np.eye(L) if R is None else R
    signs = np.where(np.isnan(Y), 0, np.where(Y == 1, 1.0, -1.0))
    margin = 2 * np.where(Y == 1, np.broadcast_to(miss, L), np.broadcast_to(false_alarm, L))
    target = 2 * signs @ R if tied else signs * margin
    bound = C * np.broadcast_to(np.asarray(weight, dtype=float).reshape(-1, 1), (n, L))
    return Dual(K, R, target, np.where(signs < 0, -bound, 0.0), np.where(signs > 0, bound, 0.0))
