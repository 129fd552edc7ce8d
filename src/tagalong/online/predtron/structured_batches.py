"""Batches whose answers are no labels: queries with grades, and the answers of any problem."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy.typing as npt

from tagalong.learning.batches import checked_weights
from tagalong.learning.examples import as_matrix
from tagalong.online.native import NativePredtron
from tagalong.online.predtron.python_engine import PythonEngine
from tagalong.online.predtron.queries import Queries, checked_grades, checked_group, learn_query

__all__ = ["Learn", "answer_batch", "query_batch"]

# Learns a batch that was checked; notes what was predicted before each round, if wanted.
Learn: TypeAlias = Callable[[list[npt.NDArray[Any]] | None], None]


def query_batch(
    native: NativePredtron,
    settings: dict[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    group: Any,
    most: float,
) -> Learn:
    """Check queries, and return what learns them.

    Parameters
    ----------
    native : Predtron32 or Predtron64
        Who learns.
    settings : dict
        What it was made with.
    X : array or CSR matrix
        Documents.
    y : array
        Their grades.
    sample_weight : array or None
        A number a query.
    group : sequence of int or None
        The sizes of the queries.
    most : float
        The largest weight.
    """
    ends = checked_group(group, X.shape[0])
    grades = checked_grades(y, X.shape[0])
    weights = checked_weights(sample_weight, ends[:-1, None], most)
    matrix = as_matrix(X)
    queries = Queries(X, settings)

    def learn(out: list[npt.NDArray[Any]] | None) -> None:
        for i, span in enumerate(pairwise(ends.tolist())):
            weight = 1.0 if weights is None else float(weights[i])
            found = learn_query(
                native,
                settings["problem"],
                matrix,
                span,
                grades[slice(*span)],
                queries.norm(*span, native.certificate().radius),
                weight,
                settings,
            )
            if out is not None:
                out.append(found.astype(settings["dtype"]))

    return learn


def answer_batch(outside: PythonEngine, X: Any, y: Any, sample_weight: Any, most: float) -> Learn:
    """Check rows with answers of any kind, and return what learns them.

    Parameters
    ----------
    outside : PythonEngine
        Who learns.
    X : array or CSR matrix
        Rows.
    y : sequence
        Their answers.
    sample_weight : array or None
        A number a row.
    most : float
        The largest weight.
    """
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    answers = list(y)
    if len(answers) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows but y has {len(answers)}")
    weights = checked_weights(sample_weight, X, most)
    matrix = as_matrix(X)

    def learn(out: list[npt.NDArray[Any]] | None) -> None:
        for row, answer in enumerate(answers):
            if out is not None:
                out.append(outside.raw_scores(matrix, row, True))
            weight = 1.0 if weights is None else float(weights[row])
            if weight > 0:
                outside.decide(matrix, row, answer, weight)

    return learn
