"""Backups of a workspace, made while it is in use, and restored into a new workspace.

A backup has the journal, the newest snapshot that belongs to it, and settings.toml. It is a
workspace itself, which can be verified, shown and exported. Between folders the file of SQLite is
copied page by page, so that a damaged one can be saved as far as possible; from and to PostgreSQL
the rows of all tables are copied.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tagalong.journal.connection import Connection, copy_rows
from tagalong.journal.errors import (
    DamagedError,
    JournalError,
    RefusedError,
    StorageError,
)
from tagalong.journal.integrity import Integrity, OnProgress, check_integrity, one_view
from tagalong.journal.limits import NAME as SETTINGS
from tagalong.journal.reader import JournalReader, Snapshot
from tagalong.journal.schema import NUMBERED, OTHERS
from tagalong.journal.storage import (
    FolderStorage,
    NewStorage,
    Place,
    Storage,
    existing_storage,
    journal_path,
    storage_of,
)

__all__ = ["Copy", "back_up", "restore"]

PAGES_AT_ONCE = 1024
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a workspace.

    Parameters
    ----------
    storage : Storage
        The place of the copy.
    events : int
        Number of events.
    bytes : int
        Size of all files.
    snapshot : int or None
        The last event of the snapshot in the copy; None if there is no snapshot.
    problems : list of str
        Damage of a backup that was restored nevertheless.
    """

    storage: Storage
    events: int
    bytes: int
    snapshot: int | None
    problems: list[str]

    @property
    def folder(self) -> Path:
        """The folder of the copy; RefusedError if it is not in a folder."""
        if not isinstance(self.storage, FolderStorage):
            raise RefusedError(f"{self.storage.name}: this copy is not in a folder")
        return self.storage.folder


def back_up(
    folder: Place,
    target: Place,
    progress: OnProgress | None = None,
) -> Copy:
    """Copy a workspace as it is at this moment, also while another process writes it.

    The copy is checked: the database, every event and every content.

    Parameters
    ----------
    folder : str, path or Storage
        The workspace; NotFoundError if there is none.
    target : str, path or Storage
        The new folder, or the new workspace in PostgreSQL. RefusedError if it exists and is not
        empty. It is complete or does not exist. Only its owner may read a folder.
    progress : callable, optional
        Called now and then with the number of steps done, and the number of all steps.

    Raises
    ------
    DamagedError
        If the journal is damaged. The message says what is damaged, and there is no copy.
    """
    place = storage_of(target)
    place.check_free("backup")
    source = existing_storage(folder)
    with _copied(source, place, progress) as (copy, found, _):
        if found.problems:
            raise DamagedError(
                f"{source.name}: no backup was made, because the workspace is damaged: "
                f"{_in_short(found)}"
            )
    return copy


def restore(
    backup: Place,
    folder: Place,
    *,
    force: bool = False,
    progress: OnProgress | None = None,
) -> Copy:
    """Make a workspace from a backup. The backup stays as it is.

    Parameters
    ----------
    backup : str, path or Storage
        The backup; NotFoundError if there is none.
    folder : str, path or Storage
        The new workspace. RefusedError if it exists, or the folder exists and is not empty.
    force : bool, default False
        Whether to restore a damaged backup. Otherwise the damage is listed in a DamagedError.
    progress : callable, optional
        Called now and then with the number of steps done, and the number of all steps.
    """
    place = storage_of(folder)
    place.check_free("workspace")
    source = existing_storage(backup)
    with _copied(source, place, progress) as (copy, found, aside):
        if found.problems and not force:
            raise DamagedError(
                f"{source.name}: the backup is damaged, and was not restored: {_in_short(found)}"
            )
        if isinstance(aside, FolderStorage):
            _set_journal_mode(aside.folder, "WAL")
            if not found.problems:
                aside.database.connect().close()  # upgrades the backup of an older version
    return copy


def _in_short(found: Integrity) -> str:
    problems = found.problems
    more = len(problems) - MOST_NAMED
    return "; ".join(problems[:MOST_NAMED]) + (f"; and {more:,} more" if more > 0 else "")


@contextmanager
def _copied(
    source: Storage, target: Storage, progress: OnProgress | None
) -> Iterator[tuple[Copy, Integrity, NewStorage]]:
    """Copy and check a workspace; the copy is kept if the block ends without an error."""
    database = source.database
    try:
        with target.made() as aside:
            with (
                source.reading(older=isinstance(target, FolderStorage)) as connection,
                one_view(database, connection),
            ):
                reader = JournalReader(database, connection)
                seq = _copy_all(source, aside, reader, connection, progress)
            found = _checked(aside, progress)
            size = sum(aside.sizes().values())
            yield Copy(target, found.events, size, seq, found.problems), found, aside
    except JournalError:
        raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            raise StorageError(f"{target.name}: the disk is full") from error
        with database.errors():
            raise
    except OSError as error:
        raise StorageError(error.errno, error.strerror, target.name) from error


def _copy_all(
    source: Storage,
    aside: NewStorage,
    reader: JournalReader,
    connection: Connection,
    progress: OnProgress | None,
) -> int | None:
    """Copy a workspace to an empty place; return the last event of the copied snapshot."""

    def advance(done: int, total: int) -> None:
        if progress is not None:
            progress(done, 2 * total)

    if isinstance(connection, sqlite3.Connection) and isinstance(aside, FolderStorage):
        _copy_pages(connection, aside.folder, advance)
    else:
        total = reader.tip
        with aside.writing() as copy:
            copy_rows(
                reader.database,
                connection,
                copy,
                OTHERS,
                NUMBERED,
                lambda last: advance(last, total),
            )
    if isinstance(aside, FolderStorage):
        # A database with a rollback journal can be read from a read-only disk.
        _set_journal_mode(aside.folder, "DELETE")
    snapshot = _copied_snapshot(source, aside, reader)
    name = "" if snapshot is None else snapshot.name
    if isinstance(aside, FolderStorage):
        _list_only(aside.folder, name)
        if isinstance(source, FolderStorage) and (source.folder / SETTINGS).exists():
            _copy_file(source.folder / SETTINGS, aside.folder / SETTINGS)
    else:
        with aside.writing() as copy:
            copy.execute("DELETE FROM snapshots WHERE name <> ?", (name,))
    return None if snapshot is None else snapshot.seq


def _copy_pages(
    connection: sqlite3.Connection, folder: Path, advance: Callable[[int, int], None]
) -> None:
    """Copy a database of SQLite, whatever is in it."""
    path = journal_path(folder)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous = OFF")  # the folder is synced when it is complete
        connection.backup(
            copy,
            pages=PAGES_AT_ONCE,
            progress=lambda status, remaining, total: advance(total - remaining, total),
        )


def _set_journal_mode(folder: Path, mode: str) -> None:
    with closing(sqlite3.connect(journal_path(folder), isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}").fetchall()


def _list_only(folder: Path, name: str) -> None:
    """Remove all snapshots but one from the list of a copy."""
    with closing(sqlite3.connect(journal_path(folder), isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        try:
            connection.execute("DELETE FROM snapshots WHERE name <> ?", (name,))
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise  # the check reports a damaged list


def _copied_snapshot(source: Storage, aside: NewStorage, reader: JournalReader) -> Snapshot | None:
    """Copy the newest sound snapshot that belongs to a journal; return None if there is none."""
    snapshots, copies = source.snapshots, aside.snapshots
    try:
        usable = list(snapshots.usable(reader))
    except DamagedError:
        return None  # the check reports a damaged list
    for snapshot in usable:
        try:
            with snapshots.file(snapshot) as path:
                copies.write_file(snapshot, partial(_copy_file, path))
            copies.load(snapshot)
        except (FileNotFoundError, DamagedError):  # removed meanwhile, or not sound
            copies.remove([snapshot.name])
        else:
            return snapshot
    return None


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as old:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as new:
            shutil.copyfileobj(old, new)


def _checked(aside: NewStorage, progress: OnProgress | None) -> Integrity:
    """Check the database, the events and the contents of a copy."""

    def advance(done: int, total: int) -> None:
        if progress is not None:
            progress(total + done, 2 * total)

    with aside.reading(older=True) as connection:
        return check_integrity(aside.database, connection, advance)
