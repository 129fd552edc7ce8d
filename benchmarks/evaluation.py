"""What evaluation costs beside learning: ``python -m benchmarks.evaluation [stream]``.

Two equal learners go through the stream side by side, in the chunks of ``progressive``: one only
learns, the other is watched and its rounds are counted. Turn by turn within one run, so that
whatever else the machine does slows both. Then the same, example by example. Beside the times: the
average precision that was counted. One by one, labels appear as they come, so it differs a little.
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
GOAL = 0.2
"""Wanted: evaluation takes at most this share of learning."""

# Seconds of learning, of learning, watching and counting, and the average precision.
Turn = tuple[float, float, float]


def in_chunks(stream: streams.Stream, settings: dict[str, Any]) -> Turn:
    """Learn and evaluate a stream in chunks."""
    alone, watched, progress = LabelRanker(**settings), LabelRanker(**settings), Progress()
    seconds = [0.0, 0.0]
    progress.expect(stream.rows)
    X, Y = sp.csr_matrix(stream.X), stream.Y
    start = 0
    while start < stream.rows:
        rows = slice(start, start + chunk_size(start))
        began = time.thread_time()
        alone.partial_fit(X[rows], Y[rows])
        between = time.thread_time()
        progress.add_rounds(watched.watch(X[rows], Y[rows]), watched)
        seconds[0] += between - began
        seconds[1] += time.thread_time() - between
        start = rows.stop
    return seconds[0], seconds[1], progress.report().overall.average_precision


def one_by_one(stream: streams.Stream, settings: dict[str, Any]) -> Turn:
    """The same for single examples."""
    alone, watched, progress = LabelRanker(**settings), LabelRanker(**settings), Progress()
    seconds = [0.0, 0.0]
    X = sp.csr_matrix(stream.X)
    for row in range(stream.rows):
        ends = X.indptr[row], X.indptr[row + 1]
        x = X.indices[slice(*ends)], X.data[slice(*ends)]
        y = [stream.labels[label] for label in stream.Y[[row]].indices]
        began = time.thread_time()
        alone.learn_one(x, y)
        between = time.thread_time()
        progress.add(watched.watch_one(x, y), watched)
        seconds[0] += between - began
        seconds[1] += time.thread_time() - between
    return seconds[0], seconds[1], progress.report().overall.average_precision


def row(name: str, way: str, turns: list[Turn], rows: int) -> list[str]:
    """A row of the table."""
    learning = Times([alone for alone, _, _ in turns])
    judging = Times([both - alone for alone, both, _ in turns])
    share = Ratio([both / alone - 1 for alone, both, _ in turns])
    micros = [f"{1e6 * seconds / rows:.1f}" for seconds in (learning.best, learning.median)]
    return [
        name, way, *micros, f"{1e6 * judging.median / rows:.1f}", str(share), f"≤ {GOAL:g}",
        "reached" if share.median <= GOAL else "not reached", f"{turns[0][2]:.4f}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stream", nargs="?", default="debtags", choices=streams.names())
    parser.add_argument("--rows", type=int, help="only the first rows")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    stream = streams.load(arguments.stream)
    if arguments.rows:
        stream = stream.head(arguments.rows)
    print(f"{stream.describe()}; µs a row\n")
    ways = {"chunks": in_chunks, "one by one": one_by_one}
    turns: dict[tuple[str, str], list[Turn]] = {(n, way): [] for n in LEARNERS for way in ways}
    for _ in range(arguments.repeat):
        for name, way in turns:
            turns[name, way].append(ways[way](stream, LEARNERS[name]))
    heads = [
        "learner", "way", "learning, best", "median", "evaluation", "evaluation / learning", "goal",
        "", "average precision",
    ]  # fmt: skip
    rows = [row(name, way, found, stream.rows) for (name, way), found in turns.items()]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
