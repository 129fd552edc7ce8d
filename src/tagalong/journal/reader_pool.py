"""Connections for threads that read while another one writes."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager

from tagalong.journal.connection import Database
from tagalong.journal.reader import JournalReader

__all__ = ["ReaderPool"]


class ReaderPool:
    """Lends connections to a journal; a few are kept open.

    Parameters
    ----------
    database : Database
        The journal.
    """

    def __init__(self, database: Database):
        self._database = database
        self._idle: queue.LifoQueue[JournalReader] = queue.LifoQueue(database.most_idle)

    @contextmanager
    def lend(self) -> Iterator[JournalReader]:
        """Lend a connection for the block. All that it reads is one state of the journal."""
        try:
            reader = self._idle.get_nowait()
        except queue.Empty:
            reader = JournalReader(self._database)
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
