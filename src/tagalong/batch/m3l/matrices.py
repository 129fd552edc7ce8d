"""Helpers for matrices that are dense or sparse."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["as_dense", "is_sparse"]


def is_sparse(X: object) -> bool:
    """Return whether X is a sparse matrix."""
    return bool(sp.issparse(X))


def as_dense(X: Any) -> npt.NDArray[Any]:
    """Return X as a dense array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)
