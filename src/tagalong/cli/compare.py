"""``tagalong compare``: several learners on the same items, which are read once.

The items are read in chunks. While the main thread computes the features of a chunk, the learners
learn earlier chunks in other threads. Each learner sees all chunks in order. Therefore the results
do not depend on the number of threads, and they are the same to the bit as when each learner runs
separately.
"""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.cli.chunk_workers import ChunkWorkers
from tagalong.cli.compare_table import Row, as_markdown, as_table, best_first, live_cells
from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learners import (
    DEFAULT,
    LearnerSpec,
    compared_specs,
    learner_flags,
    learner_settings,
    make_features,
)
from tagalong.cli.live import Live
from tagalong.cli.nothing_learnt import nothing_learnt
from tagalong.cli.output import Output
from tagalong.cli.sources import reading_of
from tagalong.evaluate import Progress
from tagalong.learning.examples import SparseRows
from tagalong.learning.items import Item
from tagalong.text import TextFeatures

__all__ = ["run"]

CHUNK = 256


class Chunk(NamedTuple):
    """The features, labels and weights of some items."""

    X: sp.csr_array
    Y: list[tuple[str, ...]]
    weights: npt.NDArray[np.float64] | None


def run(args: argparse.Namespace, out: Output) -> int:
    """Compare the learners and print a table of their measures."""
    features = make_features(args)
    if features.buckets is None:
        raise UsageError("--buckets grow: compare needs a fixed number of features; give a number")
    settings = learner_settings(args)
    specs = compared_specs(args)
    learners = [_MeasuredLearner(spec, settings, args) for spec in specs]
    if settings or not any(_is_default(spec) for spec in specs):
        learners.append(_MeasuredLearner(DEFAULT, {}, args))
    reading = reading_of(args)
    threads = args.threads or min(len(learners), os.cpu_count() or 1)
    reader = _Chunks(features)
    with (
        reading.open() as stream,
        Interrupts() as interrupts,
        Live(out.quiet, args.every) as live,
        ChunkWorkers(learners, threads) as workers,
    ):
        chunks = reader.chunks(reading.limited(stream))
        try:
            with suppress(KeyboardInterrupt):
                while (chunk := interrupts.next(chunks)) is not None:
                    if live.is_due():
                        workers.finish()
                        live.show(*live_cells([learner.row() for learner in learners]))
                    workers.add(chunk)
        finally:  # a learner that fails at an item before an error of reading comes first
            workers.finish()
    if not learners[0].progress.items and not interrupts.signal:
        raise nothing_learnt(reading, reader.unlabelled, stream.skipped, "compare", stream.links)
    rows = best_first([learner.row() for learner in learners])
    out.json_result(
        {
            "interrupted": bool(interrupts.signal),
            "items": learners[0].progress.items,
            "labels": reader.labels,
            "unlabelled": reader.unlabelled,
            "skipped": stream.skipped,
            "errors": stream.errors,
            "links": stream.links,
            "k": args.at,
            "learners": [row.to_dict() for row in rows],
        }
    )
    if any(row.report.order == "sorted" for row in rows):
        out.result(
            "THE ITEMS CAME SORTED BY LABEL, so these figures are too good and must not be "
            "trusted:",
            "compare the items in the order in which they arrived, or with --shuffle.",
            "",
        )
    out.result(*(as_markdown(rows) if args.markdown else as_table(rows)))
    out.info(f"{learners[0].progress.items:,} items, {reader.labels:,} labels")
    if reader.unlabelled:
        out.info(f"{reader.unlabelled:,} items without labels were ignored")
    out.report_skipped(stream.skipped, stream.errors, stream.links)
    if interrupts.signal:
        out.info("interrupted; the measures cover the items learnt so far")
        return interrupts.exit_code
    return SOME_SKIPPED if stream.skipped else OK


def _is_default(spec: LearnerSpec) -> bool:
    return (spec.learner, spec.settings) == (DEFAULT.learner, DEFAULT.settings)


class _MeasuredLearner:
    """A learner, its measures and the time it took."""

    def __init__(self, spec: LearnerSpec, shared: dict[str, Any], args: argparse.Namespace):
        self._spec = spec
        self._learner = spec.make(shared, learner_flags(args))
        self._settings = {**spec.settings, **shared}
        self._seconds = 0.0
        self.progress = Progress(args.at, args.window)

    def learn(self, chunk: Chunk) -> None:
        """Learn a chunk, and measure the predictions made before learning it."""
        # The processor time of this thread: the load of other threads does not affect it.
        start = time.thread_time()
        rounds = self._learner.watch(chunk.X, chunk.Y, "grow", chunk.weights)
        self._seconds += time.thread_time() - start
        self.progress.add_rounds(rounds, self._learner)

    def row(self) -> Row:
        """Return the measures so far."""
        certificate = getattr(self._learner, "certificate_", None)
        classes = getattr(self._learner, "classes_", ())
        report = self.progress.report(list(classes), certificate)
        speed = self.progress.items / self._seconds if self._seconds > 0 else np.nan
        return Row(self._spec.name, self._settings, report, speed)


class _Chunks:
    """Groups items into chunks. The features are exactly those of a Tagger."""

    def __init__(self, features: TextFeatures):
        self._features = features
        self._labels: set[str] = set()
        self.unlabelled = 0

    @property
    def labels(self) -> int:
        """Number of different labels so far."""
        return len(self._labels)

    def chunks(self, items: Iterator[Item]) -> Iterator[Chunk]:
        """Yield the labelled items in chunks."""
        labelled = self._labelled(items)
        while some := list(islice(labelled, CHUNK)):
            yield self._chunk(some)

    def _labelled(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            if item.labels is None:
                self.unlabelled += 1
            else:
                self._labels.update(item.labels)
                yield item

    def _chunk(self, items: list[Item]) -> Chunk:
        rows = self._features.read_texts(items)
        if rows is None:  # not only texts
            rows = SparseRows.of_pairs([self._read(item) for item in items])
        shape = (len(items), self._features.buckets or 0)
        weights = None
        if any(item.weight != 1.0 for item in items):
            weights = np.array([item.weight for item in items])
        # Both index arrays have the same type, so that no learner has to copy them.
        X = sp.csr_array((rows.values, rows.indices, rows.indptr.astype(np.int32)), shape=shape)
        return Chunk(X, [item.labels or () for item in items], weights)

    def _read(self, item: Item) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        try:
            return self._features.read(item, learn=True)
        except ValueError as error:
            raise CommandError(f"{item.place or item.id}: {error}") from error
