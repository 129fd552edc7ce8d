"""Conversion of examples to the arrays that the native core reads."""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native
from tagalong.learning.input_types import Rows

__all__ = [
    "FeatureNames",
    "FeatureRows",
    "Pair",
    "SparseRows",
    "as_matrix",
    "as_pairs",
    "has_named_features",
]

Pair: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
_VALUE_TYPES = (np.dtype(np.float32), np.dtype(np.float64))

# Exact types of feature names and values that need no further check.
_NAME_TYPES = frozenset({str})
_NUMBER_TYPES = frozenset({int, float})


class SparseRows(NamedTuple):
    """Rows of numbered features in CSR form, features ascending within each row.

    The number of columns is not fixed: any row may contain new features.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]

    @classmethod
    def of_pairs(cls, pairs: Sequence[Pair]) -> "SparseRows":
        """Return examples as rows."""
        ends = np.cumsum([0, *(len(indices) for indices, _ in pairs)], dtype=np.int64)
        indices = np.concatenate([indices for indices, _ in pairs]).astype(np.int32)
        return cls(ends, indices, np.concatenate([values for _, values in pairs], dtype=np.float64))

    def matrix(self) -> _native.Matrix:
        """Return a native view of the rows; its width is the largest feature number plus one."""
        columns = int(self.indices.max(initial=-1)) + 1
        return _native.Matrix.csr(self.values, self.indices, self.indptr.astype(np.int32), columns)


FeatureRows: TypeAlias = SparseRows | _native.FeatureRows
"""Rows of numbered features: arrays of NumPy, or rows that the native core has made of texts."""


def as_matrix(X: Rows) -> _native.Matrix:
    """Return a native view of a validated dense array or CSR matrix.

    Copies only the indices of a CSR matrix, if the types of its two index arrays differ.
    """
    if not isinstance(X, (sp.csr_array, sp.csr_matrix)):
        return _native.Matrix.dense(X)
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return _native.Matrix.csr(X.data, indices, indptr, X.shape[1])


def as_vector(
    values: npt.ArrayLike, types: tuple[np.dtype[Any], ...], what: str
) -> npt.NDArray[Any]:
    """Return a part of an example as a one-dimensional array of one of the types."""
    if isinstance(values, np.ndarray) and values.dtype in types and values.ndim == 1:
        return values
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(types[-1]).reshape(-1)
    allowed = "iu" if types is _INDEX_TYPES else "iufb"
    if array.ndim != 1 or array.dtype.kind not in allowed:
        kind = "integers" if types is _INDEX_TYPES else "numbers"
        raise ValueError(f"the {what} of x must be a sequence of {kind}, got {values!r}")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"the {what} of x must be below 2**31, got {array.max()}")
    return array.astype(types[-1], copy=False)


def as_pairs(x: Any) -> Pair:
    """Return one example, (indices, values) or a mapping of indices to values, as two arrays."""
    indices: Any
    values: Any
    if type(x) is not tuple and isinstance(x, Mapping):
        indices, values = list(x.keys()), list(x.values())
    else:
        try:
            indices, values = x
        except (TypeError, ValueError):
            raise ValueError(
                "x must be (indices, values) or a mapping of features to values, got "
                f"{type(x).__name__}"
            ) from None
    return as_vector(indices, _INDEX_TYPES, "indices"), as_vector(values, _VALUE_TYPES, "values")


class FeatureNames:
    """Mapping of feature names to feature numbers.

    The names are the columns of a DataFrame, or are numbered in order of appearance.

    Parameters
    ----------
    names : iterable of str
        The names of features 0, 1, 2, ...
    grows : bool
        Whether learning may add new names.
    """

    def __init__(self, names: Iterable[str] = (), grows: bool = True):
        self.number = {name: i for i, name in enumerate(names)}
        self.grows = grows

    def translate_plain(self, x: dict[Any, Any], learning: bool) -> tuple[Pair, list[str]] | None:
        """Return the same as ``translate`` for a usual dictionary, in one native pass over it.

        None if the dictionary is not usual, and ``translate`` has to look at each entry: if some
        keys are not strings, some values not finite numbers of type int or float, or new names are
        not allowed.
        """
        size = len(x)
        indices, values = np.empty(size, np.int32), np.empty(size)
        new: list[str] = []
        found = _native.number_names(self.number, x, new if learning else None, indices, values)
        if found < size:  # names without weights, or not usual
            if found < 0:
                return None
            indices, values = indices[:found], values[:found]
        return None if new and not self.grows else ((indices, values), new)

    def translate(self, x: Mapping[str, float], learning: bool) -> tuple[Pair, list[str]]:
        """Return an example as (indices, values), and its new names.

        When predicting, new names are left out: they have no weights yet.
        """
        names, values = list(x.keys()), list(x.values())
        numbers: list[Any] = list(map(self.number.get, names))
        has_new = None in numbers  # known keys are strings; only new ones need the type check
        if (
            (has_new and not _NAME_TYPES.issuperset(map(type, names)))
            or not _NUMBER_TYPES.issuperset(map(type, values))
            or not all(map(math.isfinite, values))
        ):
            _check_names(x)
        new: list[str] = []
        if has_new and learning:
            new = [name for name, number in zip(names, numbers, strict=True) if number is None]
            if not self.grows:
                raise ValueError(f"x: feature {new[0]!r} is not among the feature names")
            next_numbers = count(len(self.number))
            numbers = [next(next_numbers) if number is None else number for number in numbers]
        elif has_new:
            values = [v for v, number in zip(values, numbers, strict=True) if number is not None]
            numbers = [number for number in numbers if number is not None]
        return as_pairs((numbers, values)), new

    def extend(self, names: Iterable[str]) -> None:
        """Assign the next free numbers to new names."""
        for name in names:
            self.number[name] = len(self.number)


def _check_names(x: Mapping[str, float]) -> None:
    """Raise ValueError for the first key that is not a string or value that is not finite."""
    for name, value in x.items():
        if not isinstance(name, str):
            raise ValueError(f"x: feature {name!r} is not a string; features are named by strings")
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            shown = "NaN" if value != value else repr(value)
            raise ValueError(f"x: feature {name!r} is {shown}; values must be finite numbers")


def has_named_features(x: object) -> bool:
    """Return whether an example is a mapping in which some features are names."""
    return isinstance(x, Mapping) and any(isinstance(feature, str) for feature in x)
