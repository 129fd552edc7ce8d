"""Reading of items, and of their features, in a thread that runs ahead of learning.

Learning takes place in native code, which does not hold the GIL, so a second core can parse and
extract features meanwhile. The thread changes nothing that is saved: words are learnt, and items,
errors and links are counted, when the item is taken.
"""

import sys
from collections.abc import Iterator
from queue import Queue
from threading import Event, Thread
from types import TracebackType
from typing import NamedTuple

from tagalong.learning.items import Item
from tagalong.readers.stream import Stream
from tagalong.text import TextFeatures
from tagalong.text.rows_ahead import RowsAhead, RowsAheadPart

__all__ = ["AheadBatch", "ReadingAhead"]

BLOCK = 128
"""Maximum number of items that are read together."""
BLOCK_CHARACTERS = 1 << 20
BLOCKS_AHEAD = 2
"""Number of blocks that wait to be taken; one more is being read."""
SWITCH_SECONDS = 5e-4
"""How long a thread waits for the GIL before it asks for it. Native calls of the learning thread
are short; with the default of 5 ms it would often wait. With a tenth of this, threads switch so
often that a file of JSON lines takes a quarter longer."""


class Counts(NamedTuple):
    """The counts of a stream when an item is read.

    Parameters
    ----------
    skipped, errors, links : int
        Number of skipped items, and of messages and links that the stream has collected.
    is_private : bool
        Whether a source is mail.
    """

    skipped: int
    errors: int
    links: int
    is_private: bool


class AheadBatch(NamedTuple):
    """Items in their order, with their features.

    Parameters
    ----------
    items : list of Item
        The items; empty at the end of the stream.
    rows : list of RowsAheadPart, optional
        The features of the labelled items; None if they are not known yet.
    """

    items: list[Item]
    rows: list[RowsAheadPart] | None


class _Block:
    """Items that were read together, and how the reading ended, if it did."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.counts: list[Counts] = []
        self.rows: RowsAhead | None = None
        self.is_last = False
        self.error: BaseException | None = None
        self.final: Counts | None = None
        self.taken = 0
        self.rows_taken = 0

    @property
    def left(self) -> int:
        """Number of items that have not been taken."""
        return len(self.items) - self.taken

    def take(self, count: int, batch: AheadBatch) -> bool:
        """Append the next items to a batch; False if their features are not known."""
        items = self.items[self.taken : self.taken + count]
        self.taken += len(items)
        batch.items.extend(items)
        if self.rows is None or batch.rows is None:
            return self.rows is not None
        labelled = sum(item.labels is not None for item in items)
        start, self.rows_taken = self.rows_taken, self.rows_taken + labelled
        if labelled:
            batch.rows.append(RowsAheadPart(self.rows, start, self.rows_taken))
        return True


class ReadingAhead:
    """Context manager that reads the items of a stream in a thread of its own.

    Parameters
    ----------
    stream : Stream
        The stream. It belongs to the thread until the block ends.
    features : TextFeatures, optional
        The features. They are computed ahead if they do not depend on the items learnt before.
        None if they are of no use.
    limit : int, optional
        Maximum number of items to read.
    """

    def __init__(self, stream: Stream, features: TextFeatures | None, limit: int | None = None):
        self._stream = stream
        self._features = features if features and features.can_read_ahead else None
        self._limit = limit
        self._blocks: Queue[_Block] = Queue(BLOCKS_AHEAD)
        self._block = _Block()
        self._stopped = Event()
        self._counts = _counts(stream)
        self._thread = Thread(target=self._read_all, name="reading ahead", daemon=True)
        self._interval = sys.getswitchinterval()

    def take(self, count: int) -> AheadBatch:
        """Return the next items; fewer at the end of the stream and before an error.

        Parameters
        ----------
        count : int
            Number of items.

        Raises
        ------
        ReadError or another exception
            If reading the next item fails. The exception is the one of the stream.
        """
        batch = AheadBatch([], [])
        is_read = self._features is not None
        while len(batch.items) < count:
            block = self._block
            if not block.left:
                if not block.is_last:
                    self._block = self._blocks.get()
                    continue
                if batch.items:  # the error comes with the next call
                    break
                self._counts = block.final or self._counts
                if block.error is not None:
                    raise block.error
                break
            is_read &= block.take(count - len(batch.items), batch)
            self._counts = block.counts[block.taken - 1]
        return batch if is_read else AheadBatch(batch.items, None)

    @property
    def skipped(self) -> int:
        """Number of items that could not be read, up to the last item taken."""
        return self._counts.skipped

    @property
    def errors(self) -> list[str]:
        """Messages of the first errors up to the last item taken."""
        return self._stream.errors[: self._counts.errors]

    @property
    def links(self) -> list[str]:
        """Symbolic links that were left out up to the last item taken."""
        return self._stream.links[: self._counts.links]

    @property
    def is_private(self) -> bool:
        """Whether a source is mail, as far as it was known when the last item was read."""
        return self._counts.is_private

    def __enter__(self) -> "ReadingAhead":
        sys.setswitchinterval(min(self._interval, SWITCH_SECONDS))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        while self._thread.is_alive():
            while not self._blocks.empty():  # the thread may wait for room
                self._blocks.get()
            self._thread.join(0.01)
        sys.setswitchinterval(self._interval)

    def _read_all(self) -> None:
        """Read blocks until the stream ends, fails or is not needed any more."""
        items = self._items()
        block = _Block()
        while not (block.is_last or self._stopped.is_set()):
            block = _Block()
            try:
                self._read(block, items)
            except BaseException as error:  # raised where the items are taken
                block.is_last, block.error = True, error
            block.final = _counts(self._stream)
            self._blocks.put(block)

    def _items(self) -> Iterator[Item]:
        show = self._stream.on_read

        def show_unless_stopped(count: int) -> None:
            if self._stopped.is_set():
                raise _StoppedError
            if show is not None:
                show(count)

        self._stream.on_read = show_unless_stopped
        return self._stream

    def _read(self, block: _Block, items: Iterator[Item]) -> None:
        """Fill a block; the items before an error are complete."""
        characters = 0
        stream, counts = self._stream, _counts(self._stream)
        try:
            while len(block.items) < BLOCK and characters < BLOCK_CHARACTERS:
                if self._limit == 0:
                    block.is_last = True
                    return
                try:
                    item = next(items)
                except StopIteration:
                    block.is_last = True
                    return
                if self._limit is not None:
                    self._limit -= 1
                # Messages are collected with the items that are skipped.
                if stream.skipped != counts.skipped or (
                    len(stream.links) != counts.links or stream.is_private != counts.is_private
                ):
                    counts = _counts(stream)
                block.items.append(item)
                block.counts.append(counts)
                characters += _size(item)
        finally:
            if self._features is not None and not self._stopped.is_set():
                labelled = [item for item in block.items if item.labels is not None]
                block.rows = self._features.read_ahead(labelled)


class _StoppedError(Exception):
    """Ends the reading of items that are no longer needed."""


def _counts(stream: Stream) -> Counts:
    return Counts(stream.skipped, len(stream.errors), len(stream.links), stream.is_private)


def _size(item: Item) -> int:
    text = item.text
    return len(text) if isinstance(text, str) else sum(map(len, text.values()))
