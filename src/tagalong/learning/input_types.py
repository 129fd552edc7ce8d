"""Types of the data that the learners accept, before and after validation."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = [
    "Classes",
    "Indices",
    "MatrixLike",
    "Rows",
    "SampleWeight",
    "TargetsLike",
    "Values",
]

MatrixLike: TypeAlias = npt.ArrayLike | sp.sparray | sp.spmatrix
"""Examples: an array, a sparse matrix or a DataFrame, one row per example."""

Rows: TypeAlias = npt.NDArray[np.floating[Any]] | sp.csr_array | sp.csr_matrix
"""Validated examples."""

Indices: TypeAlias = npt.NDArray[np.integer[Any]]
"""The feature numbers of one example."""

Values: TypeAlias = npt.NDArray[np.floating[Any]]
"""The feature values of one example, in the order of its `Indices`."""

TargetsLike: TypeAlias = MatrixLike | Sequence[Collection[Hashable]]
"""An indicator matrix, one collection of labels per row, or one label per row."""

Classes: TypeAlias = Iterable[Hashable] | None
"""All labels, or "grow" to let new labels appear at any time."""

SampleWeight: TypeAlias = npt.ArrayLike | None
"""One number per row, or None for equal weights."""
