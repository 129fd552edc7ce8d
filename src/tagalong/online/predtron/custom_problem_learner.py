"""Predtron for custom problems, whose targets may be any objects."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagalong.learning.input_types import MatrixLike, Rows, SampleWeight
from tagalong.learning.protocols import Task
from tagalong.online.label_model import Settings
from tagalong.online.predtron.base_learner import weighted_mean
from tagalong.online.predtron.python_engine import PythonEngine
from tagalong.online.predtron.structured_batches import CustomProblemBatch
from tagalong.online.predtron.structured_learner import StructuredPredtron

__all__ = ["CustomProblemPredtron"]


class CustomProblemPredtron(StructuredPredtron):
    """Learns scores that a user-defined problem decodes into predictions. See `Predtron`."""

    _native: PythonEngine

    @property
    def task(self) -> Task:
        """The kind of prediction: answers of a custom problem."""
        return "answers"

    def fit(self, X: MatrixLike, y: Iterable[object], sample_weight: SampleWeight = None) -> Self:
        """Learn from scratch: ``passes`` times over the rows, in the given order.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : sequence
            One target per row; the problem receives it unchanged.
        sample_weight : array of shape (rows,), optional
            Scales the step of each round; rows of weight 0 are skipped.
        """
        return self._fit(X, lambda rows: self._batch(rows, y, sample_weight))

    def partial_fit(
        self, X: MatrixLike, Y: Iterable[object], sample_weight: SampleWeight = None
    ) -> Self:
        """Learn rows. All rows are validated before any is learnt.

        Parameters
        ----------
        X, Y, sample_weight
            As for ``fit``.
        """
        self._learn(X, lambda rows: self._batch(rows, Y, sample_weight), watched=False)
        return self

    def predict_then_learn(
        self, X: MatrixLike, Y: Iterable[object], sample_weight: SampleWeight = None
    ) -> npt.NDArray[Any]:
        """Learn rows, and return the scores of each row before it was learnt, (rows, dimension).

        Parameters
        ----------
        X, Y, sample_weight
            As for ``fit``.
        """
        return np.stack(
            self._learn(X, lambda rows: self._batch(rows, Y, sample_weight), watched=True)
        )

    def decision_function(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the scores of rows, (rows, dimension).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        matrix = self._checked_matrix(X)
        rows = range(matrix.shape[0])
        return np.stack([self._native.raw_scores(matrix, row, predicting=True) for row in rows])

    def predict(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the problem's predictions for rows, as an array of objects.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores = self.decision_function(X)
        found = np.empty(len(scores), dtype=object)
        for row, each in enumerate(scores):
            found[row] = self.current_problem.decode(each)
        return found

    def score(
        self, X: MatrixLike, y: Iterable[object], sample_weight: SampleWeight = None
    ) -> float:
        """Return one minus the mean loss.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : sequence
            One target per row.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        """
        check_is_fitted(self)
        problem = self.current_problem
        pairs = zip(self.decision_function(X), y, strict=True)
        losses = [problem.loss(problem.decode(scores), target) for scores, target in pairs]
        return 1 - weighted_mean(losses, sample_weight)

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights used for predictions, (dimension, n)."""
        return self._coef_matrix()

    def _make_native(self, settings: Settings) -> PythonEngine:
        return PythonEngine(settings)

    def _batch(
        self, X: Rows, y: Iterable[object], sample_weight: SampleWeight
    ) -> CustomProblemBatch:
        return CustomProblemBatch(
            self._native, X, y, sample_weight, self._largest_weight(self._settings)
        )
