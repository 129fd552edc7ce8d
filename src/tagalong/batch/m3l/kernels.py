"""Kernels: products of rows with rows, a block at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.batch.m3l.matrices import as_dense, is_sparse

__all__ = ["KERNELS", "Kernel", "make_kernel"]

KERNELS = ("linear", "rbf", "poly", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its numbers settled.

    Parameters
    ----------
    name : str or callable
        One of ``KERNELS``, or a function of two matrices that returns their products.
    gamma : float
        Of ``"rbf"`` and ``"poly"``.
    degree : int
        Of ``"poly"``.
    coef0 : float
        Of ``"poly"``.
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def between(self, A: Any, B: Any) -> npt.NDArray[Any]:
        """Return the products of the rows of A with those of B, (rows of A, rows of B)."""
        return self.with_rows_of(B)(A)

    def with_rows_of(self, B: Any) -> Callable[[Any], npt.NDArray[Any]]:
        """Return a function of A that does the same, for many A: what B alone decides is kept."""
        if self.name == "precomputed":
            return np.asarray
        if callable(self.name):
            return partial(self._called, B)
        if self.name == "rbf":
            return partial(self._rbf, B, -self.gamma * squared_lengths(B)[None, :])
        if self.name == "poly":
            return lambda A: np.asarray(
                (self.gamma * as_dense(A @ B.T) + self.coef0) ** self.degree
            )
        return lambda A: as_dense(A @ B.T)

    def _called(self, B: Any, A: Any) -> npt.NDArray[Any]:
        found = as_dense(self.name(A, B))  # type: ignore[operator]
        if found.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel must return shape {(A.shape[0], B.shape[0])}, got {found.shape}"
            )
        return found

    def _rbf(self, B: Any, far: npt.NDArray[Any], A: Any) -> npt.NDArray[Any]:
        """exp(2 gamma a.b - gamma |a|^2 - gamma |b|^2), where the last term is given."""
        out = as_dense((A * (2 * self.gamma)) @ B.T)
        out -= self.gamma * squared_lengths(A)[:, None]
        out += far
        np.minimum(out, 0, out=out)
        return np.asarray(np.exp(out, out=out))

    def diagonal(self, X: Any) -> npt.NDArray[np.float64]:
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


def make_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any, X: Any) -> Kernel:
    """Return the kernel that an estimator's parameters describe, for data; ValueError if none."""
    if not callable(kernel):
        parameters.choice(kernel, "kernel", KERNELS)
    degree = parameters.integer(degree, "degree", 1)
    coef0 = parameters.real(coef0, "coef0")
    if isinstance(gamma, str):
        parameters.choice(gamma, "gamma", ("scale", "auto"))
        columns = max(1, X.shape[1])
        spread = 1.0
        if gamma == "scale" and kernel in ("rbf", "poly"):
            squares = X.multiply(X).mean() if is_sparse(X) else np.square(X).mean()
            spread = float(squares - np.square(X.mean(dtype=np.float64)))
        found = 1.0 / (columns * spread) if spread > 0 else 1.0
    else:
        found = parameters.positive(gamma, "gamma")
    return Kernel(kernel, found, degree, coef0)
