"""What protects a run: one at a time, and Ctrl-C only between two messages."""

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
    """Another run is at work on the same model."""


@contextmanager
def exclusive_lock(model: Path) -> Iterator[None]:
    """Keep other runs away from a model file.

    The lock is the kernel's, so it goes with the process. Its file stays: to remove one that
    somebody else may just have opened would let two runs in.

    Parameters
    ----------
    model : path
        The model file; the lock is beside it.
    """
    path = model.with_name(f"{model.name}.lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"{printable_path(path)}: another run is at work on this Maildir; wait until it has ended"
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C wait for the end of a step; yields a function that says whether it came.

    A second Ctrl-C raises KeyboardInterrupt at once. In threads other than the main one, and
    where Ctrl-C is ignored, nothing changes.
    """
    came = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before):
        yield came.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        if came.is_set():
            raise KeyboardInterrupt
        came.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGINT, before)
