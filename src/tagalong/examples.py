"""Examples in any form as what the native core reads."""

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native

__all__ = ["FeatureNames", "as_matrix", "as_pairs", "comes_by_name"]

Pair: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
_VALUE_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


def as_matrix(X: Any) -> _native.Matrix:
    """View a checked dense array or CSR matrix; copies only where the layout demands it."""
    if not isinstance(X, (sp.csr_array, sp.csr_matrix)):
        return _native.Matrix.dense(X)
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return _native.Matrix.csr(X.data, indices, indptr, X.shape[1])


def as_vector(values: Any, types: tuple[np.dtype[Any], ...], what: str) -> npt.NDArray[Any]:
    """Return a one-dimensional array of one of the types."""
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
    return array.astype(types[-1])


def as_pairs(x: Any) -> Pair:
    """Return one example, (indices, values) or a mapping of indices, as two arrays."""
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
    """Numbers for features that come by name: the columns of a DataFrame, or as they appear.

    Parameters
    ----------
    names : iterable of str
        The names of features 0, 1, 2, ...
    grows : bool
        Whether learning may bring new names.
    """

    def __init__(self, names: Iterable[str] = (), grows: bool = True):
        self.number = {name: i for i, name in enumerate(names)}
        self.grows = grows

    def translate(self, x: Mapping[str, float], learning: bool) -> tuple[Pair, list[str]]:
        """Return an example's pairs, and the names that are new.

        When predicting, names without a number are left out: they have no weights yet.
        """
        new: dict[str, int] = {}
        pairs: dict[int, float] = {}
        for name, value in x.items():
            if not isinstance(name, str):
                raise ValueError(
                    f"x: feature {name!r} is not a name, but features come by name here"
                )
            if not isinstance(value, numbers.Real) or not math.isfinite(value):
                shown = "NaN" if value != value else repr(value)
                raise ValueError(f"x: feature {name!r} is {shown}; values must be finite numbers")
            number = self.number.get(name)
            if number is None and learning:
                if not self.grows:
                    raise ValueError(f"x: feature {name!r} is not among the feature names")
                number = new.setdefault(name, len(self.number) + len(new))
            if number is not None:
                pairs[number] = value
        return as_pairs(pairs), list(new)

    def extend(self, names: Iterable[str]) -> None:
        """Give the next numbers to new names."""
        for name in names:
            self.number[name] = len(self.number)


def comes_by_name(x: Any) -> bool:
    """Whether an example is a mapping with names for features."""
    return isinstance(x, Mapping) and any(isinstance(feature, str) for feature in x)
