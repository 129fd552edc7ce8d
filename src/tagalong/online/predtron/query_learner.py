"""Predtron for subset ranking: learns from graded documents to rank those of a query."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagalong import parameters
from tagalong.learning.estimators import restored_on_error
from tagalong.learning.examples import as_matrix
from tagalong.learning.input_types import MatrixLike, Rows, SampleWeight
from tagalong.learning.protocols import Task
from tagalong.online.label_model import Settings
from tagalong.online.native import NativePredtron
from tagalong.online.predtron.base_learner import weighted_mean
from tagalong.online.predtron.python_engine import new_core
from tagalong.online.predtron.queries import checked_grades, checked_group, document_matrix
from tagalong.online.predtron.structured_batches import QueryBatch
from tagalong.online.predtron.structured_learner import StructuredPredtron
from tagalong.online.ranker import Example

__all__ = ["QueryPredtron"]


class QueryPredtron(StructuredPredtron):
    """Learns to rank the documents of queries, with one weight vector. See `Predtron`."""

    _native: NativePredtron

    @property
    def task(self) -> Task:
        """The kind of prediction: a ranking of the documents of a query."""
        return "documents"

    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch: ``passes`` times over the queries, in the given order.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Documents.
        y : array of shape (rows,)
            Their grades, from 0 to 52.
        sample_weight : array of shape (queries,), optional
            Scales the step of each round.
        group : sequence of int, optional
            The number of rows of each query. None means one query.
        """
        return self._fit(X, lambda rows: self._batch(rows, y, sample_weight, group))

    def partial_fit(
        self,
        X: MatrixLike,
        Y: npt.ArrayLike,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn queries. All queries are validated before any is learnt.

        Parameters
        ----------
        X, Y, sample_weight, group
            As for ``fit``.
        """
        self._learn(X, lambda rows: self._batch(rows, Y, sample_weight, group), watched=False)
        return self

    def predict_then_learn(
        self,
        X: MatrixLike,
        Y: npt.ArrayLike,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
    ) -> npt.NDArray[Any]:
        """Learn queries, and return the scores of documents before their query was learnt, (rows,).

        Parameters
        ----------
        X, Y, sample_weight, group
            As for ``fit``.
        """
        return np.concatenate(
            self._learn(X, lambda rows: self._batch(rows, Y, sample_weight, group), watched=True)
        )

    def watch_query(
        self, documents: Sequence[Example], grades: npt.ArrayLike, weight: float = 1.0
    ) -> npt.NDArray[Any]:
        """Learn one query, and return the scores of its documents before learning.

        Parameters
        ----------
        documents : sequence of (indices, values) or mappings of numbers to values
            The documents. New features may appear at any time.
        grades : array of shape (documents,)
            Their grades, from 0 to 52.
        weight : float, default 1.0
            Scales the step.
        """
        weight = parameters.positive(weight, "weight", self._largest_weight({"dtype": self.dtype}))
        with restored_on_error(self):
            self.start()
            batch = self._checked_batch(
                document_matrix(documents), lambda rows: self._batch(rows, grades, [weight], None)
            )
        return batch.learn(watched=True)[0]

    def score_query(self, documents: Sequence[Example]) -> npt.NDArray[Any]:
        """Return the scores of the documents of one query; features may be new.

        Parameters
        ----------
        documents : sequence of (indices, values) or mappings of numbers to values
            The documents.
        """
        check_is_fitted(self)
        matrix = as_matrix(document_matrix(documents))
        self._native.check(matrix)
        scores = self._native.query_scores(matrix, 0, matrix.shape[0], True)
        return np.asarray(scores, dtype=self._settings["dtype"])

    def decision_function(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the scores of documents, (rows,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Documents.
        """
        matrix = self._checked_matrix(X)
        scores = self._native.query_scores(matrix, 0, matrix.shape[0], True)
        return np.asarray(scores, dtype=self._settings["dtype"])

    def predict(self, X: MatrixLike, group: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return the rank of each document within its query, from 1.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Documents.
        group : sequence of int, optional
            The number of rows of each query. None means one query.
        """
        scores = self.decision_function(X)
        ranks = np.empty(len(scores), dtype=np.int64)
        for begin, end in pairwise(checked_group(group, len(scores)).tolist()):
            order = np.argsort(-scores[begin:end], kind="stable")
            ranks[begin + order] = np.arange(1, end - begin + 1)
        return ranks

    def score(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
    ) -> float:
        """Return one minus the mean loss of queries: NDCG or precision at k.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Documents.
        y : array of shape (rows,)
            Their grades.
        sample_weight : array of shape (queries,), optional
            Weights of the queries.
        group : sequence of int, optional
            The number of rows of each query. None means one query.
        """
        check_is_fitted(self)
        problem = self.current_problem
        scores = self.decision_function(X)
        ends = checked_group(group, len(scores))
        grades = checked_grades(y, len(scores))
        losses = [
            problem.loss(problem.decode(scores[a:b].astype(np.float64)), grades[a:b])
            for a, b in pairwise(ends.tolist())
        ]
        return 1 - weighted_mean(losses, sample_weight)

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights used for predictions, (n,)."""
        found = self._coef_matrix()
        return np.asarray(found[0]) if isinstance(found, np.ndarray) else found

    def _make_native(self, settings: Settings) -> NativePredtron:
        return new_core(settings)

    def _batch(
        self,
        X: Rows,
        y: npt.ArrayLike,
        sample_weight: SampleWeight,
        group: npt.ArrayLike | None,
    ) -> QueryBatch:
        largest = self._largest_weight(self._settings)
        return QueryBatch(self._native, self._settings, X, y, sample_weight, group, largest)
