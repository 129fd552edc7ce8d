"""Validated batches for problems without labels: queries, and rows of a custom problem."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong.learning.batches import check_sample_weight
from tagalong.learning.examples import as_matrix
from tagalong.learning.input_types import Rows, SampleWeight
from tagalong.online.native import NativePredtron
from tagalong.online.predtron.python_engine import PythonEngine
from tagalong.online.predtron.queries import (
    QueryNorms,
    checked_grades,
    checked_group,
    learn_query,
)

__all__ = ["Batch", "CustomProblemBatch", "QueryBatch", "Scores"]

Scores: TypeAlias = list[npt.NDArray[Any]]


class Batch(Protocol):
    """A validated batch, which can be learnt several times."""

    def learn(self, watched: bool = False) -> Scores:
        """Learn the batch; return the scores before each round if ``watched``, else nothing."""


class QueryBatch:
    """Queries of graded documents; a round is a query.

    Parameters
    ----------
    native : Predtron32 or Predtron64
        The learner.
    settings : dict
        The settings of the learner.
    X : array or CSR matrix
        Documents.
    y : array
        Their grades.
    sample_weight : array or None
        One number per query.
    group : sequence of int or None
        The number of rows of each query.
    largest_weight : float
        The upper limit of ``sample_weight``.
    """

    def __init__(
        self,
        native: NativePredtron,
        settings: dict[str, Any],
        X: Rows,
        y: npt.ArrayLike,
        sample_weight: SampleWeight,
        group: npt.ArrayLike | None,
        largest_weight: float,
    ):
        self._ends = checked_group(group, X.shape[0])
        self._grades = checked_grades(y, X.shape[0])
        self._weights = check_sample_weight(sample_weight, self._ends[:-1, None], largest_weight)
        self._matrix = as_matrix(X)
        self._norms = QueryNorms(X, settings)
        self._native = native
        self._settings = settings

    def learn(self, watched: bool = False) -> Scores:
        """Learn the queries; if ``watched``, return the scores of their documents before learning.

        Parameters
        ----------
        watched : bool
            Whether to return scores.
        """
        before = []
        for i, span in enumerate(pairwise(self._ends.tolist())):
            scores = learn_query(
                self._native,
                self._settings["problem"],
                self._matrix,
                span,
                self._grades[slice(*span)],
                self._norms.norm(*span, self._native.certificate().radius),
                1.0 if self._weights is None else float(self._weights[i]),
                self._settings,
            )
            if watched:
                before.append(scores.astype(self._settings["dtype"]))
        return before


class CustomProblemBatch:
    """Rows with targets of any type; a round is a row.

    Parameters
    ----------
    engine : PythonEngine
        The learner.
    X : array or CSR matrix
        Rows.
    y : sequence
        One target per row.
    sample_weight : array or None
        One number per row.
    largest_weight : float
        The upper limit of ``sample_weight``.
    """

    def __init__(
        self,
        engine: PythonEngine,
        X: Rows,
        y: Iterable[object],
        sample_weight: SampleWeight,
        largest_weight: float,
    ):
        if y is None:
            raise ValueError("learning requires y to be passed, but the target y is None")
        self._targets: Sequence[Any] = list(y)
        if len(self._targets) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but y has {len(self._targets)}")
        weights = check_sample_weight(sample_weight, X, largest_weight)
        self._weights = np.ones(len(self._targets)) if weights is None else weights
        self._matrix = as_matrix(X)
        self._engine = engine

    def learn(self, watched: bool = False) -> Scores:
        """Learn the rows; if ``watched``, return the scores of each row before it was learnt.

        Parameters
        ----------
        watched : bool
            Whether to return scores.
        """
        before = []
        for row, (target, weight) in enumerate(
            zip(self._targets, self._weights.tolist(), strict=True)
        ):
            if watched:
                before.append(self._engine.raw_scores(self._matrix, row, predicting=True))
            if weight > 0:
                self._engine.learn_row(self._matrix, row, target, weight)
        return before
