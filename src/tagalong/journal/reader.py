"""Reading a journal: events, contents, and the states of items."""

import hashlib
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tagalong.journal.connection import Connection, Database
from tagalong.journal.contents import Content, StoredContent
from tagalong.journal.database import database_of
from tagalong.journal.errors import DamagedError, NotFoundError
from tagalong.journal.events import LABEL_KINDS, TAKING_KINDS, Event
from tagalong.journal.item_queries import ItemQueries, ItemState
from tagalong.journal.ledger import Ledger

__all__ = ["ItemState", "JournalReader", "Record", "Snapshot", "Status", "next_link"]

CHAIN_BYTES = 16
ALL = 2**62
FIRST_LINK = bytes(CHAIN_BYTES)
# The planner uses the index of the rare kinds only if the query repeats its condition.
_RARE = "kind NOT IN ('item', 'answer') AND kind IN"
_EVENT = "e.seq, e.time, e.kind, e.item, e.batch, e.actor, e.body"
# With these columns an event can be checked without the others.
_LINKS = "e.content_digest, e.chain, (SELECT chain FROM events b WHERE b.seq = e.seq - 1)"
_CHECKED = f"{_EVENT}, {_LINKS}"
_COLUMNS, _DIGEST = 10, 7
# An event, its content, whether it counts; if it is about an item, the event that added this, and
# whether there are others in between.
_RECORD = (
    f"SELECT {_CHECKED}, c.salt, c.data, t.seq, EXISTS (SELECT 1 FROM events o "
    f"WHERE o.item = e.item AND o.seq < e.seq), {_CHECKED.replace('e.', 'i.')} "
    "FROM events e LEFT JOIN events i ON i.seq = e.item "
    "LEFT JOIN contents c ON c.seq = COALESCE(e.item, e.seq) "
    "LEFT JOIN taken_back t ON t.seq = e.seq WHERE e.seq > ? AND e.seq <= ? "
    "ORDER BY e.seq"
)


@dataclass(frozen=True, slots=True)
class Status:
    """The fate of an item so far.

    Parameters
    ----------
    state : str
        "open"; "asked": left to a person as a spot check; "filed" without asking; "answered".
    labels : list of str or None
        Its labels, by their names at the time of the event; None for an open item.
    seq : int
        The event that decided it.
    actor : str
        Who caused that event.
    """

    state: ItemState
    labels: list[str] | None
    seq: int
    actor: str = ""

    @classmethod
    def of_new(cls, added: Event) -> "Status":
        """Return the status of an item about which there is no other event.

        Parameters
        ----------
        added : Event
            The event that added it.
        """
        is_open = added.labels is None
        return cls("open" if is_open else "answered", added.labels, added.seq, added.actor)


@dataclass(frozen=True, slots=True)
class Record:
    """An event with the content that it needs.

    Parameters
    ----------
    event : Event
        The event.
    content : bytes or None
        The content of its item, or of the event itself; None if there is none, or no longer.
    is_taken_back : bool
        Whether the event was undone, or belongs to a forgotten item.
    before : Status or None
        For an answer that is the first event about its item, what the item was before. For other
        events `JournalReader.status` says that.
    """

    event: Event
    content: bytes | None
    is_taken_back: bool
    before: Status | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A row of the list of snapshots.

    Parameters
    ----------
    name : str
        The name of its file.
    seq : int
        Its last event.
    link : bytes
        The link of this event in the chain of digests.
    taken_back : bytes
        Digest of the events up to then that did not count.
    build : str
        The build that computed it.
    size : int
        Size of the file in bytes.
    """

    name: str
    seq: int
    link: bytes
    taken_back: bytes
    build: str
    size: int

    @property
    def is_sound(self) -> bool:
        """Whether everything has its type, which SQLite does not check while it reads."""
        return (
            isinstance(self.name, str)
            and isinstance(self.seq, int)
            and isinstance(self.link, bytes)
            and isinstance(self.taken_back, bytes)
            and isinstance(self.build, str)
            and isinstance(self.size, int)
        )


def next_link(before: bytes, row: Collection[Any], digest: bytes | None) -> bytes:
    """Return the link of an event in the chain of digests that runs through all events.

    Parameters
    ----------
    before : bytes
        The link of the event before.
    row : collection
        The columns of the event, from ``seq`` to ``body``.
    digest : bytes or None
        The digest of its content.
    """
    parts = [before]
    for part in row:
        data = b"" if part is None else str(part).encode("utf-8", "surrogatepass")
        parts += (b"%d:" % len(data), data)
    parts.append(digest or b"")
    return hashlib.blake2b(b"".join(parts), digest_size=CHAIN_BYTES).digest()


class JournalReader(ItemQueries):
    """Reads a journal, also while another process writes it.

    Parameters
    ----------
    database : path or Database
        The file of SQLite, or another database.
    connection : Connection, optional
        An open connection; by default a new one that only reads.
    """

    def __init__(self, database: Path | Database, connection: Connection | None = None):
        self.database = database_of(database)
        if connection is None:
            connection = self.database.connect(read_only=True)
        self._connection = connection

    def another(self) -> "JournalReader":
        """Return a reader of the same journal with a connection of its own."""
        return JournalReader(self.database)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def view(self) -> Iterator[None]:
        """Let all reading in the block see the same state."""
        with self.database.errors():
            self.database.begin_view(self._connection)
            self._connection.execute("SELECT 1 FROM events LIMIT 1").fetchone()
        try:
            yield
        finally:
            with self.database.errors():
                self._connection.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self.database.errors():
            return self._connection.execute(query, values).fetchall()

    def _row(self, query: str, *values: Any) -> Any:
        with self.database.errors():
            return self._connection.execute(query, values).fetchone()

    def _value(self, query: str, *values: Any) -> Any:
        """Return the first column of the first row; None if there is none."""
        row = self._row(query, *values)
        return None if row is None else row[0]

    @property
    def tip(self) -> int:
        """The number of the last event; 0 if there is none."""
        return int(self._value("SELECT COALESCE(MAX(seq), 0) FROM events"))

    @property
    def last_listed(self) -> int:
        """The number of the last event that any other table knows."""
        tables = ("contents", "items", "label_changes", "snapshots", "taken_back")
        parts = " UNION ALL ".join(f"SELECT MAX(seq) AS seq FROM {table}" for table in tables)
        return int(self._value(f"SELECT COALESCE(MAX(seq), 0) FROM ({parts}) AS listed"))

    @property
    def revision(self) -> int:
        """The number of the last event that took others back: it names the present history."""
        marks = ", ".join(f"'{kind}'" for kind in TAKING_KINDS)
        query = f"SELECT COALESCE(MAX(seq), 0) FROM events WHERE {_RARE} ({marks})"
        return int(self._value(query))

    def link(self, seq: int) -> bytes | None:
        """Return the link of an event in the chain of digests; None if there is no such event."""
        if seq == 0:
            return FIRST_LINK
        link: bytes | None = self._value("SELECT chain FROM events WHERE seq = ?", seq)
        return link

    def event(self, seq: int) -> Event:
        """Return one event; NotFoundError if there is none."""
        row = self._row(f"SELECT {_CHECKED} FROM events e WHERE seq = ?", seq)
        if row is None:
            raise NotFoundError(f"there is no event {seq}")
        return self._checked_event(row)

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Event]:
        """Return events in order, whether or not they were taken back.

        Parameters
        ----------
        after : int
            The event before the first one.
        upto : int, optional
            The last one.
        """
        for row in self._iterate(
            f"SELECT {_CHECKED} FROM events e WHERE seq > ? AND seq <= ? ORDER BY seq",
            after,
            _last(upto),
        ):
            yield self._checked_event(row)

    def records(self, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """Return events with contents, in order; DamagedError at the first that is not sound.

        Parameters
        ----------
        after : int
            The event before the first one.
        upto : int, optional
            The last one.
        """
        expected = after
        for row in self._iterate(_RECORD, after, _last(upto)):
            expected += 1
            if row[0] != expected:
                raise self.damage(f"event {expected:,} is missing")
            event = self._checked_event(row[:_COLUMNS], alone=False)
            salt, data, taken, has_others, *added = row[_COLUMNS:]
            digest, of_item = row[_DIGEST], added[_DIGEST]
            self._check_content(event, of_item or digest, salt, data, taken is not None)
            before = None
            if event.kind == "answer" and taken is None and not has_others:
                before = Status.of_new(self._checked_event(added))
            yield Record(event, data, taken is not None, before)

    def _check_content(
        self, event: Event, digest: bytes | None, salt: bytes, data: bytes | None, is_taken: bool
    ) -> None:
        """Raise DamagedError unless an event has the content of its item, or its own."""
        seq = event.item or event.seq
        if digest is None:
            if event.item is not None and not is_taken:
                raise self.damage(f"event {seq:,} is not what was written")
        elif data is not None:
            if StoredContent(data, salt).digest != digest:
                raise self.damage(f"the content of event {seq:,} is not what was written")
        elif not is_taken:
            raise self.damage(f"the content of event {seq:,} is missing")

    def _iterate(self, query: str, after: int, upto: int) -> Iterator[Any]:
        with self.database.errors():
            yield from self.database.rows(self._connection, query, after, upto)

    def _checked_event(self, row: Collection[Any], *, alone: bool = True) -> Event:
        """Return an event from its columns and links; DamagedError if they do not fit.

        If the event before is missing, nothing can be said about one that is read ``alone``.
        """
        *columns, digest, chain, before = row
        if before is None and columns[0] == 1:
            before = FIRST_LINK
        is_sound = alone if before is None else next_link(before, columns, digest) == chain
        if not is_sound:
            raise self.damage(f"event {columns[0]:,} is not what was written")
        return self._event(columns)

    def _event(self, row: Collection[Any]) -> Event:
        seq, time, kind, item, batch, actor, body = row
        try:
            return Event(kind, json.loads(body), item, batch or "", actor, seq, time)
        except ValueError:
            raise self.damage(f"event {seq:,} is not what was written") from None

    def damage(self, problem: str) -> DamagedError:
        """Return an error that names the database and what is wrong with it."""
        return DamagedError(
            f"{self.database.name}: damaged: {problem}; 'tagalong journal restore' brings a "
            "backup back"
        )

    def check_indexes(self) -> None:
        """Raise DamagedError if events would not be found, although they are there."""
        with self.database.errors():
            problem = self.database.unlisted_event(self._connection)
        if problem is not None:
            raise self.damage(problem)

    def taken_back(self, upto: int | None = None) -> set[int]:
        """Return the numbers of the events that do not count.

        Parameters
        ----------
        upto : int, optional
            The last event of interest.
        """
        return {
            seq for (seq,) in self._rows("SELECT seq FROM taken_back WHERE seq <= ?", _last(upto))
        }

    def taken_back_digest(self, upto: int) -> bytes:
        """Return a digest of the events that do not count.

        Parameters
        ----------
        upto : int
            The last event of interest.
        """
        state = hashlib.blake2b(digest_size=CHAIN_BYTES)
        for (seq,) in self._rows("SELECT seq FROM taken_back WHERE seq <= ? ORDER BY seq", upto):
            state.update(b"%d " % seq)
        return state.digest()

    def lesson_before_last(self, count: int) -> int:
        """Return the event after which there are ``count`` answers; the first if there are fewer.

        Parameters
        ----------
        count : int
            Number of answers, of items with labels, and of changes of labels and settings.
        """
        found = self._value(
            "SELECT seq FROM events WHERE kind <> 'item' OR body <> '{}' "
            "ORDER BY seq DESC LIMIT 1 OFFSET ?",
            count,
        )
        return 1 if found is None else int(found)

    def kept_events(self) -> frozenset[int]:
        """Return the events of forgotten items whose labels stay, as other events need them."""
        return frozenset(
            seq
            for event in self.takings()
            if event.kind == "forgotten"
            for seq in event.body.get("keeps", ())
        )

    def takings(self) -> list[Event]:
        """Return all events that take others back, in order."""
        marks = ", ".join(f"'{kind}'" for kind in TAKING_KINDS)
        return [
            self._checked_event(row)
            for row in self._rows(
                f"SELECT {_CHECKED} FROM events e WHERE {_RARE} ({marks}) ORDER BY seq"
            )
        ]

    def events_of_item(self, item: int) -> list[int]:
        """Return the numbers of the events about an item, the first being the item itself."""
        rows = self._rows("SELECT seq FROM events WHERE item = ? ORDER BY seq", item)
        return [item, *(seq for (seq,) in rows)]

    def events_of_batch(self, batch: str) -> list[int]:
        """Return the numbers of the events of a batch."""
        rows = self._rows("SELECT seq FROM events WHERE batch = ? ORDER BY seq", batch)
        return [seq for (seq,) in rows]

    def find_item(self, id: str) -> int | None:
        """Return the number of the event that added an item; None if there is no such item."""
        query = "SELECT seq FROM items WHERE id = ? AND state <> 'undone'"
        item: int | None = self._value(query, id)
        return item

    def undone_items(self, id: str) -> list[int]:
        """Return the items with an id whose adding was undone."""
        rows = self._rows("SELECT seq FROM items WHERE id = ? AND state = 'undone'", id)
        return [seq for (seq,) in rows]

    def item_id(self, item: int) -> str | None:
        """Return the id of an item; None if the item does not exist, or no longer."""
        query = "SELECT id FROM items WHERE seq = ? AND state <> 'undone'"
        id: str | None = self._value(query, item)
        return id

    def items(
        self, state: ItemState | None = None, after: int = 0, limit: int = ALL
    ) -> list[tuple[int, str, ItemState]]:
        """Return numbers, ids and states of items, in the order in which they came.

        Parameters
        ----------
        state : str, optional
            Only items in this state.
        after : int
            The item before the first one.
        limit : int
            Maximum number of items; by default all.
        """
        which = "state <> ?" if state is None else "state = ?"
        return self._rows(
            f"SELECT seq, id, state FROM items WHERE {which} AND seq > ? ORDER BY seq LIMIT ?",
            state or "undone",
            after,
            limit,
        )

    def item_counts(self) -> dict[str, int]:
        """Return the number of items in each state."""
        return dict(
            self._rows("SELECT state, COUNT(*) FROM items WHERE state <> 'undone' GROUP BY state")
        )

    def content(self, seq: int) -> bytes | None:
        """Return the content of an item or of the first event, checked; None if there is none."""
        row = self._row(
            "SELECT c.data, c.salt, e.content_digest FROM contents c JOIN events e USING (seq) "
            "WHERE seq = ?",
            seq,
        )
        if row is None:
            return None
        data, salt, digest = row
        if StoredContent(data, salt).digest != digest:
            raise self.damage(f"the content of event {seq:,} is not what was written")
        return bytes(data)

    def item_content(self, item: int) -> Content:
        """Return the content of an item; NotFoundError if it has none."""
        data = self.content(item)
        if data is None:
            raise NotFoundError(f"item {item} has no content")
        return Content.from_bytes(data)

    def status(self, item: int, before: int | None = None) -> Status:
        """Return what has become of an item.

        Parameters
        ----------
        item : int
            The event that added the item.
        before : int, optional
            Only earlier events count.
        """
        row = self._row(
            f"SELECT {_CHECKED} FROM events e WHERE e.item = ? AND e.seq < ? "
            "AND e.seq NOT IN (SELECT seq FROM taken_back) AND e.kind IN "
            "('answer', 'filed', 'asked') ORDER BY e.seq DESC LIMIT 1",
            item,
            _last(before),
        )
        if row is None:
            return Status.of_new(self.event(item))
        event = self._checked_event(row)
        states: dict[str, ItemState] = {"answer": "answered", "filed": "filed", "asked": "asked"}
        labels = None if event.kind == "asked" else event.labels
        return Status(states[event.kind], labels, event.seq, event.actor)

    def current_names(
        self, labels: Collection[str], since: int, before: int | None = None
    ) -> list[str]:
        """Return labels by their present names, without those that were forgotten.

        Parameters
        ----------
        labels : collection of str
            Labels by their names at some event.
        since : int
            That event.
        before : int, optional
            The event that "present" refers to; by default the end.
        """
        marks = ", ".join(f"'{kind}'" for kind in LABEL_KINDS)
        found = list(labels)
        for row in self._rows(
            f"SELECT {_CHECKED} FROM events e WHERE {_RARE} ({marks}) AND seq > ? "
            "AND seq < ? AND seq NOT IN (SELECT seq FROM taken_back) ORDER BY seq",
            since,
            _last(before),
        ):
            event = self._checked_event(row)
            name = event.body["name"]
            if event.kind == "label-forgotten":
                found = [label for label in found if label != name]
            elif event.kind in ("label-renamed", "label-merged"):
                new = event.body.get("to") or event.body["into"]
                found = [new if label == name else label for label in found]
        return list(dict.fromkeys(found))

    def ledger(self, before: int | None = None) -> Ledger:
        """Return the labels and settings at the end, or before an event.

        Parameters
        ----------
        before : int, optional
            The event.
        """
        last = _last(before)
        labels = {
            label
            for label, present in self._rows(
                "SELECT label, present FROM label_changes l WHERE seq = (SELECT MAX(seq) FROM "
                "label_changes WHERE label = l.label AND seq < ?)",
                last,
            )
            if present
        }
        ledger = Ledger()
        for row in self._rows(
            f"SELECT {_CHECKED} FROM events e WHERE {_RARE} ('created', 'settings') "
            "AND seq < ? AND seq NOT IN (SELECT seq FROM taken_back) ORDER BY seq",
            last,
        ):
            ledger.follow(self._checked_event(row))
        ledger.labels = labels
        return ledger

    def snapshots(self) -> list[Snapshot]:
        """Return the list of snapshots, whether or not they belong to the present history."""
        rows = self._rows(
            "SELECT name, seq, chain, taken_back, build, size FROM snapshots ORDER BY seq"
        )
        listed = [Snapshot(*row) for row in rows]
        if not all(each.is_sound for each in listed):
            raise self.damage("the list of snapshots is not what was written")
        return listed

    def document(self, name: str) -> Any:
        """Return a stored document as JSON values; None if there is none."""
        text = self._value("SELECT value FROM documents WHERE name = ?", name)
        return None if text is None else json.loads(text)


def _last(upto: int | None) -> int:
    return ALL if upto is None else upto
