"""Kernels: products of blocks of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.batch.m3l.matrices import as_dense, is_sparse
from tagalong.learning.input_types import Rows, Values

__all__ = ["KERNELS", "Kernel", "KernelFunction", "make_kernel"]

KernelFunction: TypeAlias = Callable[[Any, Any], Any]
"""A function of two matrices that returns the products of their rows."""

KERNELS = ("linear", "rbf", "poly", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel with fixed parameters.

    Parameters
    ----------
    name : str or callable
        One of ``KERNELS``, or a function of two matrices that returns their products.
    gamma : float
        Coefficient of ``"rbf"`` and ``"poly"``.
    degree : int
        Degree of ``"poly"``.
    coef0 : float
        Constant term of ``"poly"``.
    """

    name: str | KernelFunction
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def between(self, A: Rows, B: Rows) -> npt.NDArray[Any]:
        """Return the products of the rows of A with those of B, (rows of A, rows of B)."""
        return self.with_rows_of(B)(A)

    def with_rows_of(self, B: Rows) -> Callable[[Any], npt.NDArray[Any]]:
        """Return ``between`` as a function of A for a fixed B; computes the terms of B once."""
        if self.name == "precomputed":
            return np.asarray
        if callable(self.name):
            return partial(self._custom, B)
        if self.name == "rbf":
            return partial(self._rbf, B, -self.gamma * squared_lengths(B)[None, :])
        if self.name == "poly":
            return lambda A: np.asarray(
                (self.gamma * as_dense(A @ B.T) + self.coef0) ** self.degree
            )
        return lambda A: as_dense(A @ B.T)

    def _custom(self, B: Rows, A: Rows) -> npt.NDArray[Any]:
        products = as_dense(self.name(A, B))  # type: ignore[operator]
        if products.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel must return shape {(A.shape[0], B.shape[0])}, got {products.shape}"
            )
        return products

    def _rbf(self, B: Rows, term_of_B: Values, A: Rows) -> npt.NDArray[Any]:
        """Return exp(2 gamma a.b - gamma |a|^2 - gamma |b|^2); ``term_of_B`` is the last term."""
        out = as_dense((A * (2 * self.gamma)) @ B.T)
        out -= self.gamma * squared_lengths(A)[:, None]
        out += term_of_B
        np.minimum(out, 0, out=out)
        return np.asarray(np.exp(out, out=out))

    def diagonal(self, X: Rows) -> npt.NDArray[np.float64]:
        """Return the product of each row with itself, (rows,)."""
        if self.name == "precomputed":
            return np.asarray(X).diagonal().astype(np.float64)
        if self.name == "rbf":
            return np.ones(X.shape[0])
        if callable(self.name):
            each = [self.between(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])]
            return np.array(each, dtype=np.float64)
        lengths = squared_lengths(X).astype(np.float64)
        if self.name == "poly":
            return np.asarray((self.gamma * lengths + self.coef0) ** self.degree)
        return lengths


def squared_lengths(X: Any) -> npt.NDArray[Any]:
    """Return the squared length of each row."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def make_kernel(
    kernel: str | KernelFunction, gamma: float | str, degree: int, coef0: float, X: Any
) -> Kernel:
    """Return the kernel of an estimator's parameters; raise ValueError for an invalid one."""
    if not callable(kernel):
        parameters.choice(kernel, "kernel", KERNELS)
    degree = parameters.integer(degree, "degree", 1)
    coef0 = parameters.real(coef0, "coef0")
    if isinstance(gamma, str):
        parameters.choice(gamma, "gamma", ("scale", "auto"))
        columns = max(1, X.shape[1])
        variance = 1.0
        if gamma == "scale" and kernel in ("rbf", "poly"):
            squares = X.multiply(X).mean() if is_sparse(X) else np.square(X).mean()
            variance = float(squares - np.square(X.mean(dtype=np.float64)))
        number = 1.0 / (columns * variance) if variance > 0 else 1.0
    else:
        number = parameters.positive(gamma, "gamma")
    return Kernel(kernel, number, degree, coef0)
