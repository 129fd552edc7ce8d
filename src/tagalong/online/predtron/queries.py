"""Queries for subset ranking: groups of rows, the documents, with one grade per row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core
from tagalong.learning.examples import as_pairs
from tagalong.learning.update_rules import PREDTRON_UPDATES
from tagalong.online.native import NativePredtron
from tagalong.problems.ranking import Ranking

__all__ = ["QueryNorms", "checked_grades", "checked_group", "document_matrix", "learn_query"]

LARGEST_GRADE = 52.0
"""Up to here 2**grade - 1 is exact in double precision."""


def checked_group(group: Any, rows: int) -> npt.NDArray[np.int64]:
    """Return the first row of each query, and the number of rows last, (queries + 1,).

    Parameters
    ----------
    group : sequence of int or None
        How many rows each query has, in order. None means that all rows are one query.
    rows : int
        How many rows there are.
    """
    if group is None:
        return np.array([0, rows], dtype=np.int64)
    sizes = np.asarray(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise ValueError(f"group must be the sizes of the queries, got {group!r}")
    if (sizes < 1).any():
        at = int(np.argmax(sizes < 1))
        raise ValueError(f"group: query {at} has {sizes[at]} rows; a query has at least one")
    if sizes.sum() != rows:
        raise ValueError(f"group: the queries have {sizes.sum()} rows, but X has {rows}")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def checked_grades(y: Any, rows: int) -> npt.NDArray[np.float64]:
    """Return the grades of documents as numbers from 0 on."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    try:
        grades = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be a grade a row: numbers from 0 on") from None
    if grades.shape != (rows,):
        raise ValueError(f"y must have shape ({rows},), a grade a row, got {grades.shape}")
    bad = ~((grades >= 0) & (grades <= LARGEST_GRADE))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"y: row {row} is {grades[row]:g}; grades must be from 0 to {LARGEST_GRADE:g}"
        )
    return grades


class QueryNorms:
    """The norms of queries, which bound how far a step can move their scores.

    For l1 and group it is the largest norm of a column, for l2 the operator norm of the documents.
    If the step does not depend on it, the Frobenius norm takes its place, which is no smaller and
    needs no eigenvalues. Only the largest norm so far matters, so a query whose norm is surely
    smaller is not measured.

    Parameters
    ----------
    X : array or CSR matrix
        Documents.
    settings : mapping
        The settings of the learner.
    """

    def __init__(self, X: Any, settings: Mapping[str, Any]):
        self._X = X
        self._columns = settings["norm"] in ("l1", "group")
        self._exact = settings["step"] == 0 and settings["update"] == "mistake"

    def norm(self, begin: int, end: int, longest: float) -> float:
        """Return the norm of a query; a lower bound if it is no larger than the longest.

        Parameters
        ----------
        begin, end : int
            Its first row, and the one after its last.
        longest : float
            The largest norm so far.
        """
        if not self._exact and not self._columns:
            return self._length(begin, end)
        dense = self._dense(begin, end)
        if self._columns:
            return float(np.sqrt(np.einsum("ij,ij->j", dense, dense).max(initial=0.0)))
        dense = dense[:, dense.any(axis=0)]
        gram = dense @ dense.T if len(dense) < dense.shape[1] else dense.T @ dense
        # The norm's fourth power is at most the squared length of the Gram matrix.
        if gram.size == 0 or float(np.sqrt(np.linalg.norm(gram))) <= longest:
            return 0.0
        return float(np.sqrt(max(0.0, np.linalg.eigvalsh(gram)[-1])))

    def _length(self, begin: int, end: int) -> float:
        part: Any = self._X[begin:end]
        if sp.issparse(self._X):
            part = part.copy()
            part.sum_duplicates()
            part = part.data
        # Dense and sparse rows give the same numbers in the same order.
        numbers = np.asarray(part[part != 0], dtype=np.float64)
        # Not np.linalg.norm, which would start BLAS threads.
        return float(np.sqrt(np.einsum("i,i->", numbers, numbers)))

    def _dense(self, begin: int, end: int) -> npt.NDArray[np.float64]:
        """Return rows as a dense matrix; of sparse rows, without the columns that are empty."""
        part: Any = self._X[begin:end]
        if not sp.issparse(self._X):
            return np.asarray(part, dtype=np.float64)
        columns, indices = np.unique(part.indices, return_inverse=True)
        shape = (end - begin, max(1, len(columns)))
        compact = sp.csr_array((part.data, indices.ravel(), part.indptr), shape=shape)
        return np.asarray(compact.toarray(), dtype=np.float64)


def document_matrix(documents: Sequence[Any]) -> sp.csr_array:
    """Return documents, each (indices, values) or a mapping of numbers, as the rows of a matrix."""
    pairs = [as_pairs(document) for document in documents]
    if not pairs:
        raise ValueError("a query must have documents, got none")
    indices = np.concatenate([each[0] for each in pairs]).astype(np.int64)
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= 2**31:
        raise ValueError(f"feature indices must be from 0 to {2**31 - 1}")
    values = np.concatenate([each[1] for each in pairs]).astype(np.float64)
    ends = np.cumsum([0, *(len(each[0]) for each in pairs)])
    return sp.csr_array(
        (values, indices, ends), shape=(len(pairs), int(indices.max(initial=0)) + 1)
    )


def learn_query(
    native: NativePredtron,
    problem: Ranking,
    matrix: core.Matrix,
    span: tuple[int, int],
    grades: npt.NDArray[np.float64],
    norm: float,
    weight: float,
    settings: Mapping[str, Any],
) -> npt.NDArray[Any]:
    """Learn a query; return the scores that its documents had before.

    With more than two grades the loss-augmented decoding is a linear assignment, which SciPy
    solves. The core does everything else.
    """
    begin, end = span
    by_loss = PREDTRON_UPDATES[settings["update"]].by_loss
    no_assignment = by_loss or len(np.unique(problem.gains(grades))) <= 2
    if problem.is_known_to_the_core and no_assignment:
        return native.learn_query(matrix, begin, end, grades, norm, weight)[1]
    scores = native.query_scores(matrix, begin, end, False)
    predicting = native.query_scores(matrix, begin, end, True) if settings["average"] else scores
    if not weight > 0:
        return predicting
    predicted = problem.worst_decode(scores, grades)
    loss = problem.loss(predicted, grades)
    direction = np.zeros(end - begin)
    if loss > 0:
        other = predicted if by_loss else problem.augmented_decode(scores, grades)
        direction = problem.represent(problem.correct(grades, scores)) - problem.represent(other)
    native.settle_query(matrix, begin, end, grades, loss, direction, norm, weight)
    return predicting
