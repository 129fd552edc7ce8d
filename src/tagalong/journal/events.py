"""Events: what happened in a workspace, in order. The state is computed from them alone.

| kind | body | meaning |
|---|---|---|
| created | settings, workspace | the first event; its content is the model to start from |
| item | labels, optional | an item arrives; with labels, it is learnt at once |
| answer | labels, shown, unknown | somebody says where an item belongs |
| filed | labels | the item was filed without asking |
| asked | labels | the item was sure, but is left to a person as a spot check |
| label-added | name, min_precision | |
| label-renamed | name, to | |
| label-merged | name, into | |
| label-forgotten | name | |
| label-target | name, min_precision | the label has its own required precision |
| settings | changes | |
| undo | seqs | these events are taken back |
| forgotten | items, seqs, keeps | items are forgotten: content is deleted, these events count no
|  |  | longer; the labels of events in ``keeps`` stay, because other events need them |

An event that was taken back stays in the journal; the fold leaves it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self, TypeAlias

__all__ = [
    "LABEL_KINDS",
    "MODEL_KINDS",
    "TAKING_KINDS",
    "Event",
    "Kind",
    "ListedEvent",
    "time_text",
]

Kind: TypeAlias = Literal[
    "created",
    "item",
    "answer",
    "filed",
    "asked",
    "label-added",
    "label-renamed",
    "label-merged",
    "label-forgotten",
    "label-target",
    "settings",
    "undo",
    "forgotten",
]

LABEL_KINDS = ("label-added", "label-renamed", "label-merged", "label-forgotten", "label-target")
TAKING_KINDS = ("undo", "forgotten")
"""Kinds of events that take others back."""
MODEL_KINDS = ("item", "answer", *LABEL_KINDS, "settings")
"""Kinds of events that can change the model."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Parameters
    ----------
    kind : str
        What happened.
    body : mapping of str to object
        The details, as JSON values. The content of an item is stored apart.
    item : int or None
        The number of the event that added the item, for events about an item.
    batch : str
        Events with the same batch can be undone together; "" for a single event.
    actor : str
        Who caused it, for example the name of a token.
    seq : int
        Its number, from 1 without gaps; 0 before it is stored.
    time : str
        When it was stored, in UTC (RFC 3339). Nothing is computed from it.
    """

    kind: Kind
    body: Mapping[str, Any] = field(default_factory=dict)
    item: int | None = None
    batch: str = ""
    actor: str = ""
    seq: int = 0
    time: str = ""

    @property
    def labels(self) -> list[str] | None:
        """The labels of an item or an answer; None for an item without an answer."""
        return self.body.get("labels")

    @property
    def taken(self) -> list[int]:
        """The numbers of the events that this one takes back."""
        return list(self.body["seqs"]) if self.kind in TAKING_KINDS else []

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values, without empty parts."""
        parts = {"item": self.item, "batch": self.batch, "actor": self.actor}
        return {
            "seq": self.seq,
            "time": self.time,
            "kind": self.kind,
            **{name: value for name, value in parts.items() if value not in (None, "")},
            **self.body,
        }


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event, with what a reader wants to know about it.

    Parameters
    ----------
    event : Event
        The event.
    id : str or None
        The id of its item; None if it has none, or the item was forgotten.
    is_undone : bool
        Whether it does not count: it was undone, or its item was forgotten.
    is_forgotten : bool
        Whether its item was forgotten.
    """

    event: Event
    id: str | None
    is_undone: bool
    is_forgotten: bool

    @classmethod
    def of(cls, event: Event, id: str | None, *, is_undone: bool) -> Self:
        """Return an event with the id that its item has in the list of items.

        Parameters
        ----------
        event : Event
            The event.
        id : str or None
            The id; None if no item is listed.
        is_undone : bool
            Whether the event does not count.
        """
        has_item = event.item is not None or event.kind == "item"
        return cls(event, id if has_item else None, is_undone, has_item and id is None)

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        found = self.event.to_json()
        if self.event.item is not None or self.event.kind == "item":
            found["id"] = self.id
        return {**found, "undone": self.is_undone, "forgotten": self.is_forgotten}


def time_text(time: datetime) -> str:
    """Return a time as events have it: in UTC, so that texts have the order of times.

    Parameters
    ----------
    time : datetime
        The time, with its time zone.

    Examples
    --------
    >>> time_text(datetime(2026, 1, 31, 12, tzinfo=UTC))
    '2026-01-31T12:00:00.000Z'
    """
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
