"""Lines that another process writes, each waited for no longer than `TIMEOUT`."""

import os
import select
import time
from typing import IO

from tests.timeouts import TIMEOUT


class Lines:
    """Reads the lines of a pipe, which nobody else reads.

    Parameters
    ----------
    pipe : file
        The pipe.
    name : str
        The process that writes, for messages.
    """

    def __init__(self, pipe: IO[bytes], name: str):
        self._pipe = pipe
        self._name = name
        self._data = b""

    def is_ready(self) -> bool:
        """Whether there is something to read, without waiting."""
        return bool(self._data or select.select([self._pipe], [], [], 0.0)[0])

    def next(self) -> str:
        """Return the next line; "" if the process has ended."""
        until = time.monotonic() + TIMEOUT
        while b"\n" not in self._data:
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"{self._name} writes nothing; so far: {self._data!r}"
            piece = os.read(self._pipe.fileno(), 1 << 16)
            if not piece:
                break
            self._data += piece
        line, separator, self._data = self._data.partition(b"\n")
        return (line + separator).decode()
