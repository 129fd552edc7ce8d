"""Single-example calls of scikit-learn and River, beside ours: see `benchmarks.overhead`.

They learn a simpler problem, the first label of each row only: `SGDClassifier.partial_fit` and
`decision_function` of a sparse row, and `learn_one` and `predict_one` of River's one-vs-rest
logistic regression with a dictionary of words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import ours, streams

WARM_UP = 20
"""Rows that are learnt before anything is timed."""


def rows_with_label(
    stream: streams.Stream, count: int
) -> list[tuple[sp.csr_matrix, dict[str, float], str]]:
    """The first rows with a label: as a sparse row, as a dictionary, and the label."""
    X, Y = sp.csr_matrix(stream.X), stream.Y
    found = []
    for row in range(stream.rows):
        labels = Y[[row]].indices
        if len(labels) == 0:
            continue
        indices, values = ours.sparse_row(X, row)
        words = {f"word {i}": float(v) for i, v in zip(indices, values, strict=True)}
        found.append((X[[row]], words, stream.labels[labels[0]]))
        if len(found) == count:
            break
    return found


def time_calls(call: Callable[..., object], arguments: Sequence[tuple[Any, ...]]) -> list[float]:
    """Microseconds of processor time of each call."""
    found = []
    for each in arguments:
        start = time.process_time_ns()
        call(*each)
        found.append((time.process_time_ns() - start) / 1e3)
    return found


def scikit_learn(stream: streams.Stream, count: int) -> Iterator[tuple[str, list[float]]]:
    """The calls of scikit-learn with their times."""
    from sklearn.linear_model import SGDClassifier

    rows = rows_with_label(stream, count + WARM_UP)
    learner = SGDClassifier(loss="log_loss")
    for x, _, label in rows[:WARM_UP]:
        learner.partial_fit(x, [label], classes=np.array(stream.labels))
    timed = rows[WARM_UP:]
    learning = time_calls(learner.partial_fit, [(x, [label]) for x, _, label in timed])
    yield "scikit-learn, `SGDClassifier.partial_fit` of a row", learning
    scoring = time_calls(learner.decision_function, [(x,) for x, _, _ in timed])
    yield "scikit-learn, `SGDClassifier.decision_function` of a row", scoring


def river(stream: streams.Stream, count: int) -> Iterator[tuple[str, list[float]]]:
    """The calls of River with their times."""
    from river import linear_model, multiclass

    rows = rows_with_label(stream, count + WARM_UP)
    learner: Any = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    for _, words, label in rows[:WARM_UP]:
        learner.learn_one(words, label)
    timed = rows[WARM_UP:]
    learning = time_calls(learner.learn_one, [(words, label) for _, words, label in timed])
    yield "River, `OneVsRestClassifier.learn_one` of names", learning
    ranking = time_calls(learner.predict_one, [(words,) for _, words, _ in timed])
    yield "River, `OneVsRestClassifier.predict_one` of names", ranking


PEERS: dict[str, Callable[[streams.Stream, int], Iterator[tuple[str, list[float]]]]] = {
    "scikit-learn": scikit_learn,
    "River": river,
}


def peer_rows(
    stream: streams.Stream, count: int, columns: int
) -> tuple[list[list[str]], list[str]]:
    """Rows of the table for the peers that are installed, and a message for each of the others.

    A row has the name of the call, the best and the median time, and empty cells up to `columns`.
    """
    rows, absent = [], []
    for name, calls in PEERS.items():
        try:
            for call, times in calls(stream, count):
                cells = [call, f"{min(times):.1f}", f"{float(np.median(times)):.1f}"]
                rows.append(cells + [""] * (columns - len(cells)))
        except ImportError as error:
            absent.append(f"{name} is left out: {error}")
    return rows, absent
