"""Writing lines of a log in a thread, so that no log can stop or fail a request."""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["LogFile", "LogWriter"]

CAPACITY = 10_000
INTERVAL = 0.05
CLOSE_SECONDS = 1.0


class LogWriter:
    """Writes lines in the background.

    If the target fails or is slower than the lines come, lines are lost and counted. Nobody waits.

    Parameters
    ----------
    write : callable
        Writes some lines. It is called by one thread only, and may block or raise.
    on_loss : callable, optional
        Called with a number of lines that are lost.
    capacity : int
        Number of lines that may wait.
    interval : float
        Seconds during which lines are gathered before they are written together.
    """

    def __init__(
        self,
        write: Callable[[Sequence[str]], None],
        on_loss: Callable[[int], None] = lambda count: None,
        *,
        capacity: int = CAPACITY,
        interval: float = INTERVAL,
    ):
        self._write = write
        self._on_loss = on_loss
        self._capacity = capacity
        self._interval = interval
        self._lines: deque[str] = deque()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="access log", daemon=True)
        self._thread.start()

    def add(self, line: str) -> None:
        """Write a line soon. It never blocks and never fails.

        Parameters
        ----------
        line : str
            The line, without a line end.
        """
        if len(self._lines) >= self._capacity:
            self._on_loss(1)
            return
        self._lines.append(line)
        if not self._wake.is_set():
            self._wake.set()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Write the lines that wait.

        Parameters
        ----------
        seconds : float
            How long to wait at most for a target that blocks.
        """
        self._closing.set()
        self._wake.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._closing.wait(self._interval)
            self._wake.clear()
            self._write_waiting()
        self._write_waiting()

    def _write_waiting(self) -> None:
        lines = []
        with suppress(IndexError):
            while True:
                lines.append(self._lines.popleft())
        if not lines:
            return
        try:
            self._write(lines)
        except Exception:  # a full disk or a closed pipe; the next lines may be lucky
            self._on_loss(len(lines))


class LogFile:
    """A file that lines are appended to, readable by its owner only.

    If it has been renamed or removed, as logrotate does, a new file takes its place.

    Parameters
    ----------
    path : str
        The file; OSError if it cannot be opened.
    """

    def __init__(self, path: str):
        self._path = Path(path)
        self._file = self._open()

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __call__(self, lines: Sequence[str]) -> None:
        """Append lines; OSError if they cannot be written."""
        if not self._is_in_place():
            fresh = self._open()
            os.close(self._file)
            self._file = fresh
        data = memoryview("".join(f"{line}\n" for line in lines).encode())
        while data:
            data = data[os.write(self._file, data) :]

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            return False
