"""Connections to the database of a journal, and errors that name it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tagalong.files.replacement import sync_folder
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.errors import DamagedError, NotFoundError, RefusedError, StorageError
from tagalong.journal.schema import SchemaError, prepare_schema

__all__ = ["connect", "database_errors"]

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SIGNS_OF_DAMAGE = ("decode to UTF-8", "no such table", "no such column", "no such index")
_SECONDS_TO_WAIT = 5


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


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the database of a journal; without ``read_only`` it is made if it does not exist.

    Parameters
    ----------
    path : path
        The database.
    read_only : bool
        Whether the connection only reads. It may be used while another process writes.
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
            prepare_schema(connection, read_only=read_only)
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
