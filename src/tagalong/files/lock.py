"""Locks of model files: one process at a time may change a model.

The lock of "m.tagalong" is a lock of the kernel on the file "m.tagalong.lock", which ends with the
process that holds it. The file says who that is. The holder removes it at the end; therefore a
process that gets the lock of a file checks that the file still has its name.
"""

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from tagalong.files.links import link_target
from tagalong.files.unicode_paths import unicode_path

__all__ = ["BusyError", "LockHolder", "exclusive_lock"]

_SECONDS_BETWEEN_TRIES = 0.05
_MAX_TEXT = 1000
_MAX_COMMAND = 60


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that holds a lock, as it describes itself in the lock file.

    Parameters
    ----------
    pid : int
        Its process id.
    command : str
        Name of the command, without unprintable characters.
    since : datetime
        When it took the lock.
    """

    pid: int
    command: str
    since: datetime

    def __str__(self) -> str:
        since = self.since.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"process {self.pid} ({self.command}), since {since}"

    def to_json(self) -> str:
        """Return the text of the lock file."""
        return json.dumps(
            {"pid": self.pid, "command": self.command, "since": self.since.isoformat()}
        )

    @classmethod
    def from_json(cls, text: bytes) -> "LockHolder":
        """Return the holder from the text of a lock file; raise ValueError if there is none.

        Parameters
        ----------
        text : bytes
            The text. Anybody who may write the file can have written it.
        """
        try:
            saved = json.loads(text)
            pid, command, since = saved["pid"], saved["command"], saved["since"]
            when = datetime.fromisoformat(since).astimezone(UTC)
        except (KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(f"not the text of a lock file: {error!r}") from error
        if type(pid) is not int or not 0 < pid < 1 << 32 or not isinstance(command, str):
            raise ValueError("not the text of a lock file")
        return cls(pid, ascii(command[:_MAX_COMMAND])[1:-1], when)


class BusyError(RuntimeError):
    """Another process holds the lock of a model or a workspace.

    Parameters
    ----------
    lock : path
        The lock file.
    holder : LockHolder, optional
        The process that holds the lock; None if the file does not say.
    waited : float
        Number of seconds that this process has waited.
    what : str
        What is locked, for the message.

    Attributes
    ----------
    holder : LockHolder or None
        The process that holds the lock.
    address : str
        Where requests for it can be sent instead; "" if that is nowhere.
    """

    address = ""

    def __init__(self, lock: Path, holder: LockHolder | None, waited: float, what: str = "model"):
        self.holder = holder
        after = f"; waited {waited:g} s for it" if waited else ""
        super().__init__(f"{unicode_path(lock)}: this {what} is in use by {_who(holder)}{after}")

    def held_seconds(self, now: datetime) -> float:
        """Return for how many seconds the lock has been held; infinity if that is not known.

        Parameters
        ----------
        now : datetime
            The present time.
        """
        # A time in the future comes from a clock that was wrong. It must not look like a moment.
        return inf if self.holder is None else abs((now - self.holder.since).total_seconds())


def _who(holder: LockHolder | None) -> str:
    return "another process" if holder is None else str(holder)


@contextmanager
def exclusive_lock(
    model: str | os.PathLike[str],
    *,
    command: str,
    wait: float = 0.0,
    on_wait: Callable[[str], None] | None = None,
    what: str = "model",
) -> Iterator[None]:
    """Lock a model file against other processes that change it.

    Parameters
    ----------
    model : str or path
        Model file; it need not exist. The lock file is in the same folder and has the suffix
        ".lock". All symbolic links to a model share the lock of the model.
    command : str
        Name of the command that takes the lock, which others are told.
    wait : float
        Number of seconds to wait for another process that holds the lock.
    on_wait : callable, optional
        Called once, when the wait begins, with the words for the process that holds the lock:
        "process 77 (tagalong file), since 2026-01-31 12:00:00 UTC".
    what : str
        What is locked, for messages.

    Raises
    ------
    BusyError
        If another process holds the lock for all that time.
    OSError
        If the lock file cannot be opened. The message says why, and how to remedy it.
    """
    target = link_target(model)
    path = target.with_name(f"{target.name}.lock")
    descriptor = _locked_file(path, wait, on_wait, what)
    process = os.getpid()
    try:
        _write_holder(descriptor, LockHolder(os.getpid(), command, datetime.now(UTC)))
        yield
    finally:
        with suppress(OSError):
            # A process made by fork has a copy of the lock, which belongs to its parent.
            if process == os.getpid() and _has_name(descriptor, path):
                os.unlink(path)
        os.close(descriptor)


def _locked_file(path: Path, wait: float, on_wait: Callable[[str], None] | None, what: str) -> int:
    """Return the descriptor of a lock file after this process has got its lock."""
    start = time.monotonic()
    while True:
        descriptor = _open(path)
        try:
            is_locked = _try_lock(descriptor, path)
            if is_locked and _has_name(descriptor, path):
                return descriptor
            if not is_locked and time.monotonic() - start >= wait:
                raise BusyError(path, _read_holder(descriptor), wait, what)
            if not is_locked and on_wait is not None:
                on_wait(_who(_read_holder(descriptor)))
                on_wait = None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not is_locked:
            time.sleep(min(wait, _SECONDS_BETWEEN_TRIES))


def _open(path: Path) -> int:
    """Open or create a lock file. Its name could be a link that somebody has placed there."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        problem = _problem(path, error)
        if problem is None:
            raise
        raise OSError(error.errno, problem, os.fspath(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "the lock file must be a regular file", os.fspath(path))
    return descriptor


def _problem(path: Path, error: OSError) -> str | None:
    """Return why a lock file cannot be opened and what to do; None if the error says enough."""
    if error.errno == errno.ELOOP:
        return "the lock file must not be a symbolic link: remove it"
    if error.errno == errno.EISDIR:
        return "the lock file must be a regular file, but this is a folder: remove or rename it"
    if error.errno == errno.ENAMETOOLONG:
        return "the name of the lock file is too long: give the model a shorter name"
    if isinstance(error, PermissionError) and _is_of_another_user(path):
        return (
            "the lock file belongs to another user, who may be using the model: wait until it is "
            "gone; remove it only if nobody uses the model"
        )
    return None


def _is_of_another_user(path: Path) -> bool:
    try:
        return path.lstat().st_uid != os.geteuid()
    except OSError:
        return False


def _try_lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    return True


def _has_name(descriptor: int, path: Path) -> bool:
    """Whether an open file still has its name; another process may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _write_holder(descriptor: int, holder: LockHolder) -> None:
    """Say in a lock file who holds the lock. The lock holds without that, as on a full disk."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.to_json().encode(), 0)


def _read_holder(descriptor: int) -> LockHolder | None:
    """Return who holds a lock; None if the file does not say that."""
    for _ in range(3):
        with suppress(ValueError, OSError):
            return LockHolder.from_json(os.pread(descriptor, _MAX_TEXT, 0))
        time.sleep(_SECONDS_BETWEEN_TRIES)  # the holder may be about to write it
    return None
