"""The tables that follow from the events, computed again and compared with those on the disk."""

from collections.abc import Iterator, Sequence

from tagalong.journal.connection import Connection, Database
from tagalong.journal.contents import Content, listed_source
from tagalong.journal.events import Event
from tagalong.journal.history import taken_back_by
from tagalong.journal.ledger import Ledger
from tagalong.journal.reader import ALL, JournalReader

__all__ = ["differences"]

_STATES = {"answer": "answered", "filed": "filed", "asked": "asked"}


def differences(
    database: Database, connection: Connection, takings: Sequence[Event]
) -> Iterator[str]:
    """Return a text for each difference between the stored tables and those of the events.

    Parameters
    ----------
    database : Database
        The journal.
    connection : Connection
        A connection to it, whose events are sound. All that it reads must be one state of it.
    takings : sequence of Event
        The events that take others back, in order.
    """
    fold = _Fold(database, connection, set(taken_back_by(takings)))
    yield from fold.compare_taken_back()
    yield from fold.follow(JournalReader(database, connection))
    yield from fold.compare_label_changes()
    yield from fold.compare_items()


class _Fold:
    """Follows the events, without their model, and compares the tables."""

    def __init__(self, database: Database, connection: Connection, gone: set[int]):
        self._database = database
        self._name = database.short_name
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
        rows = self._database.rows(
            self._connection,
            "SELECT i.seq, i.id, i.state, i.source, c.data FROM items i "
            "LEFT JOIN contents c USING (seq) WHERE i.seq > ? AND i.seq <= ? ORDER BY i.seq",
            0,
            ALL,
        )
        for seq, id, state, source, data in rows:
            expected = self._states.pop(seq, None)
            if expected is None:
                yield f"{self._name}: item {id!r} is listed, but event {seq:,} adds no item"
                continue
            if state != expected:
                yield f"{self._name}: item {id!r} of event {seq:,} is {expected}, not {state}"
            if data is None:
                yield f"{self._name}: item {id!r} of event {seq:,} is listed, but has no content"
                continue
            content = Content.from_bytes(data)
            if content.item.id != id:
                yield (
                    f"{self._name}: the item of event {seq:,} has the id {content.item.id!r}, "
                    f"not {id!r}"
                )
            if (right := listed_source(content.source)) != source:
                yield (
                    f"{self._name}: item {id!r} of event {seq:,} has the source {right!r}, "
                    f"not {source!r}"
                )
        for seq in self._states:
            query = "SELECT 1 FROM contents WHERE seq = ?"
            if self._connection.execute(query, (seq,)).fetchone():  # otherwise it is forgotten
                yield f"{self._name}: the item of event {seq:,} is not listed"


def _shown(changes: dict[str, bool]) -> str:
    found = [f"{'+' if is_present else '-'}{label!r}" for label, is_present in changes.items()]
    return ", ".join(sorted(found)) or "nothing"
