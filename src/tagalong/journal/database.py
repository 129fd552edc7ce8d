"""The database of a journal in SQLite: connections to it, and errors that name it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from tagalong.files.replacement import sync_folder
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.connection import ROWS_AT_ONCE, Connection, Database
from tagalong.journal.errors import DamagedError, NotFoundError, RefusedError, StorageError
from tagalong.journal.schema import SchemaError, prepare_schema

__all__ = ["SqliteDatabase", "connect", "database_errors", "database_of"]

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG)
"""Values that are too big to be stored are refused before, so only damaged rows have them."""
_SIGNS_OF_DAMAGE = (
    "decode to UTF-8",
    "no such table",
    "no such column",
    "no such index",
    "unsupported file format",
)
_SECONDS_TO_WAIT = 5
_INDEXES = {
    "events_of_item": ("item", "IS NOT NULL"),
    "rare_events": ("kind", "NOT IN ('item', 'answer')"),
}
"""The indexes by which events are found that the model needs: the column, and what is listed."""


class SqliteDatabase:
    """A journal in SQLite; see `tagalong.journal.connection.Database` for the methods.

    Parameters
    ----------
    path : path
        The file.
    """

    failures: tuple[type[Exception], ...] = (sqlite3.Error,)
    most_idle = 8

    def __init__(self, path: Path):
        self.path = path

    @property
    def name(self) -> str:
        """The path."""
        return unicode_path(self.path)

    @property
    def short_name(self) -> str:
        """The name of the file."""
        return self.path.name

    def connect(self, *, read_only: bool = False) -> Connection:
        """Open the file; without ``read_only`` it is made if it does not exist."""
        return connect(self.path, read_only=read_only)

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of SQLite into errors of the journal."""
        return database_errors(self.path)

    def begin_view(self, connection: Connection) -> None:
        """Begin to read; the state is that of the first query."""
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()

    def begin_writing(self, connection: Connection) -> None:
        """Begin to write; the lock of the workspace keeps other processes out."""
        connection.execute("BEGIN IMMEDIATE")

    def claim(self, connection: Connection, seq: int) -> None:
        """Do nothing, as no other process can append."""

    def settle(self, connection: Connection) -> None:
        """Do nothing: a transaction ends with its connection."""

    def rows(self, connection: Connection, query: str, after: int, upto: int) -> Iterator[Any]:
        """Return the rows of a query, few of which are in memory at a time."""
        cursor = connection.execute(query, (after, upto))
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from rows

    @property
    def is_lost(self) -> bool:
        """Return False: the lock of a file is held until it is given back."""
        return False

    def is_broken(self, connection: Connection) -> bool:
        """Return False: a file stays where it is."""
        return False

    def shrink_log(self, connection: Connection) -> bool:
        """Move everything from the write-ahead log into the database, and empty the log."""
        is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not is_busy

    def vacuum(self, connection: Connection) -> None:
        """Give unused space back to the file system."""
        connection.execute("VACUUM")

    def damage(self, connection: Connection, *, most: int, quick: bool = False) -> list[str]:
        """Return what SQLite's own check finds."""
        kind = "quick_check" if quick else "integrity_check"
        try:
            rows = connection.execute(f"PRAGMA {kind}({most})").fetchall()
        except sqlite3.Error as error:
            return [f"SQLite cannot check the database: {error}"]
        lines = [line for (text,) in rows for line in str(text).splitlines()]
        return [f"SQLite finds damage: {line}" for line in lines if line != "ok"]

    def unlisted_event(self, connection: Connection) -> str | None:
        """Look every event up; what cannot be read is left to those who need it."""
        for index, (key, is_listed) in _INDEXES.items():
            with suppress(sqlite3.DatabaseError):
                (seq,) = connection.execute(
                    f"SELECT MIN(e.seq) FROM events e NOT INDEXED WHERE e.{key} {is_listed} "
                    f"AND NOT EXISTS (SELECT 1 FROM events i INDEXED BY {index} "
                    f"WHERE i.{key} {is_listed} AND i.{key} = e.{key} AND i.seq = e.seq)"
                ).fetchone()
                if seq is not None:
                    return f"the index {index} does not list event {seq:,}"
        return None


def database_of(place: Path | Database) -> Database:
    """Return a database, or that of a file.

    Parameters
    ----------
    place : path or Database
        The file of SQLite, or any database.
    """
    return SqliteDatabase(place) if isinstance(place, Path) else place


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors that say which file is damaged, or cannot be written.

    Parameters
    ----------
    path : path
        The database.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # in a message of SQLite that quotes the damage
        raise _damage(path, "its schema is not text") from error
    except UnicodeEncodeError as error:
        raise RefusedError(f"{error.object!r} is not valid Unicode text") from error
    except OverflowError as error:
        raise RefusedError(f"a number is too large: {error}") from error
    except (sqlite3.IntegrityError, sqlite3.InterfaceError) as error:
        raise RefusedError(f"this cannot be stored: {error}") from error
    except sqlite3.Error as error:
        name = unicode_path(path)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGE or any(sign in str(error) for sign in _SIGNS_OF_DAMAGE):
            raise _damage(path, error) from error
        if code == sqlite3.SQLITE_FULL:
            raise StorageError(
                f"{name}: the disk is full; nothing was stored, and reading goes on"
            ) from error
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTFOUND) and not path.exists():
            raise NotFoundError(f"{name}: there is no journal here") from error
        raise StorageError(f"{name}: {error}") from error


def _damage(path: Path, problem: object) -> DamagedError:
    return DamagedError(
        f"{unicode_path(path)}: the database is damaged ({problem}); 'tagalong journal verify' "
        "says what is affected, 'tagalong journal restore' brings a backup back"
    )


def connect(path: Path, *, read_only: bool = False, older: bool = False) -> sqlite3.Connection:
    """Open the database of a journal; without ``read_only`` it is made if it does not exist.

    Parameters
    ----------
    path : path
        The database.
    read_only : bool
        Whether the connection only reads. It may be used while another process writes.
    older : bool
        Whether a journal of an older version is opened as it is, for a copy of it.
    """
    if not read_only:
        _create_private(path)
    with database_errors(path):
        mode = "ro" if read_only else "rw"
        if read_only and _is_at_rest(path):
            mode += "&immutable=1"
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=_SECONDS_TO_WAIT,
            check_same_thread=False,
        )
        try:
            if not read_only:
                _make_durable(connection)
            prepare_schema(connection, read_only=read_only, older=older)
        except SchemaError as error:
            connection.close()
            raise DamagedError(f"{unicode_path(path)}: {error}") from error
        except BaseException:
            connection.close()
            raise
    return connection


def _is_at_rest(path: Path) -> bool:
    """Whether nobody can be writing: the folder is read-only, and there is no log."""
    log = path.with_name(f"{path.name}-wal")
    return not os.access(path.parent, os.W_OK) and not log.exists()


def _make_durable(connection: sqlite3.Connection) -> None:
    """Let a commit end only when it is on the disk, and deleted content leave no trace."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise sqlite3.OperationalError(
            "this file system cannot share memory between processes, which a journal needs; use a "
            "folder on a local disk"
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")


def _create_private(path: Path) -> None:
    """Create an empty database that only its owner may read, unless there is one.

    SQLite gives its other files the same mode, and stores their names safely. It does not do that
    for the folders above.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    folder = path.absolute().parent
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, flags, 0o600))
        if path.stat().st_size:
            return
        sync_folder(folder)
        sync_folder(folder.parent)
    except OSError as error:
        raise StorageError(error.errno, error.strerror, unicode_path(path)) from error
    for above in folder.parent.parents:  # new too, perhaps, or those of another user
        with suppress(OSError):
            sync_folder(above)
