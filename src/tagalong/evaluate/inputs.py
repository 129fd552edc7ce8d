"""Conversion of inputs: sliceable matrices, and label names as Python values."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["plain_names", "sliceable"]


class _FrameRows:
    """A DataFrame whose slices are slices of its rows."""

    def __init__(self, frame: Any):
        self._frame = frame
        self.shape: tuple[int, ...] = frame.shape

    def __getitem__(self, rows: slice) -> Any:
        return self._frame.iloc[rows]


def sliceable(matrix: Any) -> Any:
    """Return a matrix, a DataFrame or a list as an object whose slices are slices of rows."""
    if hasattr(matrix, "iloc"):
        return _FrameRows(matrix)
    if sp.issparse(matrix):
        sparse: Any = matrix
        return sparse.tocsr()
    if isinstance(matrix, (list, tuple)):
        return matrix
    return np.asarray(matrix)


def plain_names(classes: Sequence[Hashable]) -> list[Hashable]:
    """Return labels as a list of plain Python values."""
    return classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
