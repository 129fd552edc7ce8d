"""The tables that follow from the events, computed again and compared with those on the disk."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from tagalong.journal.contents import Content
from tagalong.journal.events import Event
from tagalong.journal.history import taken_back_by
from tagalong.journal.ledger import Ledger
from tagalong.journal.reader import JournalReader

__all__ = ["differences"]

_STATES = {"answer": "answered", "filed": "filed", "asked": "asked"}


def differences(
    path: Path, connection: sqlite3.Connection, takings: Sequence[Event]
) -> Iterator[str]:
    """Return a text for each difference between the stored tables and those of the events.

    Parameters
    ----------
    path : path
        The database, for messages.
    connection : Connection
        A connection to it, whose events are sound. All that it reads must be one state of it.
    takings : sequence of Event
        The events that take others back, in order.
    """
    fold = _Fold(path.name, connection, set(taken_back_by(takings)))
    yield from fold.compare_taken_back()
    yield from fold.follow(JournalReader(path, connection))
    yield from fold.compare_label_changes()
    yield from fold.compare_items()


class _Fold:
    """Follows the events, without their model, and compares the tables."""

    def __init__(self, name: str, connection: sqlite3.Connection, gone: set[int]):
        self._name = name
        self._connection = connection
        self._gone = gone
        self._states: dict[int, str] = {}
        self._changes: dict[int, dict[str, bool]] = {}

    def compare_taken_back(self) -> Iterator[str]:
        stored = {seq for (seq,) in self._connection.execute("SELECT seq FROM taken_back")}
        for seq in sorted(stored - self._gone):
            yield f"{self._name}: event {seq:,} is listed as taken back, but no event does that"
        for seq in sorted(self._gone - stored):
            yield f"{self._name}: event {seq:,} was taken back, but is not listed as such"

    def follow(self, reader: JournalReader) -> Iterator[str]:
        """Fold the events; return those that count but are impossible."""
        ledger, kept = Ledger(), reader.kept_events()
        for event in reader.events():
            if event.kind == "item":
                is_open = event.labels is None
                self._states[event.seq] = "open" if is_open else "answered"
                if event.seq in self._gone:
                    self._states[event.seq] = "undone"
            if event.seq in kept and (changes := ledger.follow(event)):
                self._changes[event.seq] = changes
            if event.seq in self._gone:
                continue
            problem = ledger.problem(event, lambda item: item not in self._gone)
            if problem is not None:
                yield f"{self._name}: event {event.seq:,} counts, but is impossible: {problem}"
                continue
            if changes := ledger.follow(event):
                self._changes[event.seq] = changes
            if event.kind in _STATES and event.item is not None:
                self._states[event.item] = _STATES[event.kind]

    def compare_label_changes(self) -> Iterator[str]:
        stored: dict[int, dict[str, bool]] = {}
        rows = self._connection.execute("SELECT seq, label, present FROM label_changes")
        for seq, label, present in rows:
            stored.setdefault(seq, {})[label] = bool(present)
        for seq in sorted(stored.keys() | self._changes.keys()):
            found, expected = stored.get(seq, {}), self._changes.get(seq, {})
            if found != expected:
                yield (
                    f"{self._name}: event {seq:,} changes labels by {_shown(expected)}, but by "
                    f"{_shown(found)} in the list"
                )

    def compare_items(self) -> Iterator[str]:
        rows = self._connection.execute(
            "SELECT i.seq, i.id, i.state, c.data FROM items i LEFT JOIN contents c USING (seq) "
            "ORDER BY i.seq"
        )
        for seq, id, state, data in rows:
            expected = self._states.pop(seq, None)
            if expected is None:
                yield f"{self._name}: item {id!r} is listed, but event {seq:,} adds no item"
                continue
            if state != expected:
                yield f"{self._name}: item {id!r} of event {seq:,} is {expected}, not {state}"
            if data is None:
                yield f"{self._name}: item {id!r} of event {seq:,} is listed, but has no content"
            elif (right := Content.from_bytes(data).item.id) != id:
                yield f"{self._name}: the item of event {seq:,} has the id {right!r}, not {id!r}"
        for seq in self._states:
            query = "SELECT 1 FROM contents WHERE seq = ?"
            if self._connection.execute(query, (seq,)).fetchone():  # otherwise it is forgotten
                yield f"{self._name}: the item of event {seq:,} is not listed"


def _shown(changes: dict[str, bool]) -> str:
    found = [f"{'+' if is_present else '-'}{label!r}" for label, is_present in changes.items()]
    return ", ".join(sorted(found)) or "nothing"
