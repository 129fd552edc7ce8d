"""A small learnable stream, in every form in which a learner accepts it."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

N_FEATURES = 24
N_LABELS = 20  # more than one vector register holds

Pairs: TypeAlias = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]


class Stream(NamedTuple):
    """Sparse rows with values that are exact in float32, and an indicator of their labels."""

    X: sp.csr_array
    Y: npt.NDArray[np.int64]

    def part(self, rows: slice) -> "Stream":
        return Stream(self.X[rows], self.Y[rows])

    def pairs(self) -> Iterator[Pairs]:
        """Yield the rows as (indices, values)."""
        for start, end in zip(self.X.indptr[:-1], self.X.indptr[1:], strict=True):
            yield self.X.indices[start:end], self.X.data[start:end]

    def named(self) -> list[dict[str, float]]:
        """Return the rows as mappings of feature names to values."""
        return [
            {f"word-{i}": float(v) for i, v in zip(*pair, strict=True)} for pair in self.pairs()
        ]

    def sets(self) -> list[list[str]]:
        """Return the names of each row's labels."""
        return [[f"label-{y}" for y in np.flatnonzero(row)] for row in self.Y]

    def numbers(self) -> list[list[int]]:
        """Return the numbers of each row's labels."""
        return [np.flatnonzero(row).tolist() for row in self.Y]

    def singles(self) -> list[str]:
        """Return one label per row."""
        return [f"label-{y}" for y in self.Y.argmax(axis=1)]


def make_stream(
    seed: int = 0, rows: int = 90, features: int = N_FEATURES, labels: int = N_LABELS
) -> Stream:
    """Return rows with a quarter of the features, and labels from hidden weights plus noise.

    A few rows have no labels, and a few have all labels.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 16, (rows, features)) / 8 * (rng.random((rows, features)) < 0.25)
    hidden = rng.normal(size=(features, labels))
    scores = X @ hidden + 0.3 * rng.normal(size=(rows, labels))
    Y = (scores >= np.sort(scores, axis=1)[:, [-3]]).astype(np.int64)
    Y[5::31] = 0
    Y[9::31] = 1
    return Stream(sp.csr_array(X), Y)


def scrambled(X: sp.csr_array, seed: int = 1) -> sp.csr_array:
    """Return the matrix with unsorted indices, duplicate entries and explicit zeros.

    The duplicates of an entry sum exactly to it, in any order.
    """
    rng = np.random.default_rng(seed)
    data, indices, indptr = [], [], [0]
    for row in X.toarray():
        parts: list[tuple[int, float]] = []
        for column in np.flatnonzero(row):
            share = float(rng.integers(-8, 8)) / 4
            parts += [(int(column), share), (int(column), float(row[column]) - share)]
        parts += [(int(column), 0.0) for column in np.flatnonzero(row == 0)[:2]]
        for at in rng.permutation(len(parts)):
            indices.append(parts[at][0])
            data.append(parts[at][1])
        indptr.append(len(indices))
    return sp.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)


def forms(X: sp.csr_array) -> dict[str, Any]:
    """Return the matrix in every layout and type that a learner accepts."""
    dense = X.toarray()
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    strided = np.empty((len(dense), 2 * dense.shape[1]))[:, ::2]
    strided[:] = dense
    return {
        "csr": X,
        "csr matrix": sp.csr_matrix(X),
        "csr, 64-bit indices": wide,
        "csr, float32": X.astype(np.float32),
        "csr, out of order with duplicates": scrambled(X),
        "csc": X.tocsc(),
        "coo": X.tocoo(),
        "dense": dense,
        "dense, float32": dense.astype(np.float32),
        "dense, column by column": np.asfortranarray(dense),
        "dense, strided": strided,
        "nested lists": dense.tolist(),
    }
