"""Deferred handling of Ctrl-C."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["deferred_interrupt"]


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
