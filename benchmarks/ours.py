"""LabelRanker in the benchmarked settings: speed, quality, single predictions, the cut-off."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.contest import ChunkedContestant, Step, chunks
from benchmarks.measures import BestThreshold, F1Counts
from benchmarks.streams import Features, Stream
from tagalong import LabelRanker

CHUNK = 1000
PUBLISHED: dict[str, Any] = {"average": False, "constant": 0.0, "probability": False}
"""As in the papers: predictions use the current weights, there is no constant feature, and no
confidence is learnt."""

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
    "default without confidence": {"probability": False},
    "default, steps on all labels": {"working_set": False},
    "one learner": {"race": None},
    "entropic single": {"update": "single", **ENTROPIC},
    "entropic optimal": {"update": "optimal", **ENTROPIC},
}
RANK_ONE = ("euclidean single", DEFAULT)


def make_ranker(setting: str) -> LabelRanker:
    """An unfitted LabelRanker in one of the settings."""
    return LabelRanker(**SETTINGS[setting])


def contestants(stream: Stream) -> Iterator[ChunkedContestant]:
    """One contestant per setting, on the whole stream."""
    for setting in SETTINGS:
        yield ChunkedContestant(
            setting, stream, CHUNK, partial(setting_step, setting, stream.labels)
        )


def setting_step(setting: str, labels: list[str]) -> Step:
    """The step function of a new ranker in one of the settings."""
    return ranker_step(make_ranker(setting), labels)


def ranker_step(ranker: LabelRanker, labels: list[str]) -> Step:
    """The step function of a ranker; the first chunk is passed together with all labels."""
    classes: list[str] | None = labels

    def learn(X: Features, Y: sp.csr_matrix) -> npt.NDArray[np.floating]:
        nonlocal classes
        scores: npt.NDArray[np.floating] = ranker.predict_then_learn(X, Y, classes=classes)
        classes = None
        return scores

    return learn


def train_on(setting: str, stream: Stream) -> tuple[LabelRanker, float]:
    """Train a new ranker on the stream, ranking each row first; return it and the seconds taken."""
    ranker = make_ranker(setting)
    learn = ranker_step(ranker, stream.labels)
    seconds = 0.0
    for X, Y in chunks(stream, CHUNK):
        start = time.perf_counter()
        learn(X, Y)
        seconds += time.perf_counter() - start
    return ranker, seconds


def rank_one_micros(setting: str, stream: Stream, calls: int = 2000, batches: int = 9) -> float:
    """Microseconds per ``rank_one((indices, values), k=5)`` on shuffled rows, after one pass.

    The median over batches of calls, including the Python loop and the call itself.
    """
    ranker, _ = train_on(setting, stream)
    rows = np.random.default_rng(0).choice(stream.rows, size=(batches, calls))
    times = []
    for batch in rows:
        items = [sparse_row(stream.X, row) for row in batch]
        start = time.perf_counter()
        for item in items:
            ranker.rank_one(item, k=5)
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times) * 1e6


def cutoff_f1(stream: Stream) -> tuple[float, float]:
    """Progressive micro-F1 of ``predict`` with the learnt cut-off, and of the best threshold.

    The best threshold is constant and chosen in hindsight.
    """
    ranker = make_ranker(DEFAULT)
    learn = ranker_step(ranker, stream.labels)
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


def sparse_row(X: Features, row: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """A row as (indices, values)."""
    if sp.issparse(X):
        cells = slice(X.indptr[row], X.indptr[row + 1])
        return X.indices[cells], X.data[cells]
    return np.arange(X.shape[1], dtype=np.int32), X[row]
