"""Lists for people: the events of a workspace with the ids of their items, and its size.

No model is loaded, so that it is quick however large the workspace is.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.database import connect, database_errors
from tagalong.journal.errors import NotFoundError, RefusedError
from tagalong.journal.events import Event, Kind
from tagalong.journal.reader import JournalReader, Snapshot
from tagalong.journal.settings import Settings
from tagalong.journal.view import journal_path, snapshots_of

__all__ = ["KINDS", "ListedEvent", "Listing", "Summary", "disk_bytes", "list_events"]

KINDS: tuple[str, ...] = get_args(Kind)
"""The kinds of events."""


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

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        found = self.event.to_json()
        if self.event.item is not None or self.event.kind == "item":
            found["id"] = self.id
        return {**found, "undone": self.is_undone, "forgotten": self.is_forgotten}


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers about a workspace.

    Parameters
    ----------
    events : int
        Number of events.
    items : dict of str to int
        Number of items in each state.
    labels : int
        Number of labels.
    settings : Settings
        The settings.
    snapshots : list of Snapshot
        The snapshots in the list.
    """

    events: int
    items: dict[str, int]
    labels: int
    settings: Settings
    snapshots: list[Snapshot]


@dataclass(frozen=True, slots=True)
class Listing:
    """Events of a workspace, and numbers about all of it.

    Parameters
    ----------
    summary : Summary
        The numbers.
    events : list of ListedEvent
        The events.
    """

    summary: Summary
    events: list[ListedEvent]


def list_events(
    folder: str | os.PathLike[str],
    *,
    last: int | None = None,
    after: int = 0,
    item: str | None = None,
    kind: str | None = None,
) -> Listing:
    """Return events of a workspace, also while another process writes it.

    Parameters
    ----------
    folder : str or path
        The workspace; NotFoundError if there is none.
    last : int, optional
        Only so many of the last ones.
    after : int
        The event before the first one.
    item : str, optional
        Only events about items with this id, including those that were undone, and the events that
        undid them. NotFoundError if there is no such item.
    kind : str, optional
        Only events of this kind.
    """
    if kind is not None and kind not in KINDS:
        raise RefusedError(f"there are no events of kind {kind!r}; the kinds are {list(KINDS)}")
    path = journal_path(folder)
    if not path.exists():
        raise NotFoundError(f"{unicode_path(folder)}: there is no workspace here")
    with closing(connect(path, read_only=True)) as connection, database_errors(path):
        reader = JournalReader(path, connection)
        with reader.view():
            chosen = None if item is None else _about(reader, item)
            seqs = _seqs(connection, last, after, chosen, kind)
            return Listing(_summary(reader), list(_listed(reader, connection, seqs)))


def _about(reader: JournalReader, id: str) -> list[int]:
    """Return the events about the items with an id, and those that took them back."""
    present = reader.find_item(id)
    items = [*reader.undone_items(id), *([] if present is None else [present])]
    if not items:
        raise NotFoundError(f"there is no item {id!r}")
    about = {seq for item in items for seq in reader.events_of_item(item)}
    takings = [each for each in reader.takings() if about & set(each.taken)]
    return sorted(about | {each.seq for each in takings})


def _seqs(
    connection: sqlite3.Connection,
    last: int | None,
    after: int,
    chosen: Sequence[int] | None,
    kind: str | None,
) -> list[int]:
    query, values = "SELECT seq FROM events WHERE seq > ?", [after]
    if kind is not None:
        query, values = f"{query} AND kind = ?", [*values, kind]  # type: ignore[list-item]
    if chosen is not None:
        query = f"{query} AND seq IN ({', '.join(map(str, chosen))})"
    limit = -1 if last is None else last
    rows = connection.execute(f"{query} ORDER BY seq DESC LIMIT ?", (*values, limit)).fetchall()
    return [seq for (seq,) in reversed(rows)]


def _listed(
    reader: JournalReader, connection: sqlite3.Connection, seqs: Sequence[int]
) -> Iterator[ListedEvent]:
    gone = reader.taken_back()
    for seq in seqs:
        event = reader.event(seq)
        item = event.seq if event.kind == "item" else event.item
        id = None
        if item is not None:
            row = connection.execute("SELECT id FROM items WHERE seq = ?", (item,)).fetchone()
            id = None if row is None else row[0]
        yield ListedEvent(event, id, seq in gone, item is not None and id is None)


def _summary(reader: JournalReader) -> Summary:
    ledger = reader.ledger()
    return Summary(
        reader.tip,
        reader.item_counts(),
        len(ledger.labels),
        ledger.settings,
        reader.snapshots(),
    )


def disk_bytes(folder: str | os.PathLike[str]) -> dict[str, int]:
    """Return how many bytes the journal and the snapshots of a workspace take on the disk.

    Parameters
    ----------
    folder : str or path
        The workspace.
    """
    path = journal_path(folder)
    journal = sum(_size(path.with_name(f"{path.name}{end}")) for end in ("", "-wal", "-shm"))
    snapshots = snapshots_of(folder).folder
    files = snapshots.iterdir() if snapshots.is_dir() else ()
    return {"journal": journal, "snapshots": sum(_size(each) for each in files)}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
