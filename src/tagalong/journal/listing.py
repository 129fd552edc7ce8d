"""Lists for people: the events of a workspace with the ids of their items, and its size.

No model is loaded, so that it is quick however large the workspace is.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import get_args

from tagalong.journal.connection import Connection
from tagalong.journal.errors import NotFoundError, RefusedError
from tagalong.journal.events import Kind, ListedEvent
from tagalong.journal.history_rows import events_about
from tagalong.journal.reader import ALL, JournalReader, Snapshot
from tagalong.journal.settings import Settings
from tagalong.journal.storage import Place, existing_storage, storage_of

__all__ = ["KINDS", "ListedEvent", "Listing", "Summary", "disk_bytes", "list_events"]

KINDS: tuple[str, ...] = get_args(Kind)
"""The kinds of events."""


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
    folder: Place,
    *,
    last: int | None = None,
    after: int = 0,
    item: str | None = None,
    kind: str | None = None,
) -> Listing:
    """Return events of a workspace, also while another process writes it.

    Parameters
    ----------
    folder : str, path or Storage
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
    database = existing_storage(folder).database
    with closing(database.connect(read_only=True)) as connection, database.errors():
        reader = JournalReader(database, connection)
        with reader.view():
            chosen = None if item is None else _about(reader, item)
            seqs = _seqs(connection, last, after, chosen, kind)
            return Listing(_summary(reader), list(_listed(reader, connection, seqs)))


def _about(reader: JournalReader, id: str) -> list[int]:
    """Return the events about the items with an id, and those that took them back."""
    found = events_about(reader, id)
    if not found:
        raise NotFoundError(f"there is no item {id!r}")
    return found


def _seqs(
    connection: Connection,
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
    limit = ALL if last is None else last
    rows = connection.execute(f"{query} ORDER BY seq DESC LIMIT ?", (*values, limit)).fetchall()
    return [seq for (seq,) in reversed(rows)]


def _listed(
    reader: JournalReader, connection: Connection, seqs: Sequence[int]
) -> Iterator[ListedEvent]:
    gone = reader.taken_back()
    for seq in seqs:
        event = reader.event(seq)
        query = "SELECT id FROM items WHERE seq = ?"
        row = connection.execute(query, (event.item or seq,)).fetchone()
        yield ListedEvent.of(event, None if row is None else row[0], is_undone=seq in gone)


def _summary(reader: JournalReader) -> Summary:
    ledger = reader.ledger()
    return Summary(
        reader.tip,
        reader.item_counts(),
        len(ledger.labels),
        ledger.settings,
        reader.snapshots(),
    )


def disk_bytes(folder: Place) -> dict[str, int]:
    """Return how many bytes the journal and the snapshots of a workspace take on the disk.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace.
    """
    return storage_of(folder).sizes()
