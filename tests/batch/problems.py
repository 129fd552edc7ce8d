"""Small training sets and priors for M3L."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[np.float64]


def data(
    seed: int, rows: int = 40, columns: int = 12, labels: int = 5, density: float = 0.4
) -> tuple[Array, Array]:
    """Return rows with many zeros, and labels that depend on them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < density)
    scores = X @ rng.normal(size=(columns, labels)) + 0.8 * rng.normal(size=(rows, labels)) - 0.4
    return X, (scores > 0).astype(float)


def priors(labels: int, seed: int = 0) -> dict[str, Array | None]:
    """Return one prior of each kind: none, diagonal, dense, with negative entries, singular."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(labels, labels))
    dense = np.abs(root) @ np.abs(root).T / labels
    signs = np.where(rng.random((3, labels)) < 0.5, 1.0, -1.0)
    return {
        "none": None,
        "diagonal": np.diag(np.linspace(0.5, 2, labels)),
        "dense": dense,
        "negative": root @ root.T / labels + 0.1 * np.eye(labels),
        "singular": signs.T @ signs / 3,
    }


def many(seed: int, rows: int, columns: int, labels: int, nonzeros: int) -> tuple[Any, Any]:
    """Return sparse rows of unit length, with equal values per row, and rare labels."""
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, columns, size=(rows, nonzeros))
    starts = np.arange(0, rows * nonzeros + 1, nonzeros)
    X = sp.csr_matrix((np.ones(rows * nonzeros), indices.ravel(), starts), (rows, columns))
    X.sum_duplicates()
    X.data[:] = 1
    X = sp.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    scores = X @ rng.normal(size=(columns, labels)) + 0.3 * rng.normal(size=(rows, labels))
    cut = np.quantile(scores, np.linspace(0.6, 0.99, labels), axis=0).diagonal()
    return X, (scores > cut).astype(float)


def nearly_equal(seed: int, rows: int = 120, labels: int = 6) -> tuple[Any, Array]:
    """Return pairs of sparse rows whose values differ by about 2 %, and random labels."""
    rng = np.random.default_rng(seed)
    first = sp.csr_array(sp.random_array((rows, 400), density=0.03, rng=rng))
    second = first.copy()
    second.data *= 1 + 0.02 * rng.normal(size=second.nnz)
    Y = (rng.random((2 * rows, labels)) < 0.3).astype(float)
    return sp.csr_matrix(sp.vstack([first, second])), Y
