"""Items by their labels, found with bounded work: the last ones, and the last first answers."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from tagalong.journal.contents import Content
from tagalong.journal.reader import JournalReader

__all__ = ["FirstAnswer", "LabelledItem", "first_answers", "labelled_items"]

MOST_SEARCHED = 20_000
"""Number of answered items, from the newest on, that are searched."""
MOST_BYTES = 100_000
"""Items with larger content are left out."""
_AT_ONCE = 1000
_NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """An answered item.

    Parameters
    ----------
    id : str
        Its id.
    labels : list of str
        Its labels, by their present names.
    content : Content
        The item itself.
    """

    id: str
    labels: list[str]
    content: Content


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The answer to an item that had no labels before.

    Parameters
    ----------
    id : str
        The item.
    labels : list of str
        The labels of this answer, by their present names.
    """

    id: str
    labels: list[str]


def first_answers(reader: JournalReader, limit: int) -> list[FirstAnswer]:
    """Return the last answers to items that had no labels before, the newest first.

    Unless the learner refused one, they are the rounds of the figures.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    limit : int
        Maximum number of answers.
    """
    names = reader.label_names()
    return [
        FirstAnswer(id, names.present(json.loads(body)["labels"], seq))
        for id, seq, body in reader.first_answers(limit)
    ]


def labelled_items(
    reader: JournalReader, labels: Collection[str], each: int
) -> dict[str, list[LabelledItem]]:
    """Return the last items that people have answered with each label, the newest first.

    Only the last 20,000 answered items are searched, and very large ones are left out.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    labels : collection of str
        The labels, by their present names.
    each : int
        Maximum number of items per label.
    """
    names = reader.label_names()
    labels_of = lru_cache(10_000)(lambda body: json.loads(body)["labels"])  # most are alike
    found: dict[str, list[LabelledItem]] = {label: [] for label in labels}
    wanted = set(found)
    before, searched = _NEWEST, 0
    while wanted and searched < MOST_SEARCHED:
        rows = reader.last_answered(before, _AT_ONCE)
        for item, id, seq, body in rows:
            present = names.present(labels_of(body), seq)
            mine = wanted.intersection(present)
            content = _small_content(reader, item) if mine else None
            if content is None:
                continue
            for label in mine:
                found[label].append(LabelledItem(id, present, content))
                if len(found[label]) >= each:
                    wanted.remove(label)
        searched += len(rows)
        if len(rows) < _AT_ONCE:
            break
        before = rows[-1][0]
    return found


def _small_content(reader: JournalReader, item: int) -> Content | None:
    data = reader.content(item)
    return None if data is None or len(data) > MOST_BYTES else Content.from_bytes(data)
