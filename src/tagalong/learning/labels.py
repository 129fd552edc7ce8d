"""The labels a learner knows, and targets in any form as sets of label numbers."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d

from tagalong import _native as core

__all__ = ["LabelRows", "Labels", "Targets", "label_array", "label_list"]

# Types that are collections of labels without further questions.
_QUICK = (list, tuple, set, frozenset)

Kind: TypeAlias = Literal["single", "sets", "indicator"]


class LabelRows(core.LabelRows):
    """Sets of label numbers, one a row, in compressed form, as the native core takes them.

    Parameters
    ----------
    indptr : array of int64 of shape (rows + 1,)
        Where each row begins and ends.
    indices : array of int32
        The numbers, row after row.
    """

    __slots__ = ()

    def __init__(self, indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32]):
        super().__init__(indptr, indices)

    def __repr__(self) -> str:
        return f"LabelRows(indptr={self.indptr!r}, indices={self.indices!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.indptr, self.indices)

    def part(self, start: int, stop: int) -> "LabelRows":
        """Some of the rows, one after the other."""
        return type(self)(self.indptr[start : stop + 1], self.indices)

    @classmethod
    def empty(cls, rows: int) -> "LabelRows":
        """No label in any row."""
        return cls(np.zeros(rows + 1, np.int64), np.zeros(0, np.int32))

    @classmethod
    def from_lists(cls, rows: Iterable[Collection[int]]) -> "LabelRows":
        """Rows given as collections of numbers."""
        rows = list(rows)
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=indptr[1:])
        indices = np.fromiter((i for row in rows for i in row), np.int32, count=int(indptr[-1]))
        return cls(indptr, indices)

    @classmethod
    def from_mask(cls, mask: npt.NDArray[np.bool_]) -> "LabelRows":
        """The true entries of a matrix."""
        rows, columns = mask.shape
        places = np.flatnonzero(mask)  # several times as fast as the places in two dimensions
        indptr = np.searchsorted(places, np.arange(rows + 1) * columns).astype(np.int64)
        return cls(indptr, (places % max(1, columns)).astype(np.int32))


@dataclass(frozen=True)
class Targets:
    """What a batch says about its rows: relevant labels, labels of unknown relevance."""

    kind: Kind
    relevant: LabelRows
    unknown: LabelRows
    new: list[Hashable]  # labels met for the first time, in order

    def __len__(self) -> int:
        return len(self.relevant.indptr) - 1


def plain(label: Any) -> Hashable:
    """Return a label as a plain Python object, so that 3 and np.int64(3) are one label."""
    found: Hashable = label.item() if isinstance(label, np.generic) else label
    return found


def checked(label: Any, place: str) -> Hashable:
    """Return a label as `plain` does; ValueError if it cannot be one."""
    found = plain(label)
    try:
        hash(found)
    except TypeError:
        raise ValueError(f"{place}: label {found!r} is not hashable") from None
    if found is None or found != found:
        raise ValueError(f"{place}: {found!r} is not a label")
    return found


def label_list(labels: Any, name: str) -> list[Hashable]:
    """Return a parameter that must be a collection of labels."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, (Iterable, np.ndarray)):
        raise ValueError(f"{name} must be a collection of labels, got {labels!r}")
    return [checked(label, name) for label in labels]


def label_array(names: Sequence[Hashable]) -> npt.NDArray[Any]:
    """Return labels as an array: of strings or numbers if they are all of one such type."""
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and kinds <= {str, int, bool, float}:
        return np.array(names)
    out = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):
        out[i] = name
    return out


class Labels:
    """An ordered set of labels, fixed or growing.

    Parameters
    ----------
    names : iterable of hashable
        The labels, in the order of their numbers.
    grows : bool
        Whether targets may bring new labels.
    """

    def __init__(self, names: Iterable[Hashable] = (), grows: bool = False):
        self.names: list[Hashable] = []
        self.number: dict[Hashable, int] = {}
        self.grows = grows
        self.extend(label_list(names, "classes"))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.names)

    def extend(self, names: Iterable[Hashable]) -> None:
        """Add labels that are not there yet; all or none."""
        names = list(names)
        seen: set[Hashable] = set()
        for name in names:
            if name in self.number or name in seen:
                raise ValueError(f"label {name!r} is there already; labels must be distinct")
            seen.add(name)
        for name in names:
            self.number[name] = len(self.names)
            self.names.append(name)

    def withdraw(self, count: int) -> None:
        """Take back the last labels, when what brought them turned out to be unusable."""
        for _ in range(count):
            del self.number[self.names.pop()]

    def encode(self, Y: Any, rows: int | None = None) -> Targets:
        """Check targets and number their labels; changes nothing.

        Parameters
        ----------
        Y : array, sparse array, DataFrame or list of collections
            See `LabelRanker`.
        rows : int, optional
            How many rows there must be.
        """
        if Y is None:
            raise ValueError("learning requires y to be passed, but the target y is None")
        if sp.issparse(Y):
            targets = self._encode_sparse(Y)
        elif _is_list_of_collections(Y):
            targets = self.encode_sets(Y)
        else:
            array = np.asarray(Y)
            if array.ndim == 2 and array.shape[1] == 1 and not hasattr(Y, "columns"):
                # One column: a label a row, as scikit-learn takes it.
                array = column_or_1d(array, warn=True)
            if array.ndim == 1:
                targets = self._encode_single(array)
            elif array.ndim == 2:
                targets = self._encode_dense(Y, array)
            else:
                raise ValueError(f"Y must have one or two dimensions, got shape {array.shape}")
        if rows is not None and len(targets) != rows:
            raise ValueError(f"X has {rows} rows but Y has {len(targets)}")
        return targets

    def encode_one(self, y: Any, unknown: Any = ()) -> tuple[list[int], list[int], list[Hashable]]:
        """Number the labels of one example: relevant, unknown, and the names of new ones."""
        new: dict[Hashable, int] = {}
        relevant = self._numbers(_as_collection(y), new, "y")
        if type(unknown) is tuple and not unknown:
            return relevant, [], list(new)
        if isinstance(unknown, (str, bytes)) or not isinstance(unknown, (Collection, np.ndarray)):
            raise ValueError(f"unknown must be a collection of labels, got {unknown!r}")
        open_labels = self._numbers(_as_collection(unknown), new, "unknown")
        both = set(relevant).intersection(open_labels)
        if both:
            name = [*self.names, *new][min(both)]
            raise ValueError(f"label {name!r} cannot be both relevant and unknown")
        return relevant, open_labels, list(new)

    def _numbers(self, labels: Any, new: dict[Hashable, int], place: str) -> list[int]:
        """Return the numbers of a row's labels, each once."""
        if isinstance(labels, (set, frozenset)) and self.grows:
            # A set has no order of its own; new labels need one that every process agrees on.
            labels = sorted(labels, key=lambda label: (type(label).__name__, repr(label)))
        try:  # the usual case: all of them are known
            numbers = [self.number[label] for label in labels]
        except (KeyError, TypeError):
            numbers = [self._number(label, new, place) for label in labels]
        return numbers if len(set(numbers)) == len(numbers) else list(dict.fromkeys(numbers))

    def _number(self, label: Any, new: dict[Hashable, int], place: str) -> int:
        try:
            known = self.number.get(label)
        except TypeError:
            raise ValueError(f"{place}: label {label!r} is not hashable") from None
        if known is not None:
            return known
        if not self.grows:
            raise ValueError(
                f"{place}: label {plain(label)!r} is not in classes_; declare it with add_labels, "
                "or let labels appear at any time with classes='grow'"
            )
        return new.setdefault(checked(label, place), len(self) + len(new))

    def encode_sets(self, Y: Any) -> Targets:
        """Number the labels of rows that are collections of labels; changes nothing.

        Parameters
        ----------
        Y : sequence of collections of labels
            The labels of each row.
        """
        new: dict[Hashable, int] = {}
        rows = [self._numbers(labels, new, f"Y: row {i}") for i, labels in enumerate(Y)]
        return Targets("sets", LabelRows.from_lists(rows), LabelRows.empty(len(rows)), list(new))

    def indicator(self, y: Any, rows: int) -> npt.NDArray[np.int8]:
        """Return targets as 0 and 1, (rows, K); unknown relevance is 0. ValueError for a new label.

        Parameters
        ----------
        y : targets
            As for ``encode``.
        rows : int
            How many rows they are of.
        """
        targets = self.encode(y, rows)
        if targets.new:
            raise ValueError(f"y: label {targets.new[0]!r} is not in classes_")
        truth = np.zeros((rows, len(self.names)), dtype=np.int8)
        lengths = np.diff(targets.relevant.indptr)
        truth[np.repeat(np.arange(rows), lengths), targets.relevant.indices] = 1
        return truth

    def _encode_single(self, y: npt.NDArray[Any]) -> Targets:
        new: dict[Hashable, int] = {}
        numbers = [self._number(label, new, f"y: row {i}") for i, label in enumerate(y.tolist())]
        rows = LabelRows(np.arange(len(y) + 1, dtype=np.int64), np.array(numbers, dtype=np.int32))
        return Targets("single", rows, LabelRows.empty(len(y)), list(new))

    def _columns(self, Y: Any, count: int) -> list[Hashable]:
        """Check the columns of an indicator; the labels that they add."""
        if count == len(self) and not hasattr(Y, "columns"):
            return []
        given = Y.columns if hasattr(Y, "columns") else range(count)
        names = [plain(name) for name in given]
        if self.grows and len(self) == 0:
            return names
        if count != len(self):
            raise ValueError(f"Y has {count} columns but there are {len(self)} labels in classes_")
        if hasattr(Y, "columns") and names != self.names and names != list(range(count)):
            raise ValueError(f"the columns of Y are {names!r}, but classes_ is {self.names!r}")
        return []

    def _encode_dense(self, Y: Any, array: npt.NDArray[Any]) -> Targets:
        new = self._columns(Y, array.shape[1])
        if array.dtype.kind in "biu":  # no NaN among them, and usually 0 and 1 alone
            relevant = array == 1
            if np.count_nonzero(array) == np.count_nonzero(relevant):
                rows = LabelRows.from_mask(relevant)
                return Targets("indicator", rows, LabelRows.empty(len(array)), new)
        try:
            values = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "Y must be an indicator matrix of 0, 1 and NaN (unknown), one label a row, or a "
                "list of collections of labels"
            ) from None
        unknown = np.isnan(values)
        wrong = ~(unknown | (values == 0) | (values == 1))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ValueError(
                f"Y: row {row}, column {column} is {values[row, column]:g}; an indicator has 0, 1 "
                "or NaN (relevance unknown)"
            )
        return Targets(
            "indicator", LabelRows.from_mask(values == 1), LabelRows.from_mask(unknown), new
        )

    def _encode_sparse(self, Y: Any) -> Targets:
        new = self._columns(Y, Y.shape[1])
        csr = sp.csr_array(Y)
        if csr is Y or csr.data.size != csr.count_nonzero() or not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
            csr.eliminate_zeros()
        if not (csr.data == 1).all():
            at = int(np.flatnonzero(csr.data != 1)[0])
            row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
            raise ValueError(
                f"Y: row {row}, column {csr.indices[at]} is {csr.data[at]:g}; a sparse indicator "
                "has 0 and 1 only"
            )
        rows = LabelRows(csr.indptr.astype(np.int64), csr.indices.astype(np.int32))
        return Targets("indicator", rows, LabelRows.empty(csr.shape[0]), new)


def _is_list_of_collections(Y: Any) -> bool:
    """Whether Y is rows of labels: of all rows, or of none."""
    if isinstance(Y, np.ndarray):
        if Y.dtype != object or Y.ndim != 1:
            return False
        Y = Y.tolist()
    elif hasattr(Y, "dtype") and hasattr(Y, "tolist"):  # a pandas Series
        Y = Y.tolist()
    if not isinstance(Y, (list, tuple)) or not Y:
        return False
    sets = [isinstance(row, (list, tuple, set, frozenset, np.ndarray)) for row in Y]
    if any(sets) and not all(sets):
        odd = sets.index(False)
        raise ValueError(f"Y: row {odd} is {Y[odd]!r}, but other rows are collections of labels")
    return all(sets) and not _is_nested_indicator(Y)


def _is_nested_indicator(Y: Sequence[Any]) -> bool:
    """Whether lists are the rows of an indicator: equally long rows of 0 and 1.

    No collection names a label twice, so repeated entries tell; rows without any, such as
    ``[[0, 1], [1, 0]]``, are taken for collections of the labels 0 and 1.
    """
    if not all(isinstance(row, (list, np.ndarray)) for row in Y):
        return False
    rows = [[plain(entry) for entry in row] for row in Y]
    if not all(
        isinstance(entry, (int, float)) and entry in (0, 1) for row in rows for entry in row
    ):
        return False
    if not any(len(set(row)) < len(row) for row in rows):
        return False
    if len({len(row) for row in rows}) > 1:
        raise ValueError("Y: rows of 0 and 1 must be equally long to make an indicator")
    return True


def _as_collection(labels: Any) -> Any:
    """Return the labels of one example as a collection; a single label may stand for itself."""
    if type(labels) in _QUICK:
        return labels
    if isinstance(labels, np.ndarray):
        return labels.ravel()
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Collection):
        return (labels,)
    return labels
