"""Validation of the matrices that custom features return for an example."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.learning.input_types import Rows
from tagalong.online.shared_ranker.label_features import LARGEST_FEATURE_COUNT

__all__ = ["checked_label_rows", "describe_bad_values"]


def checked_label_rows(given: Any, labels: int, columns: int | None, where: str) -> Rows:
    """Return a dense array or CSR matrix of floats, one row per label; ValueError if invalid.

    Parameters
    ----------
    given : object
        The return value of the features.
    labels : int
        The required number of rows.
    columns : int or None
        The required number of columns; None means any.
    where : str
        The method and the example, for error messages.
    """
    sparse = bool(sp.issparse(given))
    try:
        rows: Any = given.tocsr() if sparse else np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{where}: not an array: {error}") from None
    if rows.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: must be an array or a sparse matrix of numbers, got "
            f"{type(given).__name__} of type {rows.dtype}"
        )
    fits = rows.ndim == 2 and rows.shape[0] == labels and rows.shape[1] <= LARGEST_FEATURE_COUNT
    if not fits or columns not in (None, rows.shape[1]):
        n = "n" if columns is None else columns
        raise ValueError(
            f"{where}: the shape is {rows.shape}; it must be ({labels}, {n}), one row for each of "
            f"the {labels} labels"
        )
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    return rows if sparse else np.ascontiguousarray(rows)


def describe_bad_values(rows: Rows, names: Sequence[Hashable]) -> str:
    """Describe the first invalid number of a rejected matrix; empty if the indices are bad."""
    labels: npt.NDArray[np.integer[Any]]
    columns: npt.NDArray[np.integer[Any]]
    if not isinstance(rows, np.ndarray):
        if not ((rows.indices >= 0) & (rows.indices < rows.shape[1])).all():
            return ""
        entries = rows.tocoo()
        labels, columns, values = entries.row, entries.col, entries.data
    else:
        labels, columns = np.indices(rows.shape).reshape(2, -1)
        values = rows.ravel()
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        at = bad[0]
        shown = "NaN" if np.isnan(values[at]) else "infinity" if values[at] > 0 else "-infinity"
        label = names[labels[at]]
        return f"label {label!r}, feature {columns[at]} is {shown}; values must be finite"
    shares = values.astype(np.float64) / np.abs(values).max()
    longest = int(np.argmax(np.bincount(labels, shares**2)))
    return (
        f"the row of label {names[longest]!r} is too long: the storage type cannot hold the sum of "
        "its squares; scale the features down"
    )
