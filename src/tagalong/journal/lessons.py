"""Lessons: events with everything that the model needs to learn from them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tagalong.journal.contents import Content
from tagalong.journal.events import MODEL_KINDS, Event
from tagalong.journal.reader import JournalReader, Record, Status
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item

__all__ = ["Lesson", "lesson_of", "lessons"]


@dataclass(frozen=True, slots=True)
class Lesson:
    """An event that can change the model.

    Parameters
    ----------
    event : Event
        The event.
    item : Item or FeatureItem or None
        The item, with the labels of the answer, for an item or an answer.
    before : Status or None
        For an answer, what had become of the item before, with labels by their names at that time.
    """

    event: Event
    item: Item | FeatureItem | None = None
    before: Status | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is a first answer without further facts, which can be learnt in a batch."""
        body: Any = self.event.body
        return (
            self.item is not None
            and (self.before is None or self.before.state == "open")
            and not ("shown" in body or "unknown" in body)
        )


def lessons(reader: JournalReader, after: int, upto: int) -> Iterator[Lesson]:
    """Return the lessons of the events that count, in order; DamagedError if one is not sound.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    after, upto : int
        The event before the first one, and the last one.
    """
    kept = reader.kept_events()
    for record in reader.records(after, upto):
        if record.event.seq in kept:
            for label in record.event.labels or ():
                yield Lesson(replace(record.event, kind="label-added", body={"name": label}))
        elif not record.is_taken_back:
            found = lesson_of(reader, record)
            if found is not None:
                yield found


def lesson_of(reader: JournalReader, record: Record) -> Lesson | None:
    """Return the lesson of an event that counts; None if it cannot change the model.

    Parameters
    ----------
    reader : JournalReader
        The journal.
    record : Record
        The event and its content.
    """
    event = record.event
    if event.kind not in MODEL_KINDS or (event.kind == "item" and event.labels is None):
        return None
    if event.kind not in ("item", "answer"):
        return Lesson(event)
    assert record.content is not None
    item = replace(Content.from_bytes(record.content).item, labels=tuple(event.labels or ()))
    if event.item is None:
        return Lesson(event, item)
    before = record.before or reader.status(event.item, before=event.seq)
    if before.labels:
        names = reader.current_names(before.labels, before.seq, event.seq)
        before = replace(before, labels=names)
    return Lesson(event, item, before)
