"""Facts about the labels of a workspace, and in how many items one is."""

import json
from dataclasses import dataclass
from functools import lru_cache

from tagalong.journal.reader import JournalReader
from tagalong.tagger import Tagger
from tagalong.tagger.targets import Target

__all__ = ["LabelFacts", "LabelUse", "items_with_label", "label_facts", "label_use"]


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """Facts about a label.

    Parameters
    ----------
    name : str
        The label.
    items : int
        Number of learnt items that have it.
    last : int
        The last learnt item that has it, counted from 1 in the order of learning; 0 if none has.
    min_precision : float, "never" or None
        Its own required precision; None if it has that of all labels.
    precision : float or None
        The share of its recent suggestions, of those that were sure at 95 %, that was right; None
        if there was none.
    sure : float
        Number of these suggestions; old ones count less.
    """

    name: str
    items: int
    last: int
    min_precision: Target | None
    precision: float | None
    sure: float


@dataclass(frozen=True, slots=True)
class LabelUse:
    """The items that are answered or filed with a label.

    Parameters
    ----------
    items : int
        Number of these items.
    alone : int
        Number of those that have no other label.
    """

    items: int
    alone: int


def label_facts(tagger: Tagger) -> list[LabelFacts]:
    """Return facts about each label of a model, in order of appearance.

    Parameters
    ----------
    tagger : Tagger
        The model, which does not change meanwhile.
    """
    judged = tagger.label_precision()
    counts, lasts = tagger.history.count.tolist(), tagger.history.last.tolist()
    own = tagger.min_precision
    found = []
    for name, count, last in zip(tagger.labels, counts, lasts, strict=True):
        sure, right = judged[name]
        precision = right / sure if sure > 0 else None
        found.append(LabelFacts(str(name), count, last, own.get(name), precision, sure))
    return found


def items_with_label(reader: JournalReader, name: str) -> int:
    """Return the number of items that are answered or filed with a label at present.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    name : str
        The label.
    """
    return label_use(reader, name).items


def label_use(reader: JournalReader, name: str) -> LabelUse:
    """Return how many items are answered or filed with a label at present.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    name : str
        The label.
    """
    names = reader.label_names()
    labels_of = lru_cache(10_000)(lambda body: json.loads(body)["labels"])  # most are alike
    items = alone = 0
    for seq, body in reader.answers():
        present = names.present(labels_of(body), seq)
        if name in present:
            items += 1
            alone += len(present) == 1
    return LabelUse(items, alone)
