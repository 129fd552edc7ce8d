"""What one example costs from Python, part by part: ``python -m benchmarks.overhead [stream]``.

A learner has learnt the first half of the stream. The second half is then learnt one example a
call, and ranked one example a call in a random order. Around each batch of examples the parts of
the call are timed by themselves:

- binding: the same native method, of a learner without labels and with empty arrays;
- conversion: from what was given to arrays, from labels to their numbers, with all checks; and
  from arrays to an example, which a learner without labels does and no more;
- kernel: an equal learner is given the batch as one matrix; less what reading a matrix takes;
- the rest is what remains of the whole: Python around it, and caches that Python has used.

Medians of the batches, in microseconds of the processor. Examples are pairs of arrays, or
dictionaries of names that are known already.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import ours, streams
from benchmarks.markdown import table
from tagalong.learning.examples import FeatureNames, as_matrix
from tagalong.learning.labels import LabelRows

K = 5
TOGETHER = 100
"""Rows a native call; more would be shared out to threads."""

NOTHING = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
Numbers = tuple[LabelRows, LabelRows]


@dataclass(frozen=True)
class Batch:
    """Examples as a caller has them, as arrays, and as matrices with their labels' numbers."""

    examples: list[Any]
    labels: list[list[str]]
    pairs: list[tuple[Any, Any]]
    matrices: list[Any]
    numbers: list[Numbers]

    def __len__(self) -> int:
        return len(self.examples)


@dataclass(frozen=True)
class Parts:
    """Microseconds an example."""

    whole: float
    binding: float
    conversion: float
    kernel: float

    @property
    def rest(self) -> float:
        return self.whole - self.binding - self.conversion - self.kernel


def batches(
    stream: streams.Stream, rows: np.ndarray[Any, Any], named: bool, size: int
) -> Iterator[Batch]:
    """The rows, so many at a time."""
    X, Y = sp.csr_matrix(stream.X), stream.Y
    for start in range(0, len(rows), size):
        chosen = rows[start : start + size]
        pairs = [ours.pair(X, row) for row in chosen]
        examples: list[Any] = pairs
        if named:
            examples = [
                {f"word {i}": v for i, v in zip(indices.tolist(), values.tolist(), strict=True)}
                for indices, values in pairs
            ]
        labels = [[stream.labels[label] for label in Y[[row]].indices] for row in chosen]
        pieces = [chosen[at : at + TOGETHER] for at in range(0, len(chosen), TOGETHER)]
        yield Batch(
            examples,
            labels,
            pairs,
            [as_matrix(X[piece]) for piece in pieces],
            [_numbers(Y[piece]) for piece in pieces],
        )


def _numbers(Y: sp.csr_matrix) -> Numbers:
    rows = LabelRows(Y.indptr.astype(np.int64), Y.indices.astype(np.int32))
    return rows, LabelRows.empty(Y.shape[0])


def micros(work: Callable[[], object], count: int) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) / count * 1e6


def learning(ranker: Any, twin: Any, empty: Any, batch: Batch) -> Parts:
    """Learn a batch with both rankers, and split what the calls of the first one took."""
    native = twin._native
    no_labels = [_numbers(sp.csr_matrix((matrix.shape[0], 1))) for matrix in batch.matrices]

    def whole() -> None:
        for x, y in zip(batch.examples, batch.labels, strict=True):
            ranker.learn_one(x, y)

    def converted() -> None:
        for x, y in zip(batch.examples, batch.labels, strict=True):
            ranker._pairs(x, learning=True)
            ranker._labels.encode_one(y, ())

    def bound(pairs: Sequence[tuple[Any, Any]]) -> None:
        for indices, values in pairs:
            empty.learn_one(indices, values, [], [], 1.0)

    def matrices(learner: Any, numbers: list[Numbers]) -> None:
        for matrix, labels in zip(batch.matrices, numbers, strict=True):
            learner.learn(matrix, *labels)

    return _split(
        len(batch),
        whole,
        converted,
        lambda: bound([NOTHING] * len(batch)),
        lambda: bound(batch.pairs),
        lambda: matrices(native, batch.numbers),
        lambda: matrices(empty, no_labels),
    )


def ranking(ranker: Any, twin: Any, empty: Any, batch: Batch) -> Parts:
    """The same for the best labels of each example; nothing is learnt."""
    native = twin._native

    def whole() -> None:
        for x in batch.examples:
            ranker.rank_one(x, k=K)

    def converted() -> None:
        for x in batch.examples:
            ranker._pairs(x, learning=False)

    def bound(pairs: Sequence[tuple[Any, Any]]) -> None:
        for indices, values in pairs:
            empty.rank_one(indices, values, K)

    def matrices(learner: Any) -> None:
        for matrix in batch.matrices:
            learner.rank(matrix, K)

    return _split(
        len(batch),
        whole,
        converted,
        lambda: bound([NOTHING] * len(batch)),
        lambda: bound(batch.pairs),
        lambda: matrices(native),
        lambda: matrices(empty),
    )


def _split(
    count: int,
    whole: Callable[[], object],
    converted: Callable[[], object],
    bound: Callable[[], object],
    read: Callable[[], object],
    worked: Callable[[], object],
    matrix_read: Callable[[], object],
) -> Parts:
    converted()  # so that no part is the first to meet the examples
    all_of_it, binding = micros(whole, count), micros(bound, count)
    conversion = micros(converted, count) + micros(read, count) - binding
    kernel = micros(worked, count) - micros(matrix_read, count)
    return Parts(all_of_it, binding, conversion, kernel)


def measure(setting: str, stream: streams.Stream, named: bool, size: int) -> dict[str, list[Parts]]:
    """The parts of every batch, of learning and of ranking."""
    half = stream.rows // 2
    ranker = ours.make(setting)
    ranker.partial_fit(stream.X[:half], stream.Y[:half], classes=stream.labels)
    if named:
        ranker._names = FeatureNames(f"word {i}" for i in range(stream.features))
    twin = deepcopy(ranker)
    empty = ranker._make_native(ranker._settings)
    rows = np.arange(half, stream.rows)
    found: dict[str, list[Parts]] = {"learn_one": [], "rank_one": []}
    for batch in batches(stream, rows, named, size):
        found["learn_one"].append(learning(ranker, twin, empty, batch))
    shuffled = np.random.default_rng(0).permutation(rows)
    for batch in batches(stream, shuffled, named, size):
        found["rank_one"].append(ranking(ranker, twin, empty, batch))
    same = np.array_equal(ranker.weights_by_feature()["weights"], twin._native.weights().weights)
    if not same:
        raise AssertionError("one by one and as a matrix, the learners have come to differ")
    return found


def row(name: str, call: str, form: str, parts: list[Parts]) -> list[str]:
    """A row of the table."""

    def median(part: str) -> float:
        return statistics.median(getattr(one, part) for one in parts)

    cells = [f"{median(part):.1f}" for part in ("whole", "binding", "conversion", "kernel", "rest")]
    best = min(one.whole for one in parts)
    return [f"{name}, `{call}` of {form}", f"{best:.1f}", *cells]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stream", nargs="?", default="debtags", choices=streams.names())
    parser.add_argument("--rows", type=int, help="only the first rows")
    parser.add_argument("--batch", type=int, default=300, help="examples a batch")
    options = parser.parse_args(arguments)
    try:
        stream = streams.load(options.stream)
    except streams.NoData as error:
        print(error, file=sys.stderr)
        return 2
    if options.rows:
        stream = stream.head(options.rows)
    print(f"{stream.describe()}; µs an example\n")
    rows = []
    for name in ours.RANK_ONE:
        for form in ("arrays", "names"):
            found = measure(name, stream, form == "names", options.batch)
            rows += [row(name, call, form, parts) for call, parts in found.items()]
    heads = ["call", "whole, best", "median", "binding", "conversion", "kernel", "the rest"]
    print(table(heads, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
