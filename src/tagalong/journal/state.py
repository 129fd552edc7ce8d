"""The state of a workspace: the model and its figures, as a fold of events."""

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tagalong.evaluate import Progress, Report
from tagalong.journal.lessons import Lesson
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.learning.protocols import is_online
from tagalong.tagger import Tagger

__all__ = ["ModelState"]

ITEMS_IN_ONE_CALL = 256


@dataclass(slots=True)
class ModelState:
    """The model and its figures after an event.

    Parameters
    ----------
    tagger : Tagger
        The model.
    progress : Progress
        The figures: predictions made before each first answer was learnt.
    seq : int
        The event.
    build : str
        What computed the state: see `tagalong.journal.builds.current_build`. "mixed" if several
        builds did.
    refused : int
        Number of answers that the learner could not learn.
    work : float
        Seconds of processor time that events have taken since the state was made or saved.
    lock : RLock
        Held while the state changes.
    """

    tagger: Tagger
    progress: Progress
    seq: int
    build: str
    refused: int = 0
    work: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def follow(self, lessons: Iterable[Lesson]) -> None:
        """Learn lessons in order. The result does not depend on how they are divided into calls.

        Parameters
        ----------
        lessons : iterable of Lesson
            The lessons after `seq`.
        """
        start = time.thread_time()
        remaining = iter(lessons)
        waiting: list[Lesson] = []
        while True:
            chunk = list(islice(remaining, ITEMS_IN_ONE_CALL))
            if not chunk:
                break
            with self.lock:
                for lesson in chunk:
                    if lesson.is_plain:
                        waiting.append(lesson)
                        continue
                    self._learn_plain(waiting)
                    waiting = []
                    self._learn(lesson)
                self._learn_plain(waiting)
                waiting = []
                self.seq = chunk[-1].event.seq
        self.work += time.thread_time() - start

    def _learn_plain(self, lessons: Sequence[Lesson]) -> None:
        """Learn first answers, in one native call if the learner can."""
        items = [lesson.item for lesson in lessons if lesson.item is not None]
        rounds = None
        if len(items) > 1 and self.tagger.learns_together:
            rounds = self.tagger.watch_together(items)
        if rounds is not None:
            self.progress.add_rounds(rounds)
            return
        for lesson in lessons:
            self._learn(lesson)

    def _learn(self, lesson: Lesson) -> None:
        """Learn one lesson. One that the learner refuses adds its labels and nothing else."""
        try:
            if lesson.item is not None:
                self._answer(lesson, lesson.item)
            else:
                self._operate(lesson.event.kind, lesson.event.body)
        except ValueError:
            self.refused += 1
            self._add_missing(lesson.event.labels or ())

    def _add_missing(self, labels: Iterable[str]) -> None:
        known = set(self.tagger.labels)
        missing = [label for label in labels if label not in known]
        if missing:
            self.tagger.add_labels(missing)

    def _answer(self, lesson: Lesson, item: Item | FeatureItem) -> None:
        """Learn the answer to an item, as what had become of the item before asks for."""
        tagger, before = self.tagger, lesson.before
        labels = list(item.labels or ())
        shown: list[str] | None = lesson.event.body.get("shown")
        unknown = list(lesson.event.body.get("unknown", ()))
        if shown is not None:
            unknown += [name for name in tagger.labels if name not in (*shown, *labels, *unknown)]
        match "open" if before is None else before.state:
            case "answered":
                assert before is not None
                tagger.correct(item, labels, was=before.labels or (), unknown=unknown)
            case "filed" if shown is not None and set(labels) <= set(shown):
                self._add_missing(labels)
                tagger.feedback(item, shown, labels, filed=True)
            case "filed":
                tagger.learn(item, labels, unknown, filed=True)
            case "asked":
                audited = tagger.audit > 0
                self.progress.add(tagger.watch(item, labels, unknown, audited=audited))
            case _:
                self.progress.add(tagger.watch(item, labels, unknown))

    def _operate(self, kind: str, body: Any) -> None:
        """Change labels or settings."""
        tagger = self.tagger
        match kind:
            case "label-added":
                if body["name"] not in tagger.labels:  # as that of a forgotten item may be
                    tagger.add_labels([body["name"]])
                if body.get("min_precision") is not None:
                    tagger.set_min_precision(body["name"], body["min_precision"])
            case "label-renamed":
                tagger.rename_label(body["name"], body["to"])
            case "label-merged":
                before = tagger.labels
                tagger.merge_labels([body["name"]], body["into"])
                self._renumber_figures(before, {body["name"]: body["into"]})
            case "label-forgotten":
                before = tagger.labels
                tagger.forget_label(body["name"])
                self._renumber_figures(before, {body["name"]: None})
            case "label-target":
                tagger.set_min_precision(body["name"], body["min_precision"])
            case "settings":
                changes = body["changes"]
                if "audit" in changes:
                    tagger.audit = changes["audit"]
                if "one_label" in changes:
                    tagger.set_one_label(changes["one_label"])

    def _renumber_figures(self, before: Sequence[str], renamed: dict[str, str | None]) -> None:
        """Let the figures follow labels that have other numbers now."""
        number = {label: i for i, label in enumerate(self.tagger.labels)}
        names = [renamed.get(label, label) for label in before]
        self.progress.relabel([None if name is None else number[name] for name in names])

    def check(self, item: Item | FeatureItem, labels: Sequence[str]) -> None:
        """Raise ValueError if the learner could not learn an answer.

        Parameters
        ----------
        item : Item or FeatureItem
            The item.
        labels : sequence of str
            Its labels.
        """
        learner = self.tagger.learner
        pairs = self.tagger.features.read(item)
        if is_online(learner):
            new = [label for label in labels if label not in learner.labels.number]
            learner.check_example(pairs, new)
            if not 0 < item.weight <= learner.largest_weight:
                raise ValueError(
                    "the weight of an item must be above 0 and at most "
                    f"{learner.largest_weight:g}, got {item.weight!r}"
                )

    def report(self) -> Report:
        """Return the figures so far."""
        with self.lock:
            tagger = self.tagger
            return self.progress.report(
                tagger.labels,
                tagger.certificate_,
                tagger.has_one_label,
                drift=tagger.drift,
                grades=tagger.has_grades,
            )
