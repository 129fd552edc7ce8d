"""The learners of ``tagalong compare``: each learns chunks of items, and measures itself."""

import argparse
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.cli.compare_table import Row
from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.grades import check_grade
from tagalong.cli.learners import (
    DEFAULT,
    LearnerSpec,
    compared_specs,
    learner_flags,
    learner_settings,
    make_features,
    settings_for_grades,
    settings_for_words,
)
from tagalong.evaluate import Progress
from tagalong.learning.examples import SparseRows
from tagalong.learning.items import Item
from tagalong.text import TextFeatures

__all__ = ["Chunk", "Chunks", "MeasuredLearner", "measured_learners"]

CHUNK = 256


class Chunk(NamedTuple):
    """The features, labels and weights of some items."""

    X: sp.csr_array
    Y: list[tuple[str, ...]]
    weights: npt.NDArray[np.float64] | None


def measured_learners(args: argparse.Namespace) -> list["MeasuredLearner"]:
    """Return the learners that a command line asks for, and the default one.

    Parameters
    ----------
    args : Namespace
        The parsed command line. UsageError if it cannot be compared.
    """
    settings = learner_settings(args)
    specs = compared_specs(args)
    learners = [MeasuredLearner(spec, settings, args) for spec in specs]
    if settings or not any(_is_default(spec) for spec in specs):
        learners.append(MeasuredLearner(DEFAULT, {}, args))
    return learners


def _is_default(spec: LearnerSpec) -> bool:
    return (spec.learner, spec.settings) == (DEFAULT.learner, DEFAULT.settings)


class MeasuredLearner:
    """A learner, its measures and the time it took.

    Parameters
    ----------
    spec : LearnerSpec
        The learner.
    shared : dict
        Settings that all learners of a command have.
    args : Namespace
        The parsed command line.
    """

    def __init__(self, spec: LearnerSpec, shared: dict[str, Any], args: argparse.Namespace):
        self._spec = spec
        of_grades: dict[str, Any] = {}
        if args.grades and "problem" not in shared:
            of_grades = settings_for_grades(spec.learner, args.grades)
        of_words = {}
        if args.seldom_of is not None and spec.learner == "shared":
            geometry = {**spec.settings, **shared}.get("geometry", "euclidean")
            of_words = settings_for_words(args.seldom_of, geometry)
        self._learner = spec.make({**of_grades, **of_words, **shared}, learner_flags(args))
        self._settings = {**spec.settings, **shared}
        if of_words:
            self._settings["seldom_of"] = args.seldom_of
        self._has_grades = args.grades is not None
        self._classes: str | list[str] = args.grades or "grow"
        self._seconds = 0.0
        self.progress = Progress(args.at, args.window)

    def learn(self, chunk: Chunk) -> None:
        """Learn a chunk, and measure the predictions made before learning it.

        Parameters
        ----------
        chunk : Chunk
            The next chunk.
        """
        # The processor time of this thread: the load of other threads does not affect it.
        start = time.thread_time()
        rounds = self._learner.watch(chunk.X, chunk.Y, self._classes, chunk.weights)
        self._seconds += time.thread_time() - start
        self.progress.add_rounds(rounds, self._learner)

    def row(self) -> Row:
        """Return the measures so far."""
        certificate = getattr(self._learner, "certificate_", None)
        classes = getattr(self._learner, "classes_", ())
        report = self.progress.report(list(classes), certificate, grades=self._has_grades)
        speed = self.progress.items / self._seconds if self._seconds > 0 else np.nan
        return Row(self._spec.name, self._settings, report, speed)


class Chunks:
    """Groups items into chunks. The features are exactly those of a Tagger.

    Parameters
    ----------
    args : Namespace
        The parsed command line. UsageError if its features have no fixed number.

    Attributes
    ----------
    unlabelled : int
        Number of items without labels, which are left out.
    """

    def __init__(self, args: argparse.Namespace):
        self._features: TextFeatures = make_features(args)
        if self._features.buckets is None:
            raise UsageError(
                "--buckets grow: compare needs a fixed number of features; give a number"
            )
        self._labels: set[str] = set()
        self._grades: list[str] | None = args.grades
        self.unlabelled = 0

    @property
    def labels(self) -> int:
        """Number of different labels so far."""
        return len(self._labels)

    def chunks(self, items: Iterator[Item]) -> Iterator[Chunk]:
        """Yield the labelled items in chunks.

        Parameters
        ----------
        items : iterator of Item
            The items.
        """
        labelled = self._labelled(items)
        while some := list(islice(labelled, CHUNK)):
            yield self._chunk(some)

    def _labelled(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            if item.labels is None:
                self.unlabelled += 1
            else:
                self._check_grade(item)
                self._labels.update(item.labels)
                yield item

    def _check_grade(self, item: Item) -> None:
        if self._grades is None:
            return
        try:
            check_grade(item.labels or (), self._grades)
        except ValueError as error:
            raise CommandError(f"{item.place or item.id}: {error}") from error

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
