"""Writing a journal. One process writes, guarded by the lock of the workspace."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tagalong.journal.connection import Database
from tagalong.journal.contents import StoredContent, listed_source
from tagalong.journal.database import database_of
from tagalong.journal.errors import RefusedError
from tagalong.journal.events import TAKING_KINDS, Event, time_text
from tagalong.journal.reader import ItemState, JournalReader, Snapshot, next_link

__all__ = ["JournalStore"]

MOST_CHARACTERS = 250_000_000
"""Longest value: a row of SQLite has at most a billion bytes, a character of UTF-8 four."""

KEYS_ARE_KEPT = timedelta(days=7)
SKIPS_PER_EVENT_BITS = 20
"""There are fewer than two to this power put-offs without an event in between."""


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the journal. As nobody else writes, it is read once.

    Parameters
    ----------
    seq : int
        The last event.
    link : bytes
        Its link in the chain of digests.
    revision : int
        The last event that took others back.
    kept : frozenset of int
        The events of forgotten items whose labels stay.
    """

    seq: int
    link: bytes
    revision: int
    kept: frozenset[int]

    def after(self, event: Event, link: bytes) -> "_End":
        revision = event.seq if event.kind in TAKING_KINDS else self.revision
        kept = self.kept
        if event.kind == "forgotten":
            kept = kept.union(event.body.get("keeps", ()))
        return _End(event.seq, link, revision, kept)


class JournalStore(JournalReader):
    """The journal of a workspace, for its only writer.

    Parameters
    ----------
    database : path or Database
        The file of SQLite, or another database; its tables are made if they do not exist.
    """

    def __init__(self, database: Path | Database):
        found = database_of(database)
        super().__init__(found, found.connect())
        self._end: _End | None = None

    def reopen(self) -> None:
        """Open a new connection after an error of the disk, which the old one may remember.

        The old one is closed last: without any connection, SQLite would remove the index of its
        log, and a full disk may have no room to write it again, so that nobody could read.
        """
        connection = self.database.connect()
        with suppress(*self.database.failures):
            self._connection.close()
        self._connection = connection
        self._end = None
        with self.database.errors():
            self.database.settle(connection)

    @property
    def is_broken(self) -> bool:
        """Whether the connection is lost, so that ``reopen`` is necessary."""
        return self.database.is_broken(self._connection)

    def _known_end(self) -> _End:
        if self._end is None:
            seq = super().tip
            link = self.link(seq)
            if link is None:
                raise self.damage(f"event {seq:,} is missing")
            self._end = _End(seq, link, super().revision, super().kept_events())
        return self._end

    @property
    def tip(self) -> int:
        """The number of the last event; 0 if there is none."""
        return self._known_end().seq

    @property
    def revision(self) -> int:
        """The number of the last event that took others back: it names the present history."""
        return self._known_end().revision

    def kept_events(self) -> frozenset[int]:
        """Return the events of forgotten items whose labels stay, as other events need them."""
        return self._known_end().kept

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block writes, on disk when the block ends, or nothing of it."""
        with self.database.errors():
            try:
                self.database.begin_writing(self._connection)
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._rollback()
                raise

    def _rollback(self) -> None:
        self._end = None  # if the commit has failed, its outcome is not known
        # The database itself has rolled back after some errors, such as a full disk.
        if self._connection.in_transaction:
            with suppress(*self.database.failures):
                self._connection.execute("ROLLBACK")

    @contextmanager
    def part(self) -> Iterator[None]:
        """Write the block as a part of a transaction: if it raises, only this part is undone."""
        with self.database.errors():
            self._connection.execute("SAVEPOINT part")
        end = self._end
        try:
            yield
        except BaseException:
            self._end = end
            if self._connection.in_transaction:
                with self.database.errors():
                    self._connection.execute("ROLLBACK TO part")
                    self._connection.execute("RELEASE part")
            raise
        with self.database.errors():
            self._connection.execute("RELEASE part")

    def _write(self, query: str, *values: Any) -> None:
        for value in values:
            if isinstance(value, str | bytes) and len(value) > MOST_CHARACTERS:
                raise RefusedError(
                    f"a text of {len(value):,} characters cannot be stored: "
                    f"at most {MOST_CHARACTERS:,} can"
                )
        with self.database.errors():
            self._connection.execute(query, values)

    def append(self, event: Event, content: StoredContent | None = None) -> Event:
        """Append an event, and return it with its number and time.

        Parameters
        ----------
        event : Event
            The event, without number and time.
        content : StoredContent, optional
            The content of a new item.
        """
        for name, text in (("actor", event.actor), ("batch", event.batch)):
            if not isinstance(text, str):
                raise RefusedError(f"{name} must be a text, got {text!r}")
        end = self._known_end()
        seq = end.seq + 1
        time = time_text(datetime.now(UTC))
        body = json.dumps(event.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        row = (seq, time, event.kind, event.item, event.batch or None, event.actor, body)
        digest = None if content is None else content.digest
        link = next_link(end.link, row, digest)
        with self.database.errors():
            self.database.claim(self._connection, seq)
        self._write(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *row,
            digest,
            link,
        )
        if content is not None:
            self._write("INSERT INTO contents VALUES (?, ?, ?)", seq, content.salt, content.data)
        stored = replace(event, seq=seq, time=time)
        self._end = end.after(stored, link)
        return stored

    def add_item(self, item: int, id: str, state: ItemState, source: str) -> None:
        """Add an item to the list of items.

        Parameters
        ----------
        item : int
            The event that added the item.
        id : str
            Its id.
        state : str
            Its state.
        source : str
            Where it comes from, as in its content.
        """
        row = (item, id, state, listed_source(source))
        self._write("INSERT INTO items VALUES (?, ?, ?, ?, 0)", *row)

    def set_state(self, item: int, state: ItemState) -> None:
        """Store the state of an item.

        Parameters
        ----------
        item : int
            The event that added the item.
        state : str
            Its state.
        """
        self._write("UPDATE items SET state = ? WHERE seq = ?", state, item)

    def hide_item(self, item: int) -> None:
        """Remove an item whose adding was undone from the list of items; its id is free again."""
        self._write("UPDATE items SET state = 'undone' WHERE seq = ?", item)

    def skip_item(self, item: int) -> None:
        """Put an item off: it comes after all that were put off before.

        Parameters
        ----------
        item : int
            The event that added the item.
        """
        # Higher than all before, also than that of an item that was forgotten since, as forgetting
        # is an event.
        number = max(self.last_skip() + 1, self.tip << SKIPS_PER_EVENT_BITS)
        self._write("UPDATE items SET skipped = ? WHERE seq = ?", number, item)

    def set_label_changes(self, seq: int, changes: dict[str, bool]) -> None:
        """Store which labels an event adds (True) or removes (False)."""
        for label, is_present in changes.items():
            self._write("INSERT INTO label_changes VALUES (?, ?, ?)", seq, label, int(is_present))

    def drop_label_changes(self, first: int, last: int) -> None:
        """Remove the stored label changes of some events, to be stored again."""
        self._write("DELETE FROM label_changes WHERE seq BETWEEN ? AND ?", first, last)

    def take_back(self, seqs: Iterable[int]) -> None:
        """Mark events as not counting."""
        for seq in seqs:
            self._write("INSERT INTO taken_back VALUES (?)", seq)

    def bring_back(self, seqs: Iterable[int]) -> None:
        """Mark events as counting again."""
        for seq in seqs:
            self._write("DELETE FROM taken_back WHERE seq = ?", seq)

    def delete_item(self, item: int) -> None:
        """Delete content and id of an item. Their pages are overwritten (``secure_delete``)."""
        self._write("DELETE FROM contents WHERE seq = ?", item)
        self._write("DELETE FROM items WHERE seq = ?", item)
        self._write("DELETE FROM idempotency_keys WHERE item = ?", item)

    def store_key(
        self, scope: str, key: str, request: bytes, result: Any, item: int | None
    ) -> None:
        """Store the result of a request, and drop the keys that are too old.

        Parameters
        ----------
        scope, key : str
            The key, and where it is valid.
        request : bytes
            A digest of the request.
        result : object
            The result, as JSON values.
        item : int or None
            The item that the request is about; the key is forgotten with it.
        """
        now = datetime.now(UTC)
        oldest = (now - KEYS_ARE_KEPT).isoformat()
        self._write("DELETE FROM idempotency_keys WHERE time < ?", oldest)
        self._write(
            "INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?, ?)",
            scope,
            key,
            request,
            json.dumps(result),
            item,
            now.isoformat(),
        )

    def set_document(self, name: str, value: Any) -> None:
        """Store a document: JSON values that belong to the workspace but decide no learning."""
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        self._write(
            "INSERT INTO documents VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = ?",
            name,
            text,
            text,
        )

    def list_snapshot(self, snapshot: Snapshot) -> None:
        """Add a snapshot to the list."""
        self._write(
            "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
            "seq = excluded.seq, chain = excluded.chain, taken_back = excluded.taken_back, "
            "build = excluded.build, size = excluded.size",
            *astuple(snapshot),
        )

    def drop_snapshots(self, names: Iterable[str]) -> None:
        """Remove snapshots from the list."""
        for name in names:
            self._write("DELETE FROM snapshots WHERE name = ?", name)

    def shrink_log(self) -> bool:
        """Remove deleted content from the logs of the database.

        Returns
        -------
        bool
            False if another process reads an older state, so that something is left for now.
        """
        with self.database.errors():
            return self.database.shrink_log(self._connection)

    def vacuum(self) -> None:
        """Give unused space of the database back to the file system."""
        with self.database.errors():
            self.database.vacuum(self._connection)
