"""Handling of Ctrl-C and termination signals between items."""

import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, TypeVar

__all__ = ["Interrupts"]

T = TypeVar("T")


class Interrupts:
    """Context manager that delays Ctrl-C and termination signals to a safe moment.

    While `next` or `call` waits for items, a signal raises KeyboardInterrupt. At any other time,
    for example while a model is being saved, the signal is only recorded.

    Attributes
    ----------
    signal : int
        The first signal received, 0 if none was.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._waiting = False
        self._previous_handlers: dict[int, object] = {}

    @property
    def exit_code(self) -> int:
        """Exit code of a process that ended because of the signal."""
        return 128 + self.signal

    def next(self, items: Iterator[T]) -> T | None:
        """Return the next item, or None after the last one; KeyboardInterrupt after a signal."""
        return self.call(_next, items)

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """Return the result of a function that may wait; KeyboardInterrupt after a signal.

        Parameters
        ----------
        function : callable
            The function.
        args : objects
            Its arguments.
        """
        self._waiting = True
        try:
            if self.signal:
                raise KeyboardInterrupt
            return function(*args)
        finally:
            self._waiting = False

    def _record(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous_handlers[number] = signal.signal(number, self._record)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]


def _next(items: Iterator[T]) -> T | None:
    return next(items, None)
