"""The cost of evaluation relative to learning: ``python -m benchmarks.evaluation [stream]``.

Two identical learners process the stream alternately, in the chunks of ``progressive``, so that
other work on the machine slows both. One only learns; the other learns with ``watch``, and its
rounds are evaluated. The same is done example by example. The last column is the average precision.
It differs slightly between the two modes: example by example, labels are added when they first
occur.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import scipy.sparse as sp

from benchmarks import streams
from benchmarks.markdown import table
from benchmarks.turns import Ratio, Times
from tagalong import LabelRanker
from tagalong.evaluate import Progress
from tagalong.evaluate.runs import chunk_size

LEARNERS: dict[str, dict[str, Any]] = {
    "default": {},
    "adaptive, averaged optimal": {"update": "optimal", "average": True},
    "Euclidean optimal": {"update": "optimal", "geometry": "euclidean", "average": False},
    "Euclidean single": {"update": "single", "geometry": "euclidean", "average": False},
}
GOAL = 0.15
"""Goal: evaluation takes at most this share of the time of learning."""

# Seconds of learning only, seconds of learning with evaluation, average precision.
Turn = tuple[float, float, float]


def in_chunks(stream: streams.Stream, settings: dict[str, Any]) -> Turn:
    """Learn a stream in chunks, without and with evaluation."""
    plain, watched, progress = LabelRanker(**settings), LabelRanker(**settings), Progress()
    seconds = [0.0, 0.0]
    progress.expect(stream.rows)
    X, Y = sp.csr_matrix(stream.X), stream.Y
    start = 0
    while start < stream.rows:
        rows = slice(start, start + chunk_size(start))
        start_time = time.thread_time()
        plain.partial_fit(X[rows], Y[rows])
        between = time.thread_time()
        progress.add_rounds(watched.watch(X[rows], Y[rows]), watched)
        seconds[0] += between - start_time
        seconds[1] += time.thread_time() - between
        start = rows.stop
    return seconds[0], seconds[1], progress.report().overall.average_precision


def one_by_one(stream: streams.Stream, settings: dict[str, Any]) -> Turn:
    """Learn a stream example by example, without and with evaluation."""
    plain, watched, progress = LabelRanker(**settings), LabelRanker(**settings), Progress()
    seconds = [0.0, 0.0]
    X = sp.csr_matrix(stream.X)
    for row in range(stream.rows):
        ends = X.indptr[row], X.indptr[row + 1]
        x = X.indices[slice(*ends)], X.data[slice(*ends)]
        y = [stream.labels[label] for label in stream.Y[[row]].indices]
        start_time = time.thread_time()
        plain.learn_one(x, y)
        between = time.thread_time()
        progress.add(watched.watch_one(x, y), watched)
        seconds[0] += between - start_time
        seconds[1] += time.thread_time() - between
    return seconds[0], seconds[1], progress.report().overall.average_precision


def row(name: str, mode: str, turns: list[Turn], rows: int) -> list[str]:
    """A row of the table."""
    learning = Times([plain for plain, _, _ in turns])
    judging = Times([both - plain for plain, both, _ in turns])
    share = Ratio([both / plain - 1 for plain, both, _ in turns])
    micros = [f"{1e6 * seconds / rows:.1f}" for seconds in (learning.best, learning.median)]
    return [
        name, mode, *micros, f"{1e6 * judging.median / rows:.1f}", str(share), f"≤ {GOAL:g}",
        "reached" if share.median <= GOAL else "not reached", f"{turns[0][2]:.4f}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stream", nargs="?", default="debtags", choices=streams.names())
    parser.add_argument("--rows", type=int, help="number of rows (default: all)")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    stream = streams.load(arguments.stream)
    if arguments.rows:
        stream = stream.head(arguments.rows)
    print(f"{stream.describe()}; µs per row\n")
    modes = {"chunks": in_chunks, "one by one": one_by_one}
    turns: dict[tuple[str, str], list[Turn]] = {(n, mode): [] for n in LEARNERS for mode in modes}
    for _ in range(arguments.repeat):
        for name, mode in turns:
            turns[name, mode].append(modes[mode](stream, LEARNERS[name]))
    headers = [
        "learner", "mode", "learning, best", "median", "evaluation", "evaluation / learning",
        "goal", "", "average precision",
    ]  # fmt: skip
    rows = [row(name, mode, found, stream.rows) for (name, mode), found in turns.items()]
    print(table(headers, rows))


if __name__ == "__main__":
    main()
