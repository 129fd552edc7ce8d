"""Writing a journal in SQLite. One process writes, guarded by the lock of the workspace."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tagalong.journal.contents import StoredContent
from tagalong.journal.database import connect, database_errors
from tagalong.journal.errors import RefusedError
from tagalong.journal.events import Event
from tagalong.journal.reader import FIRST_LINK, ItemState, JournalReader, Snapshot, next_link

__all__ = ["JournalStore"]

KEYS_ARE_KEPT = timedelta(days=7)


class JournalStore(JournalReader):
    """The journal of a workspace, for its only writer.

    Parameters
    ----------
    path : path
        The database; it is made if it does not exist.
    """

    def __init__(self, path: Path):
        super().__init__(path, connect(path))

    def reopen(self) -> None:
        """Open a new connection after an error of the disk, which the old one may remember.

        The old one is closed last: without any connection, SQLite would remove the index of its
        log, and a full disk may have no room to write it again, so that nobody could read.
        """
        connection = connect(self.path)
        with suppress(sqlite3.Error):
            self._connection.close()
        self._connection = connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block writes, on disk when the block ends, or nothing of it."""
        with database_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._rollback()
                raise

    def _rollback(self) -> None:
        # SQLite itself has rolled back after some errors, such as a full disk.
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    @contextmanager
    def part(self) -> Iterator[None]:
        """Write the block as a part of a transaction: if it raises, only this part is undone."""
        with database_errors(self.path):
            self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                with database_errors(self.path):
                    self._connection.execute("ROLLBACK TO part")
                    self._connection.execute("RELEASE part")
            raise
        with database_errors(self.path):
            self._connection.execute("RELEASE part")

    def _write(self, query: str, *values: Any) -> None:
        with database_errors(self.path):
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
        last, link = self._row("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1") or (
            0,
            FIRST_LINK,
        )
        seq = last + 1
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        body = json.dumps(event.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        row = (seq, time, event.kind, event.item, event.batch or None, event.actor, body)
        digest = None if content is None else content.digest
        self._write(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *row,
            digest,
            next_link(link, row, digest),
        )
        if content is not None:
            self._write("INSERT INTO contents VALUES (?, ?, ?)", seq, content.salt, content.data)
        return replace(event, seq=seq, time=time)

    def set_item(self, item: int, id: str, state: ItemState) -> None:
        """Store the state of an item.

        Parameters
        ----------
        item : int
            The event that added the item.
        id : str
            Its id.
        state : str
            Its state.
        """
        self._write("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", item, id, state)

    def hide_item(self, item: int) -> None:
        """Remove an item whose adding was undone from the list of items; its id is free again."""
        self._write("UPDATE items SET state = 'undone' WHERE seq = ?", item)

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

    def find_key(self, scope: str, key: str) -> tuple[bytes, Any] | None:
        """Return the request and the result of an idempotency key; None if it is new."""
        row = self._row(
            "SELECT request, result FROM idempotency_keys WHERE scope = ? AND key = ?", scope, key
        )
        return None if row is None else (row[0], json.loads(row[1]))

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
        self._write("INSERT OR REPLACE INTO documents VALUES (?, ?)", name, text)

    def list_snapshot(self, snapshot: Snapshot) -> None:
        """Add a snapshot to the list."""
        self._write(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", *astuple(snapshot)
        )

    def drop_snapshots(self, names: Iterable[str]) -> None:
        """Remove snapshots from the list."""
        for name in names:
            self._write("DELETE FROM snapshots WHERE name = ?", name)

    def shrink_log(self) -> bool:
        """Move everything from the write-ahead log into the database, and empty the log.

        Returns
        -------
        bool
            False if another process reads an older state, so that the log cannot be emptied yet.
        """
        with database_errors(self.path):
            is_busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_busy

    def vacuum(self) -> None:
        """Give unused space of the database back to the file system."""
        with database_errors(self.path):
            self._connection.execute("VACUUM")
