"""What all estimators share: matrices in, columns remembered, nothing kept of a failed call."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

__all__ = ["columns_of", "put_back", "restore_columns", "restored_on_error", "validated"]


def validated(estimator: Any, X: Any, reset: bool) -> Any:
    """Return X as a dense array or CSR matrix of floats; ValueError if it cannot be.

    Parameters
    ----------
    estimator : estimator
        Whose columns X must have.
    X : array, sparse matrix or DataFrame of shape (rows, n)
        Examples.
    reset : bool
        Whether X says what the columns are.
    """
    if _is_ready(X) and not hasattr(estimator, "feature_names_in_"):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        if X.shape[1] == getattr(estimator, "n_features_in_", -1):
            return X
    # Whether values are finite is checked natively, which can say where they are not.
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )


def _is_ready(X: Any) -> bool:
    """Whether X is a matrix that scikit-learn's checks, slower than a step, would not change."""
    dense = type(X) in (np.ndarray, np.memmap) and X.ndim == 2 and X.flags.c_contiguous
    return (
        (dense or isinstance(X, (sp.csr_array, sp.csr_matrix)))
        and X.dtype in (np.float32, np.float64)
        and X.shape[0] > 0
        and X.shape[1] > 0
    )


def columns_of(estimator: Any) -> dict[str, Any]:
    """Return what a file keeps of the columns that an estimator has seen."""
    return {
        "n_features_in": getattr(estimator, "n_features_in_", None),
        "columns": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
    }


def restore_columns(estimator: Any, header: Mapping[str, Any]) -> None:
    """Tell an estimator about the columns that a file kept."""
    if header["n_features_in"] is not None:
        estimator.n_features_in_ = header["n_features_in"]
    if header["columns"]:
        estimator.feature_names_in_ = np.array(header["columns"], dtype=object)


class restored_on_error:
    """Undo what was noted about a first example, or about columns that were unusable.

    Parameters
    ----------
    estimator : estimator
        Whose attributes are put back when the block ends with an error.
    """

    # A class, as a generator would cost more than the rest of learning one example.
    __slots__ = ("_before", "_estimator")

    def __init__(self, estimator: Any):
        self._estimator = estimator

    def __enter__(self) -> None:
        self._before = dict(self._estimator.__dict__)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            put_back(self._estimator, self._before)


def put_back(estimator: Any, before: dict[str, Any]) -> None:
    """Give an estimator the attributes that it had, and no others.

    Parameters
    ----------
    estimator : estimator
        Whose attributes have changed.
    before : dict
        A copy of what they were.
    """
    # In this order, so that a reader in another thread finds everything at all times.
    now = estimator.__dict__
    now.update(before)
    for name in now.keys() - before.keys():
        del now[name]
