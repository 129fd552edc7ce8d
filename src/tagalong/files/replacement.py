"""Files that are replaced in one step: a reader sees the old contents or the new ones.

The new contents go to a temporary file in the same folder, which is then renamed. The temporary
file is locked while it is written. If the process is killed, the kernel releases the lock, and the
next replacement of the same file removes what is left.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from tagalong.files.links import link_target
from tagalong.files.named_errors import naming_errors, open_named

__all__ = ["Replacement", "remove_abandoned_files", "replacing", "sync_folder"]

_PREFIX = ".tagalong-"
_SUFFIX = ".tmp"
_PRIVATE = 0o600
_SHARED = 0o666  # the kernel subtracts the umask
# Errors of file systems that cannot sync a folder.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EBADF)


@contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` if the block ends without an error.

    Parameters
    ----------
    path : str or path
        The file, as for `Replacement`.
    private : bool
        Whether a new file is readable by its owner only.
    """
    with Replacement(path, private=private) as replacement:
        yield replacement.file
        replacement.commit()


class Replacement:
    """A temporary file that takes the place of a file.

    A file that exists keeps its mode and, where the system allows it, its owner and group. A
    symbolic link stays: the file that it names is replaced. Other names of the file (hard links)
    keep the old contents.

    Parameters
    ----------
    path : str or path
        The file to replace or create. OSError unless it is a regular file or does not exist.
    private : bool
        Whether a new file is readable by its owner only. Otherwise the umask decides.

    Attributes
    ----------
    file : binary file
        Where to write. Its errors name the file that is replaced.
    """

    def __init__(self, path: str | os.PathLike[str], *, private: bool = False):
        self._name = os.fspath(path)
        self._is_complete = self._is_renamed = False
        with naming_errors(self._name):
            self._target = link_target(path)
            self._replaced = _status(self._target)
            _remove_abandoned(self._target)
            is_open = not private and self._replaced is None
            self._temporary, descriptor = _create(self._target, _SHARED if is_open else _PRIVATE)
        self.file = open_named(descriptor, self._name)

    def complete(self) -> None:
        """Store the contents safely in the temporary file, with the mode of the replaced file."""
        if self._is_complete:
            return
        self.file.flush()
        with naming_errors(self._name):
            if self._replaced is not None:
                _copy_owner_and_mode(self._replaced, self.file.fileno())
            os.fsync(self.file.fileno())
        self._is_complete = True

    def commit(self) -> None:
        """Put the file in its place. It is still there after a power failure."""
        self.complete()
        with naming_errors(self._name):
            os.replace(self._temporary, self._target)
            self._is_renamed = True
            self.file.close()  # not earlier, as that releases the lock
            sync_folder(self._target.parent)

    def discard(self) -> None:
        """Remove the temporary file, unless it has been put in its place."""
        if not self._is_renamed:
            with suppress(OSError):
                os.unlink(self._temporary)
        with suppress(OSError):  # what cannot be written is not wanted
            self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def _status(target: Path) -> os.stat_result | None:
    """Return the status of the file to replace; None if there is none."""
    try:
        found = os.stat(target, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder; it must be the path of a file")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file, so it cannot be replaced")
    return found


def _prefix(target: Path) -> str:
    """Return how the names of a file's temporary files begin.

    It is a digest, because a name may already be as long as the file system allows.
    """
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return f"{_PREFIX}{digest}-"


def _create(target: Path, mode: int) -> tuple[Path, int]:
    """Create and lock a temporary file; return its path and its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        path = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}{_SUFFIX}")
        descriptor = os.open(path, flags, mode)
        try:
            with suppress(OSError):  # a file system without locks, where nothing is swept up
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return path, descriptor
        except BaseException:
            os.close(descriptor)
            with suppress(OSError):
                os.unlink(path)
            raise
        # Another process took the file for an abandoned one before it was locked.
        os.close(descriptor)


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of a target that no living process writes."""
    remove_abandoned_files(target.parent, _prefix(target))


def remove_abandoned_files(folder: Path, prefix: str = _PREFIX) -> None:
    """Remove temporary files of killed processes.

    Parameters
    ----------
    folder : path
        The folder.
    prefix : str
        How their names begin; by default all that this module makes.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_temporary = entry.name.startswith(prefix) and entry.name.endswith(_SUFFIX)
            if is_temporary and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # locked: another process writes it
                    _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


def _copy_owner_and_mode(source: os.stat_result, descriptor: int) -> None:
    """Give a file the owner, group and permissions of another one, where the system allows it."""
    for owner, group in ((-1, source.st_gid), (source.st_uid, -1)):
        with suppress(OSError):
            os.fchown(descriptor, owner, group)
    permissions = stat.S_IMODE(source.st_mode) & 0o777
    if os.fstat(descriptor).st_gid != source.st_gid:
        # These rights were meant for another group; this one gets those of everybody.
        permissions = permissions & 0o707 | (permissions & 0o007) << 3
    os.fchmod(descriptor, permissions)


def sync_folder(folder: Path) -> None:
    """Store the entries of a folder safely, if the file system can do that.

    Parameters
    ----------
    folder : path
        The folder.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:  # a folder that may be written, but not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)
