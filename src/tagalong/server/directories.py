"""Where the workspaces of a server are: in a folder, by name."""

import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tagalong.files.lock import exclusive_lock
from tagalong.journal import ConflictError, JournalError, NotFoundError, RefusedError, Workspace
from tagalong.journal.storage import FolderStorage, Storage, journal_path

__all__ = ["DEFAULT", "Directory", "FolderDirectory", "check_removable", "checked_name"]

DEFAULT = "default"
"""The workspace that is always there."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def checked_name(name: str) -> str:
    """Return the name of a workspace; RefusedError unless it can be one.

    Parameters
    ----------
    name : str
        The name.
    """
    if not NAME.fullmatch(name):
        raise RefusedError(
            f"the name of a workspace must have 1 to 63 characters from a-z, 0-9, _ and -, and "
            f"begin with a letter or a digit, got {name[:80]!r}"
        )
    return name


def check_removable(name: str) -> None:
    """Raise ConflictError if a workspace must stay.

    Parameters
    ----------
    name : str
        Its name.
    """
    if name == DEFAULT:
        raise ConflictError("the default workspace cannot be removed")


class Directory(Protocol):
    """The workspaces of a server."""

    @property
    def is_shared(self) -> bool:
        """Whether other servers have the same workspaces, each of which one server holds."""

    def names(self) -> list[str]:
        """Return the names of all workspaces."""

    def exists(self, name: str) -> bool:
        """Whether there is a workspace with this name."""

    def open(self, name: str, on_problem: Callable[[JournalError], None]) -> Workspace:
        """Open a workspace for writing; the default one is made if it does not exist."""

    def storage(self, name: str) -> Storage:
        """Return where a workspace is stored; it need not exist."""

    def create(self, name: str) -> None:
        """Make a workspace; ConflictError if there is one."""

    def remove(self, name: str) -> None:
        """Remove a closed workspace for good."""


class FolderDirectory:
    """Workspaces in a folder: the folder itself is the default one.

    Parameters
    ----------
    folder : path
        The folder; it is made if it does not exist.
    wait : float
        Number of seconds to wait for another process that has a workspace open.

    Attributes
    ----------
    is_shared : bool
        False: one server has all of them.
    """

    is_shared = False

    def __init__(self, folder: Path, wait: float = 0.0):
        self.folder = folder
        self._wait = wait

    def path(self, name: str) -> Path:
        """Return the folder of a workspace."""
        checked_name(name)
        return self.folder if name == DEFAULT else self.folder / "workspaces" / name

    def storage(self, name: str) -> FolderStorage:
        """Return where a workspace is stored; it need not exist.

        Parameters
        ----------
        name : str
            Its name.
        """
        return FolderStorage(self.path(name))

    def names(self) -> list[str]:
        """Return the names of all workspaces, the default one first."""
        others = self.folder / "workspaces"
        found = [each.name for each in others.iterdir()] if others.is_dir() else []
        return [DEFAULT, *sorted(name for name in found if name != DEFAULT and self.exists(name))]

    def exists(self, name: str) -> bool:
        """Whether there is a workspace with this name."""
        if name == DEFAULT:
            return True
        return bool(NAME.fullmatch(name)) and journal_path(self.path(name)).exists()

    def open(self, name: str, on_problem: Callable[[JournalError], None]) -> Workspace:
        """Open a workspace for writing; the default one is made if it does not exist.

        Parameters
        ----------
        name : str
            Its name.
        on_problem : callable
            Called with problems that are survived.
        """
        if not self.exists(name):
            raise NotFoundError(f"there is no workspace {name!r}")
        return Workspace(
            self.path(name),
            create=name == DEFAULT,
            command="tagalong serve",
            wait=self._wait,
            on_problem=on_problem,
        )

    def create(self, name: str) -> None:
        """Make a workspace; ConflictError if there is one.

        Parameters
        ----------
        name : str
            Its name.
        """
        if self.exists(checked_name(name)):
            raise ConflictError(f"there is a workspace {name!r} already")
        self.path(name).parent.mkdir(mode=0o700, exist_ok=True)
        Workspace(self.path(name), command="tagalong serve").close()

    def remove(self, name: str) -> None:
        """Remove a workspace that nobody has open, for good.

        Parameters
        ----------
        name : str
            Its name; the default one cannot be removed.
        """
        check_removable(name)
        if not self.exists(name):
            raise NotFoundError(f"there is no workspace {name!r}")
        path = self.path(name)
        with exclusive_lock(journal_path(path), command="tagalong serve", what="workspace"):
            # Another name first: a crash in between leaves no workspace in parts.
            aside = path.with_name(f".removed-{uuid.uuid4()}")
            path.rename(aside)
        shutil.rmtree(aside)
