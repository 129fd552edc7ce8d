"""A connection to PostgreSQL that takes the queries of a journal, and errors that name it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, LiteralString, TypeAlias

from tagalong.journal.errors import DamagedError, JournalError, RefusedError, StorageError
from tagalong.journal.postgres.driver import psycopg

__all__ = ["PostgresConnection", "RawConnection", "postgres_errors"]

RawConnection: TypeAlias = "psycopg.Connection[Any]"
_VIEW = "SAVEPOINT view"
_DAMAGE = (
    psycopg.errors.DataCorrupted,
    psycopg.errors.IndexCorrupted,
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
)


@contextmanager
def postgres_errors(name: str) -> Iterator[None]:
    """Turn errors of PostgreSQL into errors of the journal.

    Parameters
    ----------
    name : str
        The name of the database in messages.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise RefusedError(f"{error.object!r} is not valid Unicode text") from error
    except OverflowError as error:
        raise RefusedError(f"a number is too large: {error}") from error
    except psycopg.Error as error:
        raise _journal_error(name, error) from error


def _journal_error(name: str, error: psycopg.Error) -> JournalError:
    problem = " ".join(str(error).split())
    if isinstance(error, _DAMAGE):
        return DamagedError(
            f"{name}: the database is damaged ({problem}); 'tagalong journal verify' says what is "
            "affected, 'tagalong journal restore' brings a backup back"
        )
    if isinstance(
        error,
        (
            psycopg.IntegrityError,
            psycopg.DataError,
            psycopg.errors.ProgramLimitExceeded,
        ),
    ):
        return RefusedError(f"this cannot be stored: {problem}")
    if isinstance(error, psycopg.errors.DiskFull):
        return StorageError(
            f"{name}: the disk of the database is full; nothing was stored, and reading goes on"
        )
    return StorageError(f"{name}: {problem or type(error).__name__}")


@lru_cache(maxsize=512)
def _translated(query: str) -> LiteralString:
    """Return a query with the marks of psycopg in place of ``?``."""
    # All queries are constants of this package; values are never part of them.
    return query.replace("%", "%%").replace("?", "%s")


class PostgresConnection:
    """A connection that can be opened again.

    Parameters
    ----------
    open : callable
        Opens it, with all its settings.
    """

    def __init__(self, open: Callable[[], RawConnection]):
        self._open = open
        self._raw = open()
        self._has_view = False

    @property
    def is_broken(self) -> bool:
        """Whether the connection is lost."""
        return self._raw.closed

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        status = self._raw.info.transaction_status
        known = (psycopg.pq.TransactionStatus.INTRANS, psycopg.pq.TransactionStatus.INERROR)
        return not self._raw.closed and status in known

    def begin(self, query: str) -> None:
        """Begin a transaction. A connection that was lost meanwhile is opened again.

        Parameters
        ----------
        query : str
            The command.
        """
        try:
            self.execute(query)
        except psycopg.OperationalError:
            if not self._raw.closed:
                raise
            # Nothing was under way, so nothing can be done twice.
            self._raw = self._open()
            self.execute(query)

    def execute(self, query: str, values: Sequence[Any] = (), /) -> "psycopg.Cursor[Any]":
        """Run a query; within a view, one that fails does not end the view.

        Parameters
        ----------
        query : str
            The query, with ``?`` in place of values.
        values : sequence
            The values.
        """
        try:
            cursor = self._raw.execute(_translated(query), values)
        except psycopg.Error:
            if self._is_view():
                with suppress(psycopg.Error):
                    self._raw.execute("ROLLBACK TO SAVEPOINT view")
            raise
        if query == "COMMIT" and cursor.statusmessage != "COMMIT":
            # A transaction in which something has failed ends without an error.
            raise psycopg.errors.InFailedSqlTransaction("the transaction was rolled back")
        self._has_view = query == _VIEW or (self._has_view and query != "COMMIT")
        return cursor

    def _is_view(self) -> bool:
        status = self._raw.info.transaction_status
        return self._has_view and status == psycopg.pq.TransactionStatus.INERROR

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> None:
        """Run a query once for each row of values.

        Parameters
        ----------
        query : str
            The query.
        values : iterable of sequences
            The rows.
        """
        with self._raw.cursor() as cursor:
            cursor.executemany(_translated(query), values)

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()
