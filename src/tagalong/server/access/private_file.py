"""Small files with secrets, which only their owner may read."""

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["PrivateFile", "read_private"]

_MAX_BYTES = 1 << 20
_RIGHTS_OF_OTHERS = 0o077
_SECONDS_OF_DOUBT = 2.0


class PrivateFile:
    """A file with secrets that is looked at often: it is read again if it has changed.

    The times of a file do not show two changes within a tick of the clock. Therefore a file that
    was changed a moment ago is read every time.

    Parameters
    ----------
    path : path
        The file.
    on_problem : callable
        As for `read_private`.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self,
        path: Path,
        on_problem: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ):
        self._path = path
        self._on_problem = on_problem
        self._clock = clock
        self._seen: tuple[int, ...] | None = None
        self._contents: bytes | None = None

    def read(self) -> bytes | None:
        """Return the contents; None if there is no such file."""
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return None
        seen = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        is_settled = abs(self._clock() - status.st_ctime) > _SECONDS_OF_DOUBT
        if seen != self._seen or not is_settled:
            self._contents = read_private(self._path, self._on_problem)
            self._seen = seen
        return self._contents


def read_private(path: Path, on_problem: Callable[[str], None]) -> bytes | None:
    """Return the contents of a file with secrets; None if there is no such file.

    Volumes that are mounted with a group, and restored backups, make files readable by others. If
    the server refused to start because of that, people would lose their service. Therefore the
    rights of others are taken away, and the owner is told.

    Parameters
    ----------
    path : path
        The file. OSError if others may use it and that cannot be changed.
    on_problem : callable
        Called with a sentence if others could use the file until now.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "must be a regular file", os.fspath(path))
        if status.st_mode & _RIGHTS_OF_OTHERS:
            _make_private(descriptor, path)
            on_problem(
                f"{path}: other users could open this file (mode {stat.S_IMODE(status.st_mode):o});"
                " now only its owner can. If somebody may have read it, replace its tokens: "
                "'tagalong token renew', or 'tagalong token remove' and 'add'"
            )
        if status.st_size > _MAX_BYTES:
            raise OSError(errno.EFBIG, f"has more than {_MAX_BYTES:,} bytes", os.fspath(path))
        return os.read(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _make_private(descriptor: int, path: Path) -> None:
    """Take the rights of others away; OSError if that is not possible."""
    problem = "other users can open this file, and its mode cannot be changed: run chmod 600 as "
    problem += "its owner, or keep it on a file system with permissions"
    try:
        os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o700)
    except OSError as error:
        raise OSError(error.errno, problem, os.fspath(path)) from error
    if os.fstat(descriptor).st_mode & _RIGHTS_OF_OTHERS:
        raise OSError(errno.EPERM, problem, os.fspath(path))
