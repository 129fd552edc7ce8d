"""The label set of a learner, and the conversion of targets to label numbers."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d

from tagalong import _native as core
from tagalong.learning.input_types import TargetsLike

__all__ = ["LabelRows", "Labels", "Targets", "label_array", "label_list"]

# Types that are collections of labels. For other types more checks are needed.
_COLLECTION_TYPES = (list, tuple, set, frozenset)

Kind: TypeAlias = Literal["single", "sets", "indicator"]


class LabelRows(core.LabelRows):
    """One set of label numbers per row, in the CSR form that the native core takes.

    Parameters
    ----------
    indptr : array of int64 of shape (rows + 1,)
        Row i has the entries ``indptr[i]`` to ``indptr[i + 1]`` of ``indices``.
    indices : array of int32
        The label numbers, row after row.
    """

    __slots__ = ()

    def __init__(self, indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32]):
        super().__init__(indptr, indices)

    def __repr__(self) -> str:
        return f"LabelRows(indptr={self.indptr!r}, indices={self.indices!r})"

    def __reduce__(self) -> tuple[type["LabelRows"], tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        return type(self), (self.indptr, self.indices)

    def row_slice(self, start: int, stop: int) -> "LabelRows":
        """Return the rows from start to stop, which is excluded."""
        return type(self)(self.indptr[start : stop + 1], self.indices)

    def only(self, which: npt.NDArray[np.intp]) -> "LabelRows":
        """Return the entries of some of the labels, numbered in this order."""
        number = np.full(max(self.indices.max(initial=-1), which.max(initial=-1)) + 1, -1, np.int32)
        number[which] = np.arange(len(which), dtype=np.int32)
        renumbered = number[self.indices]
        kept = renumbered >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        return type(self)(starts.astype(np.int64), renumbered[kept])

    @classmethod
    def empty(cls, rows: int) -> "LabelRows":
        """Return rows without labels."""
        return cls(np.zeros(rows + 1, np.int64), np.zeros(0, np.int32))

    @classmethod
    def from_lists(cls, rows: Iterable[Collection[int]]) -> "LabelRows":
        """Return rows that are given as collections of label numbers."""
        rows = list(rows)
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=indptr[1:])
        indices = np.fromiter((i for row in rows for i in row), np.int32, count=int(indptr[-1]))
        return cls(indptr, indices)

    @classmethod
    def from_mask(cls, mask: npt.NDArray[np.bool_]) -> "LabelRows":
        """Return the columns of the true entries of each row of a matrix."""
        rows, columns = mask.shape
        positions = np.flatnonzero(mask)  # several times as fast as np.nonzero
        indptr = np.searchsorted(positions, np.arange(rows + 1) * columns).astype(np.int64)
        return cls(indptr, (positions % max(1, columns)).astype(np.int32))


@dataclass(frozen=True)
class Targets:
    """The targets of a batch as label numbers: relevant labels, labels of unknown relevance."""

    kind: Kind
    relevant: LabelRows
    unknown: LabelRows
    new: list[Hashable]  # labels not in the label set yet, in order of appearance

    def __len__(self) -> int:
        return len(self.relevant.indptr) - 1

    def only(self, which: npt.NDArray[np.intp]) -> "Targets":
        """Return the targets of some of the labels, numbered in this order."""
        return Targets(self.kind, self.relevant.only(which), self.unknown.only(which), [])


def as_python_object(label: object) -> Hashable:
    """Return a label as a plain Python object, so that 3 and np.int64(3) are one label."""
    found: Hashable = label.item() if isinstance(label, np.generic) else label
    return found


def check_label(label: object, place: str) -> Hashable:
    """Return a label as a plain Python object; raise ValueError if it cannot be a label."""
    found = as_python_object(label)
    try:
        hash(found)
    except TypeError:
        raise ValueError(f"{place}: label {found!r} is not hashable") from None
    if found is None or found != found:
        raise ValueError(f"{place}: {found!r} is not a label: a label must not be None or NaN")
    return found


def label_list(labels: object, name: str) -> list[Hashable]:
    """Return the labels in a parameter; raise ValueError unless it is a collection of labels."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, (Iterable, np.ndarray)):
        raise ValueError(f"{name} must be a collection of labels, got {labels!r}")
    return [check_label(label, name) for label in labels]


def label_array(names: Sequence[Hashable]) -> npt.NDArray[Any]:
    """Return labels as an array; its dtype is object unless all are str, int, bool or float."""
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and kinds <= {str, int, bool, float}:
        found: npt.NDArray[Any] = np.array(names)
        if kinds != {int} or found.dtype == np.int64:  # larger integers would become floats
            return found
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
        Whether targets may contain new labels.
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
        """Add new labels; raise ValueError, and add none, if one already exists."""
        names = list(names)
        seen: set[Hashable] = set()
        for name in names:
            if name in self.number or name in seen:
                raise ValueError(f"label {name!r} already exists; labels must be distinct")
            seen.add(name)
        for name in names:
            self.number[name] = len(self.names)
            self.names.append(name)

    def remove_last(self, count: int) -> None:
        """Remove the labels added last, to undo a call that failed."""
        for _ in range(count):
            del self.number[self.names.pop()]

    def encode(self, Y: TargetsLike | None, rows: int | None = None) -> Targets:
        """Validate targets and convert them to label numbers; does not add the new labels.

        Parameters
        ----------
        Y : array, sparse array, DataFrame or list of collections
            See `LabelRanker`.
        rows : int, optional
            The required number of rows.
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
                # One column: one label per row, as in scikit-learn.
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

    def encode_one(
        self, y: object, unknown: object = ()
    ) -> tuple[list[int], list[int], list[Hashable]]:
        """Return the numbers of an example's relevant and unknown labels, and its new labels."""
        if type(y) is list and type(unknown) is tuple and not unknown:
            try:  # the usual case: a list of known labels
                numbers = list(map(self.number.__getitem__, y))
            except (KeyError, TypeError):
                pass
            else:
                if len(set(numbers)) == len(numbers):
                    return numbers, [], []
        new: dict[Hashable, int] = {}
        relevant = self._numbers(_as_collection(y), new, "y")
        if type(unknown) is tuple and not unknown:
            return relevant, [], list(new)
        if isinstance(unknown, (str, bytes)) or not isinstance(unknown, (Collection, np.ndarray)):
            raise ValueError(f"unknown must be a collection of labels, got {unknown!r}")
        unknown_numbers = self._numbers(_as_collection(unknown), new, "unknown")
        both = set(relevant).intersection(unknown_numbers)
        if both:
            name = [*self.names, *new][min(both)]
            raise ValueError(f"label {name!r} cannot be both relevant and unknown")
        return relevant, unknown_numbers, list(new)

    def _numbers(
        self, labels: Iterable[Hashable], new: dict[Hashable, int], place: str
    ) -> list[int]:
        """Return the numbers of a row's labels without repetition; collects the new labels."""
        if isinstance(labels, (set, frozenset)) and self.grows:
            # The order of a set differs between processes, but new labels are numbered by order.
            labels = sorted(labels, key=lambda label: (type(label).__name__, repr(label)))
        try:  # the usual case: all labels are known
            numbers = [self.number[label] for label in labels]
        except (KeyError, TypeError):
            numbers = [self._number(label, new, place) for label in labels]
        return numbers if len(set(numbers)) == len(numbers) else list(dict.fromkeys(numbers))

    def _number(self, label: Hashable, new: dict[Hashable, int], place: str) -> int:
        try:
            known = self.number.get(label)
        except TypeError:
            raise ValueError(f"{place}: label {label!r} is not hashable") from None
        if known is not None:
            return known
        if not self.grows:
            raise ValueError(
                f"{place}: label {as_python_object(label)!r} is not in classes_; declare it with "
                "add_labels, or accept new labels at any time with classes='grow'"
            )
        return new.setdefault(check_label(label, place), len(self) + len(new))

    def encode_sets(self, Y: Iterable[Collection[Hashable]]) -> Targets:
        """Convert one collection of labels per row to numbers; does not add the new labels.

        Parameters
        ----------
        Y : sequence of collections of labels
            The labels of each row.
        """
        new: dict[Hashable, int] = {}
        rows = [self._numbers(labels, new, f"Y: row {i}") for i, labels in enumerate(Y)]
        return Targets("sets", LabelRows.from_lists(rows), LabelRows.empty(len(rows)), list(new))

    def indicator(self, y: TargetsLike, rows: int) -> npt.NDArray[np.int8]:
        """Return targets as an indicator of 0 and 1, (rows, K); raise ValueError for a new label.

        Unknown relevance becomes 0.

        Parameters
        ----------
        y : targets
            As for ``encode``.
        rows : int
            The required number of rows.
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

    def _columns(self, Y: object, count: int) -> list[Hashable]:
        """Check the columns of an indicator; return the labels that they add."""
        if count == len(self) and not hasattr(Y, "columns"):
            return []
        given = Y.columns if hasattr(Y, "columns") else range(count)
        names = [as_python_object(name) for name in given]
        if self.grows and len(self) == 0:
            return names
        if count != len(self):
            raise ValueError(f"Y has {count} columns but there are {len(self)} labels in classes_")
        if hasattr(Y, "columns") and names != self.names and names != list(range(count)):
            raise ValueError(f"the columns of Y are {names!r}, but classes_ is {self.names!r}")
        return []

    def _encode_dense(self, Y: object, array: npt.NDArray[Any]) -> Targets:
        new = self._columns(Y, array.shape[1])
        if array.dtype.kind in "biu":  # these types have no NaN; usually all values are 0 and 1
            relevant = array == 1
            if np.count_nonzero(array) == np.count_nonzero(relevant):
                rows = LabelRows.from_mask(relevant)
                return Targets("indicator", rows, LabelRows.empty(len(array)), new)
        try:
            values = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "Y must be an indicator matrix of 0, 1 and NaN (unknown), one label per row, or a "
                "list of collections of labels"
            ) from None
        unknown = np.isnan(values)
        wrong = ~(unknown | (values == 0) | (values == 1))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ValueError(
                f"Y: row {row}, column {column} is {values[row, column]:g}; an indicator has only "
                "0, 1 and NaN (relevance unknown)"
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
                "has only 0 and 1"
            )
        rows = LabelRows(csr.indptr.astype(np.int64), csr.indices.astype(np.int32))
        return Targets("indicator", rows, LabelRows.empty(csr.shape[0]), new)


def _is_list_of_collections(Y: Any) -> TypeGuard[Sequence[Collection[Hashable]]]:
    """Return whether Y has one collection of labels per row; raise ValueError if only some do."""
    if isinstance(Y, np.ndarray):
        if Y.dtype != object or Y.ndim != 1:
            return False
        Y = Y.tolist()
    elif hasattr(Y, "dtype") and hasattr(Y, "tolist"):  # a pandas Series
        Y = Y.tolist()
    if not isinstance(Y, (list, tuple)) or not Y:
        return False
    are_collections = [isinstance(row, (*_COLLECTION_TYPES, np.ndarray)) for row in Y]
    if any(are_collections) and not all(are_collections):
        row = are_collections.index(False)
        raise ValueError(f"Y: row {row} is {Y[row]!r}, but other rows are collections of labels")
    return all(are_collections) and not _is_nested_indicator(Y)


def _is_nested_indicator(Y: Sequence[Any]) -> bool:
    """Return whether lists are the rows of an indicator: rows of 0 and 1, all of one length.

    A collection contains no label twice, so a repeated entry means that Y is an indicator. Without
    repeated entries, as in ``[[0, 1], [1, 0]]``, the rows are collections of the labels 0 and 1.
    """
    if not all(isinstance(row, (list, np.ndarray)) for row in Y):
        return False
    rows = [[as_python_object(entry) for entry in row] for row in Y]
    if not all(
        isinstance(entry, (int, float)) and entry in (0, 1) for row in rows for entry in row
    ):
        return False
    if not any(len(set(row)) < len(row) for row in rows):
        return False
    if len({len(row) for row in rows}) > 1:
        raise ValueError("Y: the rows of an indicator of 0 and 1 must all have the same length")
    return True


def _as_collection(labels: Any) -> Any:
    """Return the labels of one example as a collection; a single label becomes a tuple."""
    if type(labels) in _COLLECTION_TYPES:
        return labels
    if isinstance(labels, np.ndarray):
        return labels.ravel()
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Collection):
        return (labels,)
    return labels
