"""Where a workspace is stored: its journal, its snapshots, its lock, its limits."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from tagalong.files.lock import exclusive_lock
from tagalong.files.new_folder import is_absent_or_empty, new_folder
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.connection import Connection, Database
from tagalong.journal.database import SqliteDatabase, connect
from tagalong.journal.errors import NotFoundError, RefusedError, StorageError
from tagalong.journal.limits import Limits, read_limits
from tagalong.journal.settings import Settings
from tagalong.journal.snapshots import Snapshots

__all__ = [
    "FolderStorage",
    "NewStorage",
    "Place",
    "Storage",
    "existing_storage",
    "is_url",
    "journal_path",
    "snapshots_of",
    "storage_of",
]

_POSTGRES = ("postgresql://", "postgres://")


@runtime_checkable
class Storage(Protocol):
    """The place of one workspace."""

    @property
    def name(self) -> str:
        """The name of the place, for messages."""

    @property
    def database(self) -> Database:
        """The journal."""

    @property
    def snapshots(self) -> Snapshots:
        """The snapshots."""

    def exists(self) -> bool:
        """Whether there is a workspace."""

    def lock(
        self, *, command: str, wait: float, on_wait: Callable[[str], None] | None
    ) -> AbstractContextManager[None]:
        """Make the place if it does not exist, and keep other writers out during the block.

        Parameters
        ----------
        command : str
            Who takes the lock, for the message that others get.
        wait : float
            Number of seconds to wait for the present holder; then BusyError.
        on_wait : callable, optional
            Called once when the wait begins, with the words for the holder.
        """

    def limits(self, settings: Settings) -> Limits:
        """Return how the workspace is operated.

        Parameters
        ----------
        settings : Settings
            The present settings of the journal; RefusedError if something contradicts them.
        """

    def sizes(self) -> dict[str, int]:
        """Return how many bytes the "journal" and the "snapshots" take."""

    def check_free(self, what: str) -> None:
        """Raise RefusedError unless a workspace can be made here.

        Parameters
        ----------
        what : str
            Either "workspace" or "backup", for the message.
        """

    def reading(self, *, older: bool = False) -> AbstractContextManager[Connection]:
        """Lend a connection that reads.

        Parameters
        ----------
        older : bool
            Whether the journal may have an older version.
        """

    def made(self) -> AbstractContextManager["NewStorage"]:
        """Let the block fill a new workspace, which appears if the block ends without an error."""


class NewStorage(Protocol):
    """A workspace that is being copied."""

    @property
    def database(self) -> Database:
        """The journal."""

    @property
    def snapshots(self) -> Snapshots:
        """The snapshots."""

    def writing(self) -> AbstractContextManager[Connection]:
        """Lend a connection, within a transaction, whose tables exist."""

    def reading(self, *, older: bool = False) -> AbstractContextManager[Connection]:
        """Lend a connection that sees what was written.

        Parameters
        ----------
        older : bool
            Whether the journal may have an older version.
        """

    def sizes(self) -> dict[str, int]:
        """Return how many bytes the parts take."""


Place: TypeAlias = str | os.PathLike[str] | Storage
"""A folder, a URL (``postgresql://HOST/DATABASE?workspace=NAME``), or a storage."""


def journal_path(folder: str | os.PathLike[str]) -> Path:
    """Return the database of a workspace in a folder."""
    return Path(folder) / "journal.sqlite"


def snapshots_of(folder: str | os.PathLike[str]) -> Snapshots:
    """Return the snapshots of a workspace in a folder."""
    return Snapshots(Path(folder) / "snapshots")


class FolderStorage:
    """A workspace in a folder: SQLite, snapshots as files, settings.toml, a lock of the kernel.

    Parameters
    ----------
    folder : str or path
        The folder; it need not exist.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self.database: Database = SqliteDatabase(journal_path(folder))
        self.snapshots = snapshots_of(folder)

    @property
    def name(self) -> str:
        """The folder."""
        return unicode_path(self.folder)

    def exists(self) -> bool:
        """Whether there is a database."""
        return journal_path(self.folder).exists()

    @contextmanager
    def lock(
        self, *, command: str, wait: float, on_wait: Callable[[str], None] | None
    ) -> Iterator[None]:
        """Make the folder, readable by its owner only, and lock it."""
        with _file_errors(self.folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = exclusive_lock(
                journal_path(self.folder),
                command=command,
                wait=wait,
                on_wait=on_wait,
                what="workspace",
            )
            with lock:
                yield

    def limits(self, settings: Settings) -> Limits:
        """Return the limits in settings.toml."""
        return read_limits(self.folder, settings)

    def sizes(self) -> dict[str, int]:
        """Return the sizes of files."""
        path = journal_path(self.folder)
        journal = sum(_size(path.with_name(f"{path.name}{end}")) for end in ("", "-wal", "-shm"))
        folder = self.snapshots.folder
        files = folder.iterdir() if folder.is_dir() else ()
        return {"journal": journal, "snapshots": sum(_size(each) for each in files)}

    def check_free(self, what: str) -> None:
        """Raise RefusedError unless there is nothing, or an empty folder."""
        if is_absent_or_empty(self.folder):
            return
        if what == "workspace" and self.exists():
            raise RefusedError(f"{self.name}: there is a workspace here; move it away first")
        raise RefusedError(
            f"{self.name}: there is something here already; the {what} needs a new folder"
        )

    @contextmanager
    def made(self) -> Iterator["FolderStorage"]:
        """Let the block fill a folder, which gets its name at the end."""
        with new_folder(self.folder) as aside:
            yield FolderStorage(aside)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection that writes."""
        with closing(self.database.connect()) as connection:
            self.database.begin_writing(connection)
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def reading(self, *, older: bool = False) -> Iterator[Connection]:
        """Lend a connection that reads, also a journal of an older version if asked to."""
        connection = connect(journal_path(self.folder), read_only=True, older=older)
        with closing(connection):
            yield connection


def is_url(place: object) -> bool:
    """Whether a workspace is named by a URL, and so is not in a folder.

    Parameters
    ----------
    place : object
        The workspace.
    """
    return isinstance(place, str) and place.startswith(_POSTGRES)


def storage_of(place: Place) -> Storage:
    """Return where a workspace is stored; it need not exist.

    Parameters
    ----------
    place : str, path or Storage
        The workspace.
    """
    if isinstance(place, str) and is_url(place):
        from tagalong.journal.postgres.storage import PostgresStorage

        return PostgresStorage.from_url(place)
    if isinstance(place, (str, os.PathLike)):
        return FolderStorage(place)
    return place


def existing_storage(place: Place) -> Storage:
    """Return where a workspace is stored; NotFoundError if there is none.

    Parameters
    ----------
    place : str, path or Storage
        The workspace.
    """
    storage = storage_of(place)
    if not storage.exists():
        raise NotFoundError(f"{storage.name}: there is no workspace here")
    return storage


@contextmanager
def _file_errors(folder: Path) -> Iterator[None]:
    """Turn errors of files, such as the lock, into errors of the workspace that name the file."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        name = unicode_path(error.filename or folder)
        raise StorageError(error.errno, error.strerror, name) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
