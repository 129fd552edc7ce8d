"""The tables of a journal, and how older ones become the present ones.

They are written in the language of SQLite; PostgreSQL gets a translation.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress

from tagalong.journal.contents import Content, listed_source

__all__ = ["NUMBERED", "OTHERS", "SCHEMA_VERSION", "TABLES", "SchemaError", "prepare_schema"]

APPLICATION_ID = 0x54616761  # "Taga": `file` and `verify` recognise a journal by it

# `events` and `contents` are the journal. `taken_back`, `items` and `label_changes` follow from the
# events, and are changed in the same transactions.
TABLES = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    item INTEGER,
    batch TEXT,
    actor TEXT NOT NULL,
    body TEXT NOT NULL,
    content_digest BLOB,
    chain BLOB NOT NULL
) STRICT;
CREATE INDEX events_of_item ON events (item, seq) WHERE item IS NOT NULL;
CREATE INDEX events_of_batch ON events (batch) WHERE batch IS NOT NULL;
CREATE INDEX rare_events ON events (kind, seq) WHERE kind NOT IN ('item', 'answer');
CREATE TABLE contents (
    seq INTEGER PRIMARY KEY,
    salt BLOB NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE TABLE taken_back (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE items (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    source TEXT NOT NULL,
    skipped INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX items_by_id ON items (id) WHERE state <> 'undone';
CREATE INDEX undone_by_id ON items (id) WHERE state = 'undone';
CREATE INDEX items_by_state ON items (state, seq);
CREATE INDEX items_by_source ON items (source, state, seq);
CREATE INDEX skipped_items ON items (state, skipped) WHERE skipped > 0;
CREATE TABLE label_changes (
    seq INTEGER NOT NULL,
    label TEXT NOT NULL,
    present INTEGER NOT NULL,
    PRIMARY KEY (seq, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_of_label ON label_changes (label, seq);
CREATE TABLE idempotency_keys (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    result TEXT NOT NULL,
    item INTEGER,
    time TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_time ON idempotency_keys (time);
CREATE INDEX keys_by_item ON idempotency_keys (item) WHERE item IS NOT NULL;
CREATE TABLE snapshots (
    name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    chain BLOB NOT NULL,
    taken_back BLOB NOT NULL,
    build TEXT NOT NULL,
    size INTEGER NOT NULL
) STRICT;
CREATE TABLE documents (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""

NUMBERED = ("contents", "items", "taken_back", "events")
OTHERS = ("label_changes", "idempotency_keys", "documents", "snapshots")
"""All tables: those whose rows have the number of an event as their key, and the others."""

SCHEMA_VERSION = 2


class SchemaError(ValueError):
    """The database is not a journal that this version can read."""


def prepare_schema(
    connection: sqlite3.Connection, *, read_only: bool = False, older: bool = False
) -> None:
    """Create the tables of a new journal, or bring those of an older version up to date.

    Parameters
    ----------
    connection : Connection
        The database, outside of a transaction.
    read_only : bool
        Whether nothing may be changed. SchemaError if a change would be necessary.
    older : bool
        Whether to accept a journal of an older version as it is, for a copy of it.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"the journal has version {version}, but this Tagalong reads versions up to "
            f"{SCHEMA_VERSION}: upgrade Tagalong to use it"
        )
    if not is_empty and (found != APPLICATION_ID or version < 1):
        raise SchemaError("this is a database, but not a journal of Tagalong")
    if version == SCHEMA_VERSION or (older and not is_empty):
        return
    if read_only:
        raise SchemaError(
            "the journal is empty"
            if is_empty
            else f"the journal has version {version}, from an older Tagalong: open it once for "
            "writing to upgrade it, for example with 'tagalong journal compact'"
        )
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_empty:
            _run(connection, TABLES)
        else:
            for step in range(version, SCHEMA_VERSION):
                _MIGRATIONS[step](connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Execute statements within a transaction, which ``executescript`` would commit."""
    for statement in script.split(";"):
        connection.execute(statement)


def _list_sources(connection: sqlite3.Connection) -> None:
    """Turn version 1 into version 2: the table of items has sources, and numbers of put-offs."""
    _run(
        connection,
        """
        ALTER TABLE items RENAME TO items_before;
        CREATE TABLE items (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            state TEXT NOT NULL,
            source TEXT NOT NULL,
            skipped INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
    )
    for seq, id, state in connection.execute("SELECT seq, id, state FROM items_before"):
        row = (seq, id, state, _stored_source(connection, seq))
        connection.execute("INSERT INTO items VALUES (?, ?, ?, ?, 0)", row)
    _run(
        connection,
        """
        DROP TABLE items_before;
        CREATE UNIQUE INDEX items_by_id ON items (id) WHERE state <> 'undone';
        CREATE INDEX undone_by_id ON items (id) WHERE state = 'undone';
        CREATE INDEX items_by_state ON items (state, seq);
        CREATE INDEX items_by_source ON items (source, state, seq);
        CREATE INDEX skipped_items ON items (state, skipped) WHERE skipped > 0
        """,
    )


def _stored_source(connection: sqlite3.Connection, seq: int) -> str:
    """Return the source of an item. Damaged content has none; others say what is damaged."""
    try:
        row = connection.execute("SELECT data FROM contents WHERE seq = ?", (seq,)).fetchone()
        return listed_source(Content.from_bytes(row[0]).source)
    except (sqlite3.DatabaseError, ValueError, TypeError, KeyError, AttributeError):
        return ""


_MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _list_sources}
"""For each older version, the step to the next one, within a transaction."""
