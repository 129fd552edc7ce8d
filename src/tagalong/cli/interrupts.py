"""Ctrl-C at a moment that suits: between items, or while waiting for one."""

import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import TypeVar

__all__ = ["Interrupts"]

T = TypeVar("T")


class Interrupts:
    """Notes Ctrl-C and termination signals, so that nothing is left half done.

    A signal that comes while an item is awaited ends the waiting with KeyboardInterrupt. At any
    other time, as while a model is being saved, it is noted and nothing else happens.

    Attributes
    ----------
    signal : int
        The first signal that came, 0 if none did.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._waiting = False
        self._before: dict[int, object] = {}

    @property
    def exit_code(self) -> int:
        """What a process that was ended by the signal returns."""
        return 128 + self.signal

    def next(self, items: Iterator[T]) -> T | None:
        """Return the next item, or None after the last one."""
        self._waiting = True
        try:
            if self.signal:
                raise KeyboardInterrupt
            return next(items, None)
        finally:
            self._waiting = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
