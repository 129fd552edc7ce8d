"""Connections for threads that read while another one writes."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tagalong.journal.reader import JournalReader

__all__ = ["ReaderPool"]

MAX_IDLE = 8


class ReaderPool:
    """Lends connections to a journal; a few are kept open.

    Parameters
    ----------
    path : path
        The database.
    """

    def __init__(self, path: Path):
        self._path = path
        self._idle: queue.LifoQueue[JournalReader] = queue.LifoQueue(MAX_IDLE)

    @contextmanager
    def lend(self) -> Iterator[JournalReader]:
        """Lend a connection for the block. All that it reads is one state of the journal."""
        try:
            reader = self._idle.get_nowait()
        except queue.Empty:
            reader = JournalReader(self._path)
        try:
            with reader.view():
                yield reader
        except BaseException:
            reader.close()
            raise
        try:
            self._idle.put_nowait(reader)
        except queue.Full:
            reader.close()

    def close(self) -> None:
        """Close the connections that are not lent."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return
