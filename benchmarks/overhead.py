"""The cost of one call from Python, split into parts: ``python -m benchmarks.overhead [stream]``.

A ranker learns the first half of the stream. Then it learns the second half with one call per
example, and ranks it in random order with one call per example. Next to each batch of examples,
the parts of a call are timed separately:

- binding: the native method of a learner without labels, called with empty arrays;
- conversion: input to arrays and labels to numbers, with all checks; and arrays to a native
  example, timed with a learner without labels, which does nothing else;
- kernel: an identical learner gets the batch as a matrix; the time to read a matrix is subtracted;
- rest: the remainder of the call, that is Python code and cache misses that Python causes.

Calls of scikit-learn and River for single examples are rows of the same table
(`benchmarks.single_peers`). A second table compares the conversion of dictionaries with a look at
each entry, which was the only way before 2026-11-17. A third one has the cost of suggestions for
texts (`benchmarks.tagger_calls`).

Figures are medians over the batches, in microseconds of processor time. Examples are pairs of
arrays, or dictionaries whose feature names are already known.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import ours, single_peers, streams
from benchmarks.markdown import table
from benchmarks.tagger_calls import suggestion_rows
from tagalong import LabelRanker
from tagalong.learning.examples import FeatureNames, as_matrix
from tagalong.learning.labels import LabelRows

K = 5
ROWS_PER_CALL = 100
"""Rows per native call; more rows would be divided among threads."""

NO_FEATURES = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
NumberedLabels = tuple[LabelRows, LabelRows]


@dataclass(frozen=True)
class Batch:
    """The same examples in the caller's form, as arrays, and as matrices with label numbers."""

    examples: list[Any]
    labels: list[list[str]]
    pairs: list[tuple[Any, Any]]
    matrices: list[Any]
    numbers: list[NumberedLabels]

    def __len__(self) -> int:
        return len(self.examples)


@dataclass(frozen=True)
class Parts:
    """Microseconds per example."""

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
    """The given rows in batches of ``size``."""
    X, Y = sp.csr_matrix(stream.X), stream.Y
    for start in range(0, len(rows), size):
        chosen = rows[start : start + size]
        pairs = [ours.sparse_row(X, row) for row in chosen]
        examples: list[Any] = pairs
        if named:
            examples = [
                {f"word {i}": v for i, v in zip(indices.tolist(), values.tolist(), strict=True)}
                for indices, values in pairs
            ]
        labels = [[stream.labels[label] for label in Y[[row]].indices] for row in chosen]
        pieces = [chosen[at : at + ROWS_PER_CALL] for at in range(0, len(chosen), ROWS_PER_CALL)]
        yield Batch(
            examples,
            labels,
            pairs,
            [as_matrix(X[piece]) for piece in pieces],
            [_numbers(Y[piece]) for piece in pieces],
        )


def _numbers(Y: sp.csr_matrix) -> NumberedLabels:
    rows = LabelRows(Y.indptr.astype(np.int64), Y.indices.astype(np.int32))
    return rows, LabelRows.empty(Y.shape[0])


def micros(work: Callable[[], object], count: int) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) / count * 1e6


def learning(ranker: LabelRanker, twin: LabelRanker, empty: Any, batch: Batch) -> Parts:
    """Learn a batch with both rankers, and split the time of the first one's calls."""
    native = twin._native
    no_labels = [_numbers(sp.csr_matrix((matrix.shape[0], 1))) for matrix in batch.matrices]

    def whole() -> None:
        for x, y in zip(batch.examples, batch.labels, strict=True):
            ranker.learn_one(x, y)

    def convert() -> None:
        for x, y in zip(batch.examples, batch.labels, strict=True):
            ranker._pairs(x, learning=True)
            ranker._labels.encode_one(y, ())

    def call_native(pairs: Sequence[tuple[Any, Any]]) -> None:
        for indices, values in pairs:
            empty.learn_one(indices, values, [], [], 1.0, 1.0)

    def matrices(learner: Any, numbers: list[NumberedLabels]) -> None:
        for matrix, labels in zip(batch.matrices, numbers, strict=True):
            learner.learn(matrix, *labels)

    return _split(
        len(batch),
        whole,
        convert,
        lambda: call_native([NO_FEATURES] * len(batch)),
        lambda: call_native(batch.pairs),
        lambda: matrices(native, batch.numbers),
        lambda: matrices(empty, no_labels),
    )


def ranking(ranker: LabelRanker, twin: LabelRanker, empty: Any, batch: Batch) -> Parts:
    """Rank a batch without learning, and split the time of the calls."""
    native = twin._native

    def whole() -> None:
        for x in batch.examples:
            ranker.rank_one(x, k=K)

    def convert() -> None:
        for x in batch.examples:
            ranker._pairs(x, learning=False)

    def call_native(pairs: Sequence[tuple[Any, Any]]) -> None:
        for indices, values in pairs:
            empty.rank_one(indices, values, K)

    def matrices(learner: Any) -> None:
        for matrix in batch.matrices:
            learner.rank(matrix, K)

    return _split(
        len(batch),
        whole,
        convert,
        lambda: call_native([NO_FEATURES] * len(batch)),
        lambda: call_native(batch.pairs),
        lambda: matrices(native),
        lambda: matrices(empty),
    )


def _split(
    count: int,
    whole: Callable[[], object],
    convert: Callable[[], object],
    call_native: Callable[[], object],
    read: Callable[[], object],
    run_matrix: Callable[[], object],
    read_matrix: Callable[[], object],
) -> Parts:
    convert()  # loads the examples into the cache before anything is timed
    total, binding = micros(whole, count), micros(call_native, count)
    conversion = micros(convert, count) + micros(read, count) - binding
    kernel = micros(run_matrix, count) - micros(read_matrix, count)
    return Parts(total, binding, conversion, kernel)


def measure(setting: str, stream: streams.Stream, named: bool, size: int) -> dict[str, list[Parts]]:
    """The parts of the calls of every batch, for learning and for ranking."""
    half = stream.rows // 2
    ranker = ours.make_ranker(setting)
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
        raise AssertionError("learning one by one and as a matrix gave different weights")
    return found


def conversion_rows(stream: streams.Stream, size: int) -> list[list[str]]:
    """The conversion of known names in one native pass, and with a look at each entry."""
    names = FeatureNames(f"word {i}" for i in range(stream.features))
    ways = {"each entry": names.translate, "one native pass": names.translate_plain}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for batch in batches(stream, np.arange(stream.rows), True, size):
        for call in ways.values():
            _convert_all(call, batch.examples)  # caches
        for way, call in ways.items():
            convert = partial(_convert_all, call, batch.examples)
            times[way].append(micros(convert, len(batch)))
    rows = []
    for way, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(times["each entry"], found, strict=True))
        rows.append([way, f"{min(found):.1f}", f"{statistics.median(found):.1f}", f"{ratio:.1f}"])
    return rows


def _convert_all(call: Callable[[Any, bool], object], examples: list[Any]) -> None:
    for x in examples:
        call(x, True)


def row(name: str, call: str, form: str, parts: list[Parts]) -> list[str]:
    """A row of the table."""

    def median(part: str) -> float:
        return float(statistics.median(getattr(one, part) for one in parts))

    cells = [f"{median(part):.1f}" for part in ("whole", "binding", "conversion", "kernel", "rest")]
    best = min(one.whole for one in parts)
    return [f"{name}, `{call}` of {form}", f"{best:.1f}", *cells]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stream", nargs="?", default="debtags", choices=streams.names())
    parser.add_argument("--rows", type=int, help="number of rows (default: all)")
    parser.add_argument("--batch", type=int, default=300, help="examples per batch")
    parser.add_argument("--peer-rows", type=int, default=100, help="rows for the peers")
    parser.add_argument("--texts", type=int, default=8000, help="texts for the tagger")
    options = parser.parse_args(arguments)
    try:
        stream = streams.load(options.stream)
    except streams.NoData as error:
        print(error, file=sys.stderr)
        return 2
    if options.rows:
        stream = stream.head(options.rows)
    print(f"{stream.describe()}; µs per example\n")
    rows = []
    for name in ours.RANK_ONE:
        for form in ("arrays", "names"):
            found = measure(name, stream, form == "names", options.batch)
            rows += [row(name, call, form, parts) for call, parts in found.items()]
    headers = ["call", "total, best", "median", "binding", "conversion", "kernel", "rest"]
    peers, absent = single_peers.peer_rows(
        stream, min(options.peer_rows, stream.rows), len(headers)
    )
    print(table(headers, rows + peers))
    for message in absent:
        print(f"\n{message}")
    print("\nConversion of a dictionary of names, µs\n")
    print(table(["how", "best", "median", "times as fast"], conversion_rows(stream, options.batch)))
    print("\nSuggestions for texts, µs per text (wall-clock time)\n")
    print(table(["call", "best", "median", "times as fast"], suggestion_rows(options.texts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
