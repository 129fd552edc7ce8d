r"""Conic programs, solved by Clarabel.

Clarabel minimises :math:`\tfrac12 v^T P v + q^T v` subject to :math:`b - A v` in a product of
cones. It is imported only when a program is solved, so a machine without it can skip the tests.
"""

import importlib
from typing import Any

import numpy as np
from scipy import sparse

from .geometries import FloatArray


class Program:
    """A conic program, built constraint by constraint.

    Parameters
    ----------
    n_variables : length of v.

    Attributes
    ----------
    quadratic : diagonal of P.
    linear : q.
    """

    def __init__(self, n_variables: int) -> None:
        self.quadratic = np.zeros(n_variables)
        self.linear = np.zeros(n_variables)
        self._rows: list[FloatArray] = []
        self._constants: list[float] = []
        self._cones: list[tuple[str, int]] = []

    def unit(self, index: int) -> FloatArray:
        """Return the expression of one variable."""
        row = np.zeros(len(self.linear))
        row[index] = 1.0
        return row

    def require(self, cone: str, *expressions: tuple[FloatArray, float]) -> None:
        """Add the constraint that the expressions ``row @ v + constant`` lie in a cone.

        Parameters
        ----------
        cone : "zero", "nonnegative" or "exponential". The last one contains the triples (a, b, c)
            with b > 0 and b exp(a/b) <= c.
        expressions : rows and constants.
        """
        self._rows += [-row for row, _ in expressions]
        self._constants += [constant for _, constant in expressions]
        self._cones.append((cone, len(expressions)))

    def minimise(self) -> tuple[FloatArray, float]:
        """Return the solution and the value."""
        clarabel: Any = importlib.import_module("clarabel")
        make = {
            "zero": clarabel.ZeroConeT,
            "nonnegative": clarabel.NonnegativeConeT,
            "exponential": lambda _: clarabel.ExponentialConeT(),
        }
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(np.diag(self.quadratic)),
            self.linear,
            sparse.csc_matrix(np.array(self._rows)),
            np.array(self._constants),
            [make[cone](size) for cone, size in self._cones],
            settings,
        ).solve()
        if str(solution.status) not in {"Solved", "AlmostSolved"}:
            raise RuntimeError(f"the conic solver stopped with status {solution.status}")
        return np.array(solution.x), float(solution.obj_val)
