"""LabelRanker in the settings that are measured: speed, quality, and one prediction at a time."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.contest import Step, Stepwise, chunks
from benchmarks.measures import BestThreshold, F1Counts
from benchmarks.streams import Features, Stream

CHUNK = 1000
PUBLISHED: dict[str, Any] = {"average": False, "constant": 0.0}
"""As in the papers: the current weights predict, and there is no constant feature."""

EUCLIDEAN: dict[str, Any] = {"geometry": "euclidean", **PUBLISHED}
ADAPTIVE: dict[str, Any] = {"geometry": "adaptive", "average": False}
ENTROPIC: dict[str, Any] = {"geometry": "entropic", "normalize": False, **PUBLISHED}
DEFAULT = "default"
SETTINGS: dict[str, dict[str, Any]] = {
    "euclidean fixed": {"update": "fixed", **EUCLIDEAN},
    "euclidean single": {"update": "single", **EUCLIDEAN},
    "euclidean optimal": {"update": "optimal", **EUCLIDEAN},
    "euclidean smooth": {"update": "smooth", **EUCLIDEAN},
    "euclidean simperc": {"update": "simperc", **EUCLIDEAN},
    "euclidean conproj": {"update": "conproj", **EUCLIDEAN},
    "euclidean simproj": {"update": "simproj", **EUCLIDEAN},
    "euclidean simopt": {"update": "simopt", **EUCLIDEAN},
    "adaptive single": {"update": "single", **ADAPTIVE},
    "adaptive optimal": {"update": "optimal", **ADAPTIVE},
    "adaptive optimal averaged": {"update": "optimal", "geometry": "adaptive", "average": True},
    "adaptive smooth": {"update": "smooth", **ADAPTIVE},
    DEFAULT: {},
    "entropic single": {"update": "single", **ENTROPIC},
    "entropic optimal": {"update": "optimal", **ENTROPIC},
}
RANK_ONE = ("euclidean single", DEFAULT)


def make(setting: str) -> Any:
    """A fresh LabelRanker."""
    return importlib.import_module("tagalong").LabelRanker(**SETTINGS[setting])


def contestants(stream: Stream) -> Iterator[Stepwise]:
    """Every setting over the whole stream."""
    for setting in SETTINGS:
        yield Stepwise(setting, stream, CHUNK, partial(step, setting, stream.labels))


def step(setting: str, labels: list[str]) -> Step:
    """Learn a chunk and return the scores that each row got before it was learnt."""
    return learn_with(make(setting), labels)


def learn_with(ranker: Any, labels: list[str]) -> Step:
    """The same with a given ranker; it is told the labels with the first chunk."""
    classes: list[str] | None = labels

    def learn(X: Features, Y: sp.csr_matrix) -> npt.NDArray[np.floating]:
        nonlocal classes
        scores: npt.NDArray[np.floating] = ranker.predict_then_learn(X, Y, classes=classes)
        classes = None
        return scores

    return learn


def learnt(setting: str, stream: Stream) -> tuple[Any, float]:
    """A fresh ranker that has learnt the stream, ranking each row beforehand; the seconds of it."""
    ranker = make(setting)
    learn = learn_with(ranker, stream.labels)
    seconds = 0.0
    for X, Y in chunks(stream, CHUNK):
        begun = time.perf_counter()
        learn(X, Y)
        seconds += time.perf_counter() - begun
    return ranker, seconds


def rank_one(setting: str, stream: Stream, calls: int = 2000, batches: int = 9) -> float:
    """Microseconds of one ``rank_one((indices, values), k=5)`` after a pass, rows shuffled.

    The median over batches of calls; the loop and the call from Python are included.
    """
    ranker, _ = learnt(setting, stream)
    rows = np.random.default_rng(0).choice(stream.rows, size=(batches, calls))
    times = []
    for batch in rows:
        items = [pair(stream.X, row) for row in batch]
        start = time.perf_counter()
        for item in items:
            ranker.rank_one(item, k=5)
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times) * 1e6


def cutoff(stream: Stream) -> tuple[float, float]:
    """Micro-F1 of ``predict``, row by row before learning, and of the best fixed threshold."""
    ranker = make(DEFAULT)
    learn = learn_with(ranker, stream.labels)
    predicted = F1Counts()
    best = BestThreshold()
    fitted = False
    for X, Y in chunks(stream, CHUNK):
        scores = []
        for row in range(Y.shape[0]):
            x, y = X[row : row + 1], Y[row : row + 1]
            predicted.add(ranker.predict(x) if fitted else np.zeros(y.shape), y)
            scores.append(learn(x, y))
            fitted = True
        best.add(np.vstack(scores), Y)
    return predicted.result(), best.result()


def pair(X: Features, row: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """A row as (indices, values)."""
    if sp.issparse(X):
        cells = slice(X.indptr[row], X.indptr[row + 1])
        return X.indices[cells], X.data[cells]
    return np.arange(X.shape[1], dtype=np.int32), X[row]
