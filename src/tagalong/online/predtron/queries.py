"""Queries for subset ranking: a query is a group of rows (documents), with one grade per row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core
from tagalong.learning.examples import as_pairs
from tagalong.learning.input_types import Rows
from tagalong.learning.update_rules import PREDTRON_UPDATES
from tagalong.online.native import NativePredtron
from tagalong.problems.ranking import Ranking

__all__ = ["QueryNorms", "checked_grades", "checked_group", "document_matrix", "learn_query"]

LARGEST_GRADE = 52.0
"""The largest grade for which 2**grade - 1 is exact in double precision."""


def checked_group(group: npt.ArrayLike | None, rows: int) -> npt.NDArray[np.int64]:
    """Return the row offsets of the queries, ending with the number of rows, (queries + 1,).

    Parameters
    ----------
    group : sequence of int or None
        The number of rows of each query, in order. None means one query.
    rows : int
        The number of rows.
    """
    if group is None:
        return np.array([0, rows], dtype=np.int64)
    sizes = np.asarray(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise ValueError(f"group must have one integer per query, its size, got {group!r}")
    if (sizes < 1).any():
        at = int(np.argmax(sizes < 1))
        raise ValueError(f"group: query {at} has {sizes[at]} rows; it must have at least one")
    if sizes.sum() != rows:
        raise ValueError(f"group: the sizes sum to {sizes.sum()} rows, but X has {rows}")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def checked_grades(y: npt.ArrayLike | None, rows: int) -> npt.NDArray[np.float64]:
    """Validate the grades of documents: one number from 0 to `LARGEST_GRADE` per row."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    try:
        grades = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y must have one number per row, a grade from 0 to {LARGEST_GRADE:g}"
        ) from None
    if grades.shape != (rows,):
        raise ValueError(f"y must have shape ({rows},), one grade per row, got {grades.shape}")
    bad = ~((grades >= 0) & (grades <= LARGEST_GRADE))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"y: row {row} is {grades[row]:g}; grades must be from 0 to {LARGEST_GRADE:g}"
        )
    return grades


class QueryNorms:
    """The norms of queries, which bound how far a step can move their scores.

    For l1 and group, the norm is the largest Euclidean norm of a column; for l2, the operator norm
    of the document matrix. If the step does not depend on the norm, the Frobenius norm replaces
    the operator norm: it is an upper bound and needs no eigenvalues. The learner only uses the
    largest norm so far, so the norm of a query with a smaller upper bound is not
    computed.

    Parameters
    ----------
    X : array or CSR matrix
        Documents.
    settings : mapping
        The settings of the learner.
    """

    def __init__(self, X: Rows, settings: Mapping[str, Any]):
        self._X = X
        self._columns = settings["norm"] in ("l1", "group")
        self._exact = settings["step"] == 0 and settings["update"] == "mistake"

    def norm(self, begin: int, end: int, largest: float) -> float:
        """Return the norm of a query, or 0 if it cannot exceed the largest one so far.

        Parameters
        ----------
        begin, end : int
            Its first row, and the row after its last.
        largest : float
            The largest norm so far.
        """
        if not self._exact and not self._columns:
            return self._frobenius(begin, end)
        dense = self._dense(begin, end)
        if self._columns:
            return float(np.sqrt(np.einsum("ij,ij->j", dense, dense).max(initial=0.0)))
        dense = dense[:, dense.any(axis=0)]
        gram = dense @ dense.T if len(dense) < dense.shape[1] else dense.T @ dense
        # With the Gram matrix G: |X|^4 = |G|^2 (operator norms), at most the squared Frobenius
        # norm of G.
        if gram.size == 0 or float(np.sqrt(np.linalg.norm(gram))) <= largest:
            return 0.0
        return float(np.sqrt(max(0.0, np.linalg.eigvalsh(gram)[-1])))

    def _frobenius(self, begin: int, end: int) -> float:
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
        """Return rows as a dense matrix; of sparse rows, only the non-empty columns."""
        part: Any = self._X[begin:end]
        if not sp.issparse(self._X):
            return np.asarray(part, dtype=np.float64)
        columns, indices = np.unique(part.indices, return_inverse=True)
        shape = (end - begin, max(1, len(columns)))
        compact = sp.csr_array((part.data, indices.ravel(), part.indptr), shape=shape)
        return np.asarray(compact.toarray(), dtype=np.float64)


def document_matrix(documents: Sequence[Any]) -> sp.csr_array:
    """Return a matrix whose rows are documents: (indices, values) or mappings by number."""
    pairs = [as_pairs(document) for document in documents]
    if not pairs:
        raise ValueError("documents must have at least one document, got none")
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
    """Learn a query; return the scores of its documents before learning.

    With more than two distinct gains, loss-augmented decoding is a linear assignment problem,
    which SciPy solves. The native core does everything else.
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
