"""The tables of a workspace in PostgreSQL: those of SQLite, and one for snapshots."""

import re
from collections.abc import Callable

from tagalong.journal.connection import Connection
from tagalong.journal.schema import SCHEMA_VERSION, TABLES

__all__ = ["MIGRATIONS", "create_tables", "schema_name"]

MIGRATIONS: dict[int, Callable[[Connection], None]] = {}
"""For each older version, what turns it into the next one. The first in PostgreSQL is 2."""

_TYPES = {"INTEGER": "BIGINT", "BLOB": "BYTEA", "TEXT": 'TEXT COLLATE "C"'}
# Texts have the order of their bytes, as in SQLite. Snapshots cannot be compressed further.
_PARTS = """
CREATE TABLE snapshot_parts (
    name TEXT COLLATE "C" NOT NULL,
    part BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (name, part)
);
ALTER TABLE snapshot_parts ALTER COLUMN data SET STORAGE EXTERNAL
"""


def schema_name(id: int) -> str:
    """Return the schema of a workspace.

    Parameters
    ----------
    id : int
        The number of the workspace.
    """
    return f"tagalong_{id}"


def create_tables(connection: Connection) -> int:
    """Create the tables of a journal in the present schema, and return their version.

    Parameters
    ----------
    connection : Connection
        The database, within a transaction.
    """
    script = re.sub(r"\) STRICT(, WITHOUT ROWID)?", ")", TABLES)
    script = re.sub(r"\b(INTEGER|BLOB|TEXT)\b", lambda found: _TYPES[found[0]], script)
    for statement in f"{script}{_PARTS}".split(";"):
        if statement.strip():
            connection.execute(statement)
    return SCHEMA_VERSION
