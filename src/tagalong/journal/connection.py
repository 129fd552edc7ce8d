"""Connections to the database of a journal, whichever program stores it.

The queries of a journal are the same for SQLite and PostgreSQL. A `Database` has what differs:
how to connect, how transactions begin, which errors there are, and how space is given back.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, Protocol

__all__ = ["Connection", "Cursor", "Database", "copy_rows"]

ROWS_AT_ONCE = 256


class Cursor(Protocol):
    """The rows that a query has found."""

    @property
    def description(self) -> Sequence[Any] | None:
        """The columns; the first part of each is its name."""

    def fetchone(self) -> Any:
        """Return the next row; None if there is none."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def fetchmany(self, size: int, /) -> list[Any]:
        """Return the next rows; none at the end."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection to a database. Queries have ``?`` in place of values."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Run a query."""

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> Any:
        """Run a query that returns nothing, once for each row of values."""

    def close(self) -> None:
        """Close the connection."""


class Database(Protocol):
    """A database with the tables of one journal."""

    @property
    def name(self) -> str:
        """The name of the database in messages."""

    @property
    def short_name(self) -> str:
        """Its name within the workspace."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors that a query can raise, outside of ``errors``."""

    @property
    def most_idle(self) -> int:
        """Number of connections that are kept open for threads that read."""

    def connect(self, *, read_only: bool = False) -> Connection:
        """Open a connection; one that writes makes or upgrades the tables."""

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of the database into errors of the journal that name it."""

    def begin_view(self, connection: Connection) -> None:
        """Begin a transaction that reads one state of the journal."""

    def begin_writing(self, connection: Connection) -> None:
        """Begin a transaction that writes; LeaseLostError if another process may write by now."""

    def claim(self, connection: Connection, seq: int) -> None:
        """Make sure, within the transaction, that this process appends the event after the last."""

    def settle(self, connection: Connection) -> None:
        """Wait until transactions of earlier connections of this process have ended."""

    def rows(self, connection: Connection, query: str, after: int, upto: int) -> Iterator[Any]:
        """Return the rows of a query, few of which are in memory at a time.

        Parameters
        ----------
        connection : Connection
            The connection. Other queries may use it meanwhile.
        query : str
            A query with two values, whose rows begin with a number: it finds the rows with numbers
            greater than the first value, and not greater than the second, in order.
        after, upto : int
            The values.
        """

    @property
    def is_lost(self) -> bool:
        """Whether this process is known to hold the workspace no longer."""

    def is_broken(self, connection: Connection) -> bool:
        """Whether a connection is known to be lost."""

    def shrink_log(self, connection: Connection) -> bool:
        """Remove what was deleted from logs as far as possible; False if something is left."""

    def vacuum(self, connection: Connection) -> None:
        """Give unused space back."""

    def damage(self, connection: Connection, *, most: int, quick: bool = False) -> list[str]:
        """Return what the database's own check finds, at most so many lines."""

    def unlisted_event(self, connection: Connection) -> str | None:
        """Return which index does not list which event; None if those of the events are whole."""


def copy_rows(
    database: Database,
    source: Connection,
    target: Connection,
    tables: Sequence[str],
    numbered: Sequence[str],
    progress: Callable[[int], None] = lambda last: None,
) -> None:
    """Copy tables between journals of the same version.

    Parameters
    ----------
    database : Database
        The first journal.
    source, target : Connection
        Connections to the journals: one view of the first, and a transaction of the second, whose
        tables are empty.
    tables : sequence of str
        Small tables, copied as a whole.
    numbered : sequence of str
        Large tables, whose rows have a number ``seq``, copied part by part.
    progress : callable
        Called with the number of the last row of each part.
    """
    for table in (*tables, *numbered):
        found = source.execute(f"SELECT * FROM {table} LIMIT 0").description or ()
        columns = [str(column[0]) for column in found]
        if table in numbered:  # their number comes first, wherever the column is
            columns = ["seq", *(name for name in columns if name != "seq")]
        marks = ", ".join("?" for _ in columns)
        query = f"SELECT {', '.join(columns)} FROM {table}"
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        if table not in numbered:
            target.executemany(insert, source.execute(query).fetchall())
            continue
        rows = database.rows(source, f"{query} WHERE seq > ? AND seq <= ? ORDER BY seq", 0, 2**62)
        while part := list(islice(rows, ROWS_AT_ONCE)):
            target.executemany(insert, part)
            progress(part[-1][0])
