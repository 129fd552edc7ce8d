"""Backups of a workspace, made while it is in use, and restored into a new folder.

A backup has the journal, the newest snapshot that belongs to it, and settings.toml. It is a
workspace itself, which can be verified, shown and exported.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tagalong.files.new_folder import is_absent_or_empty, new_folder
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.database import connect, database_errors
from tagalong.journal.errors import (
    DamagedError,
    JournalError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from tagalong.journal.integrity import Integrity, OnProgress, check_integrity, one_view
from tagalong.journal.limits import NAME as SETTINGS
from tagalong.journal.reader import JournalReader, Snapshot
from tagalong.journal.view import journal_path, snapshots_of

__all__ = ["Copy", "back_up", "restore"]

PAGES_AT_ONCE = 1024
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a workspace.

    Parameters
    ----------
    folder : path
        The folder of the copy.
    events : int
        Number of events.
    bytes : int
        Size of all files.
    snapshot : int or None
        The last event of the snapshot in the copy; None if there is no snapshot.
    problems : list of str
        Damage of a backup that was restored nevertheless.
    """

    folder: Path
    events: int
    bytes: int
    snapshot: int | None
    problems: list[str]


def back_up(
    folder: str | os.PathLike[str],
    target: str | os.PathLike[str],
    progress: OnProgress | None = None,
) -> Copy:
    """Copy a workspace as it is at this moment, also while another process writes it.

    The copy is checked: the database, every event and every content.

    Parameters
    ----------
    folder : str or path
        The workspace; NotFoundError if there is none.
    target : str or path
        The new folder. RefusedError if it exists and is not empty. It is complete or does not
        exist, and only its owner may read it.
    progress : callable, optional
        Called now and then with the number of steps done, and the number of all steps.

    Raises
    ------
    DamagedError
        If the journal is damaged. The message says what is damaged, and there is no copy.
    """
    _check_target(Path(target), "backup")
    with _copied(Path(folder), Path(target), progress) as (copy, found, _):
        if found.problems:
            raise DamagedError(
                f"{unicode_path(folder)}: no backup was made, because the workspace is damaged: "
                f"{_in_short(found)}"
            )
    return copy


def restore(
    backup: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: OnProgress | None = None,
) -> Copy:
    """Make a workspace from a backup. The backup stays as it is.

    Parameters
    ----------
    backup : str or path
        The backup; NotFoundError if there is none.
    folder : str or path
        The new workspace. RefusedError if the folder exists and is not empty.
    force : bool, default False
        Whether to restore a damaged backup. Otherwise the damage is listed in a DamagedError.
    progress : callable, optional
        Called now and then with the number of steps done, and the number of all steps.
    """
    _check_target(Path(folder), "workspace")
    with _copied(Path(backup), Path(folder), progress) as (copy, found, aside):
        if found.problems and not force:
            raise DamagedError(
                f"{unicode_path(backup)}: the backup is damaged, and was not restored: "
                f"{_in_short(found)}"
            )
        _set_journal_mode(aside, "WAL")
    return copy


def _check_target(target: Path, what: str) -> None:
    """Raise RefusedError unless a folder can be made."""
    if is_absent_or_empty(target):
        return
    name = unicode_path(target)
    if what == "workspace" and journal_path(target).exists():
        raise RefusedError(f"{name}: there is a workspace here; move it away first")
    raise RefusedError(f"{name}: there is something here already; the {what} needs a new folder")


def _in_short(found: Integrity) -> str:
    problems = found.problems
    more = len(problems) - MOST_NAMED
    return "; ".join(problems[:MOST_NAMED]) + (f"; and {more:,} more" if more > 0 else "")


@contextmanager
def _copied(
    source: Path, target: Path, progress: OnProgress | None
) -> Iterator[tuple[Copy, Integrity, Path]]:
    """Copy and check a workspace; the copy is kept if the block ends without an error."""
    path = journal_path(source)
    if not path.exists():
        raise NotFoundError(f"{unicode_path(source)}: there is no workspace here")
    try:
        with new_folder(target) as aside:
            with (
                closing(connect(path, read_only=True)) as connection,
                one_view(path, connection),
            ):
                reader = JournalReader(path, connection)
                seq = _copy_all(source, aside, reader, connection, progress)
            found = _checked(aside, progress)
            size = sum(each.stat().st_size for each in aside.rglob("*") if each.is_file())
            yield Copy(target, found.events, size, seq, found.problems), found, aside
    except JournalError:
        raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            raise StorageError(f"{unicode_path(target)}: the disk is full") from error
        with database_errors(path):
            raise
    except OSError as error:
        raise StorageError(error.errno, error.strerror, unicode_path(target)) from error


def _copy_all(
    source: Path,
    aside: Path,
    reader: JournalReader,
    connection: sqlite3.Connection,
    progress: OnProgress | None,
) -> int | None:
    """Copy a workspace into an empty folder; return the last event of the copied snapshot."""
    path = journal_path(aside)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def advance(status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, 2 * total)

    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous = OFF")  # the folder is synced when it is complete
        connection.backup(copy, pages=PAGES_AT_ONCE, progress=advance)
    # A database with a rollback journal can be read from a read-only disk.
    _set_journal_mode(aside, "DELETE")
    snapshot = _copied_snapshot(source, aside, reader)
    _list_only(aside, "" if snapshot is None else snapshot.name)
    if (source / SETTINGS).exists():
        _copy_file(source / SETTINGS, aside / SETTINGS)
    return None if snapshot is None else snapshot.seq


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


def _copied_snapshot(source: Path, aside: Path, reader: JournalReader) -> Snapshot | None:
    """Copy the newest sound snapshot that belongs to a journal; return None if there is none."""
    snapshots, copies = snapshots_of(source), snapshots_of(aside)
    try:
        usable = list(snapshots.usable(reader))
    except DamagedError:
        return None  # the check reports a damaged list
    for snapshot in usable:
        copies.folder.mkdir(mode=0o700, exist_ok=True)
        path = copies.path(snapshot)
        try:
            _copy_file(snapshots.path(snapshot), path)
            copies.load(snapshot)
        except (FileNotFoundError, DamagedError):  # removed meanwhile, or not sound
            path.unlink(missing_ok=True)
        else:
            return snapshot
    return None


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as old:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as new:
            shutil.copyfileobj(old, new)


def _checked(folder: Path, progress: OnProgress | None) -> Integrity:
    """Check the database, the events and the contents of a copy."""
    path = journal_path(folder)

    def advance(done: int, total: int) -> None:
        if progress is not None:
            progress(total + done, 2 * total)

    with closing(connect(path, read_only=True)) as connection:
        return check_integrity(path, connection, advance)
