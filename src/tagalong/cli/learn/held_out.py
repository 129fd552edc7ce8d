"""An honest estimate for items that came sorted by label: a second model, tested on other items.

Predictions made while the labels come in runs are too good: the label before is usually right. So
the sources are read once more. A new model with the same settings learns nine tenths of the items
in the same order, and is tested on the others, which it has never seen. The model of the run is not
touched.
"""

import math
import random
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from tagalong.cli.frozen_tagger import FrozenTagger
from tagalong.cli.grades import check_grade
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.output import Output
from tagalong.cli.run_state import Run
from tagalong.cli.sources import is_live_stream
from tagalong.evaluate import Progress, Report
from tagalong.evaluate.text_table import percent
from tagalong.learning.items import Item
from tagalong.tagger import Tagger

__all__ = ["HeldOut", "Sample", "estimate_line", "held_out_estimate"]

SHARE = 10
"""One in so many items is held out."""
MAX_HELD_OUT = 2000
BATCH = 256


@dataclass(frozen=True)
class HeldOut:
    """The measures of a second model on items that it has not learnt.

    Parameters
    ----------
    learnt : int
        Number of items that the second model has learnt.
    report : Report
        Its measures on the held-out items.
    """

    learnt: int
    report: Report

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        found = self.report.to_dict()
        return {
            "learnt": self.learnt,
            "items": self.report.items,
            "accuracy": found["coverage"]["overall"]["accuracy"],
            "overall": found["overall"],
        }

    def note(self) -> dict[str, Any]:
        """Return the values that the model file keeps."""
        found = self.to_dict()
        return {name: found[name] for name in ("learnt", "items", "accuracy")}

    def __str__(self) -> str:
        return estimate_line(self.note())


def estimate_line(note: dict[str, Any]) -> str:
    """Return the estimate as text.

    Parameters
    ----------
    note : dict
        The result of `HeldOut.note`.
    """
    accuracy = math.nan if note["accuracy"] is None else note["accuracy"]
    return (
        "Held-out estimate: a model that learnt nine tenths of these items in this order "
        f"({note['learnt']:,}) is right for {percent(accuracy)} of the rest ({note['items']:,})."
    )


def held_out_estimate(
    tagger: Tagger, run: Run, report: object, interrupts: Interrupts, out: Output
) -> HeldOut | None:
    """Return the estimate; None unless the items came sorted and can be read again.

    Parameters
    ----------
    tagger : Tagger
        The model of the run, whose settings the second model has.
    run : Run
        The run.
    report : Report or QueryReport
        The measures of the run.
    interrupts : Interrupts
        Records signals; after one there is no estimate.
    out : Output
        Writes a message about the work.
    """
    if interrupts.signal or not isinstance(report, Report) or report.order != "sorted":
        return None
    if any(source == "-" or is_live_stream(source) for source in run.reading.sources):
        return None
    out.info("the items came sorted by label: reading them again for a held-out estimate")
    second = _SecondModel(tagger)
    try:
        with run.reading.open() as stream:
            items = run.reading.limited(stream)
            while (item := interrupts.next(items)) is not None:
                second.add(item)
    except KeyboardInterrupt:
        return None
    return second.measured(report)


class Sample:
    """Items held out evenly over a run: one in ten, and at most 2,000.

    Attributes
    ----------
    items : list of Item
        The items held out so far.
    """

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._random = random.Random(0)
        self._spacing = SHARE
        self._until_next = self._random.randrange(SHARE)

    def takes(self, item: Item) -> bool:
        """Whether the next item of the run is held out.

        Parameters
        ----------
        item : Item
            The next item.
        """
        if self._until_next:
            self._until_next -= 1
            return False
        self.items.append(item)
        if len(self.items) > MAX_HELD_OUT:
            # Items that are dropped have not been learnt either, so the others stay a fair sample.
            self.items = self.items[::2]
            self._spacing *= 2
        self._until_next = self._spacing // 2 + self._random.randrange(self._spacing)
        return True


class _SecondModel:
    """Learns the items that are not held out."""

    def __init__(self, tagger: Tagger):
        self._tagger = Tagger(clone(tagger.learner), clone(tagger.features), names=False)
        self._sample = Sample()
        self._batch: list[Item] = []
        self._learnt = 0

    def add(self, item: Item) -> None:
        """Hold an item out, or learn it."""
        if item.labels is None:
            return
        if self._tagger.has_grades:
            try:
                check_grade(item.labels, self._tagger.labels)
            except ValueError:  # the run has refused it too
                return
        if self._sample.takes(item):
            return
        self._batch.append(item)
        if len(self._batch) >= BATCH:
            self._learn()

    def _learn(self) -> None:
        items, self._batch = self._batch, []
        if not items:
            return
        if self._tagger.watch_together(items) is not None:
            self._learnt += len(items)
            return
        for item in items:
            try:
                self._tagger.learn(item)
                self._learnt += 1
            except ValueError:  # the run has refused it too
                continue

    def measured(self, report: Report) -> HeldOut | None:
        """Return the measures on the held-out items; None if there are none."""
        self._learn()
        if not self._sample.items or not self._learnt:
            return None
        frozen, progress = FrozenTagger(self._tagger), Progress(report.k, report.window)
        for found in frozen.predict(self._sample.items):
            progress.add(found)
        grades = self._tagger.has_grades
        return HeldOut(self._learnt, progress.report(frozen.labels, grades=grades))
