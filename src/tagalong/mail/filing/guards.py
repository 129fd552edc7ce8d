"""Guards of a filing run: a lock against concurrent runs, and deferred handling of Ctrl-C."""

import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tagalong.mail.filing.results import printable_path

__all__ = ["BusyError", "deferred_interrupt", "exclusive_lock"]


class BusyError(RuntimeError):
    """Another run uses the same model."""


@contextmanager
def exclusive_lock(model: Path) -> Iterator[None]:
    """Lock a model file against other runs.

    The kernel holds the lock and releases it when the process ends. The lock file is never
    deleted: if another run has just opened it, deletion would allow two runs at once.

    Parameters
    ----------
    model : path
        Model file. The lock file is in the same folder and has the suffix ".lock".
    """
    path = model.with_name(f"{model.name}.lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"{printable_path(path)}: another run has locked this model; wait until it ends"
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Record Ctrl-C instead of raising; yield a function that returns whether it was pressed.

    A second Ctrl-C raises KeyboardInterrupt at once. Signal handling is unchanged in threads other
    than the main thread, and if the process ignores Ctrl-C.
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before):
        yield pressed.is_set
        return

    def record(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, record)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
