"""Helpers of the scikit-learn estimators: validate X, record its columns, undo a failed call."""

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tagalong import parameters
from tagalong.learning.input_types import MatrixLike, Rows

__all__ = [
    "columns_of",
    "restart_reason",
    "restore_attributes",
    "restore_columns",
    "restored_on_error",
    "texts",
    "validated",
]


def validated(estimator: BaseEstimator, X: MatrixLike, reset: bool) -> Any:
    """Return X as a dense array or CSR matrix of floats; raise ValueError if that is impossible.

    Parameters
    ----------
    estimator : estimator
        The estimator that X is passed to.
    X : array, sparse matrix or DataFrame of shape (rows, n)
        Examples.
    reset : bool
        Whether to record the columns of X in the estimator. Otherwise X must have the recorded
        columns.
    """
    if _is_ready(X) and not hasattr(estimator, "feature_names_in_"):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        if X.shape[1] == getattr(estimator, "n_features_in_", -1):
            return X
    # The native core checks that all values are finite: its message names the row and column.
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )


def _is_ready(X: Any) -> TypeGuard[Rows]:
    """Return whether scikit-learn's validation would return X unchanged.

    The validation takes longer than learning one row, so it is skipped for such matrices.
    """
    dense = type(X) in (np.ndarray, np.memmap) and X.ndim == 2 and X.flags.c_contiguous
    return (
        (dense or isinstance(X, (sp.csr_array, sp.csr_matrix)))
        and X.dtype in (np.float32, np.float64)
        and X.shape[0] > 0
        and X.shape[1] > 0
    )


def columns_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the columns that an estimator has recorded, as fields of a file header."""
    return {
        "n_features_in": getattr(estimator, "n_features_in_", None),
        "columns": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
    }


def restore_columns(estimator: BaseEstimator, header: Mapping[str, Any]) -> None:
    """Set an estimator's recorded columns from the fields of a file header."""
    count, names = header["n_features_in"], texts(header["columns"], "columns")
    if count is not None:
        estimator.n_features_in_ = parameters.integer(count, "n_features_in", 1, 2**31)
    if names:
        if len(names) != count:
            raise ValueError(f"it has {len(names)} names of columns, but {count} columns")
        estimator.feature_names_in_ = np.array(names, dtype=object)


def restart_reason(header: Mapping[str, Any]) -> str:
    """Return from a file header why the certificate was restarted; empty if it was not."""
    reason = header["restarted"]
    if not isinstance(reason, str):
        raise ValueError(f"restarted must be a string, got {reason!r}")
    return reason


def texts(value: object, name: str) -> list[str]:
    """Return a list of strings from a file header; raise ValueError if it is something else."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name} must be a list of strings, got {value!r}")
    return value


class restored_on_error:
    """Context manager that restores an estimator's attributes if the block raises.

    Parameters
    ----------
    estimator : estimator
        The estimator whose attributes are restored.
    """

    # A class: a generator-based context manager takes longer than learning one example.
    __slots__ = ("_before", "_estimator")

    def __init__(self, estimator: BaseEstimator):
        self._estimator = estimator

    def __enter__(self) -> None:
        self._before = dict(self._estimator.__dict__)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            restore_attributes(self._estimator, self._before)


def restore_attributes(estimator: BaseEstimator, before: dict[str, Any]) -> None:
    """Reset an estimator's attributes to a snapshot.

    Parameters
    ----------
    estimator : estimator
        The estimator whose attributes have changed.
    before : dict
        A copy of its ``__dict__`` from before the change.
    """
    # Update first, delete second: a thread that reads meanwhile never misses an old attribute.
    now = estimator.__dict__
    now.update(before)
    for name in now.keys() - before.keys():
        del now[name]
