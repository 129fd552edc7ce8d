"""What M3L has learnt, as far as predicting needs it."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.batch.m3l.kernels import Kernel
from tagalong.batch.m3l.matrices import is_sparse

__all__ = ["KernelModel", "LinearModel", "Model"]

Array = npt.NDArray[Any]

# Kernel products with support vectors are made for so many numbers at a time.
NUMBERS_AT_ONCE = 4_000_000


class Model(Protocol):
    """Something that scores labels."""

    def scores(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, labels)."""


@dataclass(frozen=True)
class LinearModel:
    """Weights of the features that occurred.

    Parameters
    ----------
    features : array of int
        Their columns, ascending.
    weights : array of shape (features, labels)
        A row for each of them.
    columns : int
        How many columns there are.
    """

    features: npt.NDArray[np.int32]
    weights: Array
    columns: int

    def scores(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, labels)."""
        if len(self.features) == self.columns:
            return np.asarray(X @ self.weights)
        if not is_sparse(X):
            return np.asarray(X[:, self.features] @ self.weights)
        number, known = self._numbers(X.indices)
        starts = np.concatenate([[0], np.cumsum(known)])[X.indptr]
        kept = sp.csr_array((X.data[known], number, starts), shape=(X.shape[0], len(self.features)))
        return np.asarray(kept @ self.weights)

    @property
    def bytes(self) -> int:
        """What they take in memory."""
        return int(self.weights.nbytes + self.features.nbytes)

    def score_one(self, indices: Array, values: Array) -> Array:
        """Return the scores of all labels for one example."""
        number, known = self._numbers(indices)
        return np.asarray(values[known] @ self.weights[number], dtype=self.weights.dtype)

    def parts_of(self, indices: Array, values: Array, label: int) -> npt.NDArray[np.float64]:
        """Return what each feature of an example adds to a label's score."""
        number, known = self._numbers(indices)
        out = np.zeros(len(indices))
        out[known] = values[known] * self.weights[number, label]
        return out

    def coef(self, most_dense: int) -> Any:
        """Return the weights as (labels, columns), sparse beyond so many numbers."""
        labels = self.weights.shape[1]
        if labels * self.columns <= most_dense:
            out = np.zeros((labels, self.columns), dtype=self.weights.dtype)
            out[:, self.features] = self.weights.T
            return out
        rows = np.tile(np.arange(labels), len(self.features))
        columns = np.repeat(self.features, labels)
        found = sp.csr_array((self.weights.ravel(), (rows, columns)), shape=(labels, self.columns))
        found.eliminate_zeros()
        return found

    def _numbers(self, indices: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        at = np.searchsorted(self.features, indices)
        at[at == len(self.features)] = 0
        if not len(self.features):
            return np.zeros(0, np.intp), np.zeros(len(indices), bool)
        known = self.features[at] == indices
        return at[known], known


@dataclass(frozen=True)
class KernelModel:
    """Support vectors and their coefficients.

    Parameters
    ----------
    kernel : Kernel
        How rows are compared.
    support : array of int
        Which rows of the training data they were.
    vectors : array or CSR matrix, or None
        The rows themselves; None where the kernel is given by the user, row by row.
    coefficients : array of shape (support vectors, labels)
        What a product with each adds to each label's score.
    """

    kernel: Kernel
    support: npt.NDArray[np.int64]
    vectors: Any
    coefficients: Array

    @property
    def bytes(self) -> int:
        """What they take in memory."""
        vectors = self.vectors
        values = vectors.data if is_sparse(vectors) else vectors
        return int(self.coefficients.nbytes + (0 if vectors is None else values.nbytes))

    def scores(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, labels)."""
        out = np.zeros((X.shape[0], self.coefficients.shape[1]))
        if self.kernel.name == "precomputed":
            return np.asarray(X[:, self.support] @ self.coefficients)
        step = max(1, NUMBERS_AT_ONCE // max(1, len(self.support)))
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            out[part] = self.kernel.between(X[part], self.vectors) @ self.coefficients
        return out
