"""Simulations of how people answer: late, easy items first, only when asked, or out of order.

Each simulation gives what would have been done with every item when it arrived: whether it was
marked sure, and whether that was right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from benchmarks.filing_models import Judgement, Model
from benchmarks.filing_streams import FilingStream
from tagalong.readers import Item
from tagalong.tagger.audit import Audit

MakeModel = Callable[[FilingStream], Model]

BATCH = 100
"""Number of items that wait for an answer together, for people who choose what to answer."""

AUDIT = 0.02
"""Share of the sure items that are asked, the default of a tagger."""


@dataclass
class Arrivals:
    """Per item, the assured precision of the first place on arrival, and whether it was right."""

    assured: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def add(self, found: Judgement, labels: Sequence[str]) -> None:
        self.assured.append(found.first_assured)
        self.right.append(bool(found.labels) and found.labels[0] in labels)

    def sure(self, target: float, begin: int = 0, end: int | None = None) -> tuple[int, int, int]:
        """Of the items from ``begin`` on: their number, those sure, and those sure and right."""
        marked = np.array(self.assured[begin:end]) >= target
        right = np.array(self.right[begin:end], dtype=bool)
        return len(marked), int(marked.sum()), int((marked & right).sum())


def delayed(stream: FilingStream, make_model: MakeModel, delay: int) -> Arrivals:
    """Every answer comes ``delay`` items after its item."""
    model, found = make_model(stream), Arrivals()
    for number in range(len(stream)):
        found.add(model.judge(number), stream.labels[number])
        if number >= delay:
            model.learn(number - delay)
    return found


def in_chosen_order(
    stream: FilingStream,
    make_model: MakeModel,
    first: Literal["easy", "unsure"],
    answered: float = 1.0,
) -> Arrivals:
    """Items wait in batches, and people answer the easy or the unsure ones first.

    Parameters
    ----------
    stream : the stream.
    make_model : makes a model.
    first : which items are answered first.
    answered : share of each batch that is answered at all.
    """
    model, found = make_model(stream), Arrivals()
    for begin in range(0, len(stream), BATCH):
        numbers = range(begin, min(begin + BATCH, len(stream)))
        judged = [model.judge(number) for number in numbers]
        for number, one in zip(numbers, judged, strict=True):
            found.add(one, stream.labels[number])
        chances = np.array([one.first_probability for one in judged])
        order = np.argsort(-chances if first == "easy" else chances, kind="stable")
        for place in order[: max(1, round(answered * len(order)))].tolist():
            model.learn(numbers[place])
    return found


def filed(
    stream: FilingStream, make_model: MakeModel, target: float, seed: int = 0
) -> tuple[Arrivals, int]:
    """Sure items are filed and never answered, except for those that an audit asks.

    Returns the arrivals and the number of audited items.
    """
    model, found, audit = make_model(stream), Arrivals(), Audit(AUDIT, seed)
    for number in range(len(stream)):
        one = model.judge(number)
        found.add(one, stream.labels[number])
        if one.first_assured < target:
            model.learn(number)
        elif audit.asks(Item(str(number))):
            model.learn(number, stands_for=audit.items_per_answer)
            audit.count_answer()
    return found, audit.answers


def swapped(stream: FilingStream, make_model: MakeModel, when: int) -> Arrivals:
    """From item ``when`` on, every label means what the next label meant before."""
    names = sorted({label for labels in stream.labels for label in labels})
    following = dict(zip(names, names[1:] + names[:1], strict=True))
    model, found = make_model(stream), Arrivals()
    for number in range(len(stream)):
        labels = list(stream.labels[number])
        if number >= when:
            labels = [following[label] for label in labels]
        found.add(model.judge(number), labels)
        model.learn(number, labels)
    return found


@dataclass(frozen=True)
class SortedRun:
    """Marks while sorted items were learnt, just after, and in a random continuation.

    Parameters
    ----------
    during : arrivals while the items came sorted by label.
    after : items in random order that were judged after that, and not learnt.
    continued : arrivals of the random continuation.
    """

    during: Arrivals
    after: Arrivals
    continued: Arrivals


def sorted_then_random(
    stream: FilingStream, make_model: MakeModel, sorted_items: int, judged: int = 500
) -> SortedRun:
    """The first items come sorted by label, the others in their own order."""
    head = np.arange(sorted_items)
    by_label = np.argsort([stream.labels[i][:1] for i in head], axis=0, kind="stable")
    order: npt.NDArray[np.int64] = np.concatenate(
        [by_label.ravel(), np.arange(sorted_items, len(stream))]
    )
    mixed = stream.take(order)
    model = make_model(mixed)
    during, after, continued = Arrivals(), Arrivals(), Arrivals()
    for number in range(sorted_items):
        during.add(model.judge(number), mixed.labels[number])
        model.learn(number)
    for number in range(sorted_items, min(sorted_items + judged, len(mixed))):
        after.add(model.judge(number), mixed.labels[number])
    for number in range(sorted_items, len(mixed)):
        continued.add(model.judge(number), mixed.labels[number])
        model.learn(number)
    return SortedRun(during, after, continued)
