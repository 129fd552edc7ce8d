"""The learnt weights or support vectors of M3L, and prediction with them."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.batch.m3l.kernels import Kernel
from tagalong.batch.m3l.matrices import is_sparse

__all__ = ["KernelModel", "LinearModel", "Model"]

Array = npt.NDArray[Any]

# Prediction computes at most this many kernel products at a time, to limit memory.
MAX_KERNEL_ENTRIES = 4_000_000


class Model(Protocol):
    """A model that scores labels."""

    def scores(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, labels)."""

    def known_features(self, indices: Array) -> npt.NDArray[np.bool_]:
        """Return which features affect the scores."""


@dataclass(frozen=True)
class LinearModel:
    """Weights of the features that occurred in the training data.

    Parameters
    ----------
    features : array of int
        The columns of these features, ascending.
    weights : array of shape (features, labels)
        One row of weights per feature.
    columns : int
        Number of columns of the training data.
    intercept : array of shape (labels,), optional
        Contribution of the constant feature to the scores; None without a constant feature.
    """

    features: npt.NDArray[np.int32]
    weights: Array
    columns: int
    intercept: Array | None = None

    def scores(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, labels)."""
        products = self._products(X)
        return products if self.intercept is None else products + self.intercept

    def _products(self, X: Any) -> Array:
        """Return the products of rows and weights, (rows, labels)."""
        if len(self.features) == self.columns:
            return np.asarray(X @ self.weights)
        if not is_sparse(X):
            return np.asarray(X[:, self.features] @ self.weights)
        rows, known = self._weight_rows(X.indices)
        starts = np.concatenate([[0], np.cumsum(known)])[X.indptr]
        known_entries = sp.csr_array(
            (X.data[known], rows, starts), shape=(X.shape[0], len(self.features))
        )
        return np.asarray(known_entries @ self.weights)

    @property
    def bytes(self) -> int:
        """Memory, in bytes."""
        intercept = 0 if self.intercept is None else self.intercept.nbytes
        return int(self.weights.nbytes + self.features.nbytes + intercept)

    def score_one(self, indices: Array, values: Array) -> Array:
        """Return the scores of all labels for one example."""
        rows, known = self._weight_rows(indices)
        products = np.asarray(values[known] @ self.weights[rows], dtype=self.weights.dtype)
        return products if self.intercept is None else products + self.intercept

    def known_features(self, indices: Array) -> npt.NDArray[np.bool_]:
        """Return whether each feature has weights."""
        return self._weight_rows(indices)[1]

    def contributions(self, indices: Array, values: Array, label: int) -> npt.NDArray[np.float64]:
        """Return the contribution of each feature of an example to a label's score."""
        rows, known = self._weight_rows(indices)
        out = np.zeros(len(indices))
        out[known] = values[known] * self.weights[rows, label]
        return out

    def coef(self, max_dense: int) -> Array | sp.csr_array:
        """Return the weights, (labels, columns); sparse if larger than `max_dense` entries."""
        labels = self.weights.shape[1]
        if labels * self.columns <= max_dense:
            out = np.zeros((labels, self.columns), dtype=self.weights.dtype)
            out[:, self.features] = self.weights.T
            return out
        rows = np.tile(np.arange(labels), len(self.features))
        columns = np.repeat(self.features, labels)
        sparse = sp.csr_array((self.weights.ravel(), (rows, columns)), shape=(labels, self.columns))
        sparse.eliminate_zeros()
        return sparse

    def _weight_rows(self, indices: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the rows of ``weights`` of the known features, and which features are known."""
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
        The kernel.
    support : array of int
        The rows of the training data that are support vectors.
    vectors : array or CSR matrix, or None
        The support vectors; None if the kernel is precomputed.
    coefficients : array of shape (support vectors, labels)
        Factor of each support vector's kernel product in each label's score.
    """

    kernel: Kernel
    support: npt.NDArray[np.int64]
    vectors: Any
    coefficients: Array

    def known_features(self, indices: Array) -> npt.NDArray[np.bool_]:
        """Return whether each feature occurs in a support vector; True if precomputed."""
        if self.vectors is None:
            return np.ones(len(indices), bool)
        if is_sparse(self.vectors):
            return np.isin(indices, self.vectors.indices)
        inside = indices < self.vectors.shape[1]
        known = np.zeros(len(indices), bool)
        known[inside] = (self.vectors[:, indices[inside]] != 0).any(axis=0)
        return known

    @property
    def bytes(self) -> int:
        """Memory, in bytes."""
        vectors = self.vectors
        values = vectors.data if is_sparse(vectors) else vectors
        return int(self.coefficients.nbytes + (0 if vectors is None else values.nbytes))

    def scores(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, labels)."""
        out = np.zeros((X.shape[0], self.coefficients.shape[1]))
        if self.kernel.name == "precomputed":
            return np.asarray(X[:, self.support] @ self.coefficients)
        step = max(1, MAX_KERNEL_ENTRIES // max(1, len(self.support)))
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            out[part] = self.kernel.between(X[part], self.vectors) @ self.coefficients
        return out
