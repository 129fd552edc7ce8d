"""``tagalong compare``: several learners over one stream that is read once.

The stream is cut into chunks; features are made of a chunk while the learners, in threads, learn
the one before. Each learner sees all chunks in order, so the results do not depend on the number
of threads, and are those of the learner by itself, to the bit.
"""

import argparse
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagalong.cli.compare_table import Row, as_markdown, as_table, live_cells
from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learners import Contestant, contestants, learner_settings, make_features
from tagalong.cli.live import Live
from tagalong.cli.output import Output
from tagalong.cli.sources import reading_of
from tagalong.evaluate import Progress
from tagalong.learning.items import Item
from tagalong.text import TextFeatures

__all__ = ["run"]

CHUNK = 256


class Chunk(NamedTuple):
    """Some items as the learners take them."""

    X: sp.csr_array
    Y: list[tuple[str, ...]]
    weights: Any


def run(args: argparse.Namespace, out: Output) -> int:
    """Compare, and write the table."""
    features = make_features(args)
    if features.buckets is None:
        raise UsageError("compare needs features of a fixed number: give --buckets a number")
    settings = learner_settings(args)
    racers = [_Racer(one, settings, args) for one in contestants(args)]
    reading = reading_of(args)
    threads = args.threads or min(len(racers), os.cpu_count() or 1)
    reader = _Chunks(features)
    with (
        reading.open() as stream,
        ThreadPoolExecutor(threads) as pool,
        Interrupts() as interrupts,
        Live(out.quiet, args.every) as live,
    ):
        chunks = reader.chunks(reading.limited(stream))
        running: list[Future[None]] = []
        with suppress(KeyboardInterrupt):
            while (chunk := interrupts.next(chunks)) is not None:
                _wait(running)
                if running and live.is_due():
                    live.show(*live_cells([racer.row() for racer in racers]))
                running = [pool.submit(racer.learn, chunk) for racer in racers]
        _wait(running)
    rows = [racer.row() for racer in racers]
    out.document(
        {
            "interrupted": bool(interrupts.signal),
            "items": racers[0].progress.items,
            "labels": reader.labels,
            "unlabelled": reader.unlabelled,
            "skipped": stream.skipped,
            "errors": stream.errors,
            "k": args.at,
            "learners": [row.to_dict() for row in rows],
        }
    )
    out.show(as_markdown(rows) if args.markdown else as_table(rows, out.bold))
    out.say(f"{racers[0].progress.items:,} items, {reader.labels:,} labels")
    if reader.unlabelled:
        out.say(f"{reader.unlabelled:,} items without labels were passed over")
    out.skipped(stream.skipped, stream.errors)
    if interrupts.signal:
        out.say("interrupted: these are the figures so far")
        return interrupts.exit_code
    return SOME_SKIPPED if stream.skipped else OK


def _wait(running: list[Future[None]]) -> None:
    for future in running:
        future.result()


class _Racer:
    """One learner with its figures."""

    def __init__(self, contestant: Contestant, shared: dict[str, Any], args: argparse.Namespace):
        self._contestant = contestant
        self._learner = contestant.make(**shared)
        self._settings = {**contestant.settings, **shared}
        self._seconds = 0.0
        self.progress = Progress(args.at, args.window)

    def learn(self, chunk: Chunk) -> None:
        """Learn a chunk and count what was predicted before."""
        # Of this thread alone, so that others on the same processor do not slow it down.
        begun = time.thread_time()
        rounds = self._learner.watch(chunk.X, chunk.Y, "grow", chunk.weights)
        self._seconds += time.thread_time() - begun
        self.progress.add_rounds(rounds, self._learner)

    def row(self) -> Row:
        """Return the figures so far."""
        certificate = getattr(self._learner, "certificate_", None)
        classes = getattr(self._learner, "classes_", ())
        report = self.progress.report(list(classes), certificate)
        speed = self.progress.items / self._seconds if self._seconds > 0 else np.nan
        return Row(self._contestant.name, self._settings, report, speed)


class _Chunks:
    """Turns items into chunks, exactly as a Tagger would turn them into features one by one."""

    def __init__(self, features: TextFeatures):
        self._features = features
        self._labels: set[str] = set()
        self.unlabelled = 0

    @property
    def labels(self) -> int:
        """How many labels there were."""
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
        pairs = [self._read(item) for item in items]
        indptr = np.cumsum([0, *(len(indices) for indices, _ in pairs)])
        indices = np.concatenate([indices for indices, _ in pairs])
        values = np.concatenate([values for _, values in pairs])
        shape = (len(items), self._features.buckets or 0)
        weights = None
        if any(item.weight != 1.0 for item in items):
            weights = np.array([item.weight for item in items])
        X = sp.csr_array((values, indices, indptr), shape=shape)
        return Chunk(X, [item.labels or () for item in items], weights)

    def _read(self, item: Item) -> tuple[Any, Any]:
        try:
            return self._features.read(item, learn=True)
        except ValueError as error:
            raise CommandError(f"{item.place or item.id}: {error}") from error
