"""Whether a workspace on disk is sound: its chain, its derived tables, and one model by any way.

The derived tables are computed here from the events alone, the slow and obvious way.
"""

import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagalong.journal import Event, Workspace
from tagalong.journal.contents import Content
from tagalong.journal.events import TAKING_KINDS
from tagalong.journal.ledger import Ledger
from tagalong.journal.reader import JournalReader, Record

DATABASE = "journal.sqlite"
STATES = {"answer": "answered", "filed": "filed", "asked": "asked"}


@dataclass(frozen=True)
class Sound:
    """The contents of a sound workspace."""

    events: list[Event]
    hash: str


def check_sound(folder: Path) -> Sound:
    """Raise an error unless everything in a workspace follows from its events.

    Parameters
    ----------
    folder : path
        The workspace, which is opened for writing. Its snapshots are removed.
    """
    with Workspace(folder, create=False, exact=True) as workspace:
        facts = workspace.model()
        assert facts.seq == workspace.tip, f"the model is at event {facts.seq}"
        assert not workspace.problems, workspace.problems
    replayed = check_replay(folder)
    assert facts.hash == replayed.hash, "the model with snapshots differs from a replay"
    return replayed


def check_replay(folder: Path) -> Sound:
    """The same, from the first event on."""
    check_derived_tables(folder)
    shutil.rmtree(folder / "snapshots", ignore_errors=True)
    with Workspace(folder, create=False, exact=True) as workspace:
        return Sound(workspace.events(), workspace.model().hash)


def check_derived_tables(folder: Path) -> None:
    """Raise an error unless the chain is sound and all tables say what follows from the events."""
    with JournalReader(folder / DATABASE) as reader:
        records = list(reader.records())
    gone = taken_back(record.event for record in records)
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        check = connection.execute("PRAGMA integrity_check").fetchall()
        assert check == [("ok",)], check
        for name, expected in (
            ("taken_back", sorted((seq,) for seq in gone)),
            ("items", _items(records, gone)),
            ("label_changes", _label_changes(records, gone)),
        ):
            columns = "seq, id, state, source" if name == "items" else "*"
            order = "1" if name == "taken_back" else "1, 2"
            query = f"SELECT {columns} FROM {name} ORDER BY {order}"
            rows = connection.execute(query).fetchall()
            assert rows == expected, f"{name} has {rows}, but from the events follows {expected}"
        kept = {seq for (seq,) in connection.execute("SELECT seq FROM contents")}
    assert kept == {1, *(seq for seq, *_ in _items(records, gone))}


def taken_back(events: Iterable[Event]) -> set[int]:
    """Return the events that do not count: what a taking event takes, unless it is taken itself."""
    gone: set[int] = set()
    for event in sorted(events, key=lambda event: -event.seq):
        if event.kind in TAKING_KINDS and event.seq not in gone:
            gone |= set(event.body["seqs"])
    return gone


def _items(records: list[Record], gone: set[int]) -> list[tuple[int, str, str, str]]:
    forgotten = {
        seq
        for record in records
        if record.event.kind == "forgotten"
        for seq in record.event.body["seqs"]
    }
    found: dict[int, tuple[str, str, str]] = {}
    for record in records:
        event = record.event
        if event.kind == "item" and event.seq not in forgotten:
            assert record.content is not None, f"the content of event {event.seq} is missing"
            state = "open" if event.labels is None else "answered"
            content = Content.from_bytes(record.content)
            state = "undone" if event.seq in gone else state
            found[event.seq] = (content.item.id, state, content.source)
        elif event.kind in STATES and event.seq not in gone and event.item is not None:
            id, _, source = found[event.item]
            found[event.item] = (id, STATES[event.kind], source)
    return [(seq, *row) for seq, row in sorted(found.items())]


def _label_changes(records: list[Record], gone: set[int]) -> list[tuple[int, str, int]]:
    ledger, found = Ledger(), []
    for record in records:
        if record.event.seq not in gone:
            changes = ledger.follow(record.event)
            found += [(record.event.seq, label, int(new)) for label, new in changes.items()]
    return sorted(found)


def summary(event: Event) -> tuple[Any, ...]:
    """Return what is the same whenever a request is repeated in another copy of a workspace."""
    body = {name: value for name, value in event.body.items() if name != "workspace"}
    return event.seq, event.kind, event.item, event.actor, body
