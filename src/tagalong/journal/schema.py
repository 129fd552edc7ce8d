"""The tables of a journal in SQLite, and how older ones become the present ones."""

import sqlite3

__all__ = ["SCHEMA_VERSION", "prepare_schema"]

APPLICATION_ID = 0x54616761  # "Taga": `file` and `verify` recognise a journal by it

# `events` and `contents` are the journal. `taken_back`, `items` and `label_changes` follow from the
# events, and are changed in the same transactions.
_TABLES = """
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
    state TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX items_by_id ON items (id) WHERE state <> 'undone';
CREATE INDEX undone_by_id ON items (id) WHERE state = 'undone';
CREATE INDEX items_by_state ON items (state, seq);
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

# One script per older version, which turns it into the next one.
_MIGRATIONS: dict[int, str] = {}

SCHEMA_VERSION = 1


class SchemaError(ValueError):
    """The database is not a journal that this version can read."""


def prepare_schema(connection: sqlite3.Connection, *, read_only: bool = False) -> None:
    """Create the tables of a new journal, or bring those of an older version up to date.

    Parameters
    ----------
    connection : Connection
        The database, outside of a transaction.
    read_only : bool
        Whether nothing may be changed. SchemaError if a change would be necessary.
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
    if version == SCHEMA_VERSION:
        return
    if read_only:
        raise SchemaError(
            "the journal is empty"
            if is_empty
            else f"the journal has version {version}: open it once for writing to upgrade it"
        )
    scripts = [_TABLES] if is_empty else [_MIGRATIONS[v] for v in range(version, SCHEMA_VERSION)]
    connection.executescript(
        "BEGIN IMMEDIATE;"
        + "".join(scripts)
        + f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
        "COMMIT;"
    )
