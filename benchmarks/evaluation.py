"""What evaluation costs beside learning: ``python -m benchmarks.evaluation [stream]``.

Two equal learners go through the stream side by side, in the chunks of ``progressive``: one only
learns, the other is watched and its rounds are counted. Turn by turn within one run, so that
whatever else the machine does slows both. Then the same, example by example.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import streams
from tagalong import LabelRanker
from tagalong.evaluate import Progress
from tagalong.evaluate.runs import chunk_size

LEARNERS: dict[str, dict[str, Any]] = {
    "default": {},
    "adaptive, averaged optimal": {"update": "optimal", "average": True},
    "Euclidean optimal": {"update": "optimal", "geometry": "euclidean", "average": False},
    "Euclidean single": {"update": "single", "geometry": "euclidean", "average": False},
}
REPEATS = 3


def in_chunks(stream: streams.Stream, settings: dict[str, Any]) -> tuple[float, float]:
    """Seconds of learning, and of learning, watching and counting."""
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
    return seconds[0], seconds[1]


def one_by_one(stream: streams.Stream, settings: dict[str, Any]) -> tuple[float, float]:
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
    return seconds[0], seconds[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stream", nargs="?", default="debtags", choices=streams.names())
    parser.add_argument("--rows", type=int, help="only the first rows")
    arguments = parser.parse_args()
    stream = streams.load(arguments.stream)
    if arguments.rows:
        stream = stream.head(arguments.rows)
    print(stream.describe())
    print("| learner | way | learning, µs a row | evaluation, µs a row | evaluation / learning |")
    print("|---|---|---|---|---|")
    for name, settings in LEARNERS.items():
        for way, run in (("chunks", in_chunks), ("one by one", one_by_one)):
            pairs = [run(stream, settings) for _ in range(REPEATS)]
            shares = [both / learning - 1 for learning, both in pairs]
            learning, both = pairs[int(np.argsort(shares)[REPEATS // 2])]
            unit = 1e6 / stream.rows
            print(
                f"| {name} | {way} | {learning * unit:.1f} | {(both - learning) * unit:.1f} "
                f"| {both / learning - 1:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
