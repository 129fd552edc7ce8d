"""The labels that are found least often, what is suggested instead, and items to look at."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from tagalong.evaluate import LabelMeasures, Report
from tagalong.evaluate.label_table import weakest_labels
from tagalong.journal import NotFoundError, Workspace
from tagalong.journal.contents import title_of

__all__ = ["ConfusedWith", "Example", "WeakLabel", "weak_labels"]

MOST_LABELS = 5
MOST_PAIRS = 3
MOST_EXAMPLES = 2

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Example:
    """An item to look at.

    Parameters
    ----------
    id : str
        The item.
    title : str
        A short text; "" if there is none.
    """

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class ConfusedWith:
    """A wrong label that was suggested first for items with another one.

    Parameters
    ----------
    label : str
        The label that was suggested.
    items : int
        How often.
    examples : tuple of Example
        Recent items for which it was.
    """

    label: str
    items: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class WeakLabel:
    """A label that is found less often than most others.

    Parameters
    ----------
    label : str
        The label.
    items : int
        Number of answers with this label.
    found : int
        Number of these for which it was suggested first or, with several labels, chosen.
    sure, sure_right : int
        How often it was sure at 95 %, and how often it was right then.
    confused : tuple of ConfusedWith
        The wrong labels that were suggested first for its items, the most frequent first. With
        several labels per item they are counted over the recent answers.
    examples : tuple of Example
        The last items with this label, if there is no example of what was suggested instead.
    """

    label: str
    items: int
    found: int
    sure: int
    sure_right: int
    confused: tuple[ConfusedWith, ...]
    examples: tuple[Example, ...]

    @property
    def has_examples(self) -> bool:
        """Whether there is an item for which another label was suggested."""
        return any(other.examples for other in self.confused)

    @property
    def share(self) -> float:
        """The share of its items for which it was found."""
        return self.found / self.items


def weak_labels(workspace: Workspace, report: Report) -> tuple[WeakLabel, ...]:
    """Return the labels that are found least often, of those with at least ten answers.

    There are none if the items came sorted by label.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    report : Report
        Its figures.
    """
    if report.order == "sorted":
        return ()
    weak = [one for one in weakest_labels(report, MOST_LABELS) if _found(report, one) < 1]
    if not weak:
        return ()
    numbers: dict[Hashable, int] = {label: i for i, label in enumerate(report.labels)}
    wrong = _WrongFirst(workspace, report)
    pairs = {one.label: wrong.pairs(numbers[one.label]) for one in weak}
    confused = {
        label: tuple(
            ConfusedWith(
                str(report.labels[pair[1]]), count, _examples(workspace, wrong.items(pair))
            )
            for pair, count in found.items()
        )
        for label, found in pairs.items()
    }
    bare = [str(label) for label, found in confused.items() if not any(x.examples for x in found)]
    last = workspace.labelled_items(bare, MOST_EXAMPLES)
    return tuple(
        WeakLabel(
            str(one.label),
            one.answered if report.one_label else one.support,
            one.suggested_right if report.one_label else one.hits,
            one.marked,
            one.marked_right,
            confused[one.label],
            tuple(
                Example(item.id, title_of(item.content)) for item in last.get(str(one.label), ())
            ),
        )
        for one in weak
    )


def _found(report: Report, measured: LabelMeasures) -> float:
    share = measured.found_first if report.one_label else measured.recall
    return 1.0 if math.isnan(share) else share


class _WrongFirst:
    """The labels that were wrongly suggested first, and the items for which they were.

    The figures keep the first suggestions of the recent rounds, and the journal has their items
    and labels. If the two do not agree, as when the learner refused an answer, there are no
    examples, and only items with one label are counted.
    """

    def __init__(self, workspace: Workspace, report: Report):
        self._report = report
        self._recent: dict[Pair, list[str]] = {}
        rounds = report.answers.recent_first[::-1].tolist()
        answers = workspace.first_answers(len(rounds))
        if len(answers) != len(rounds):
            return
        numbers: dict[Hashable, int] = {label: i for i, label in enumerate(report.labels)}
        found: dict[Pair, list[str]] = {}
        for (only, first), answer in zip(rounds, answers, strict=True):
            if only >= 0 and report.labels[only] not in answer.labels:
                return
            right = {numbers[label] for label in answer.labels if label in numbers}
            if 0 <= first < len(report.labels) and first not in right:
                for number in right:
                    found.setdefault((number, first), []).append(answer.id)
        self._recent = found

    def pairs(self, number: int) -> dict[Pair, int]:
        """Return a label with each wrong one that was suggested first, and how often it was."""
        if self._report.one_label or not self._recent:
            counts = self._report.answers.confusion_counts
            mine = np.flatnonzero(counts[:, 0] == number)[:MOST_PAIRS]
            return {(label, first): items for label, first, items in counts[mine].tolist()}
        found = {pair: len(ids) for pair, ids in self._recent.items() if pair[0] == number}
        most = sorted(found, key=lambda pair: (-found[pair], pair))
        return {pair: found[pair] for pair in most[:MOST_PAIRS]}

    def items(self, pair: Pair) -> list[str]:
        """Return the ids of the last items for which the second label was wrongly first."""
        return self._recent.get(pair, [])[:MOST_EXAMPLES]


def _examples(workspace: Workspace, ids: Sequence[str]) -> tuple[Example, ...]:
    found = []
    for id in ids:
        try:
            found.append(Example(id, title_of(workspace.item(id).content)))
        except NotFoundError:  # it was forgotten meanwhile
            continue
    return tuple(found)
