"""Sorting of items by a key with bounded memory: external merge sort.

Items are collected in memory up to a number of bytes. If there are more, each full memory is sorted
and written to a temporary file, a run; the runs are merged at the end. Runs of one level are merged
to a run of the next level when there are `FAN_IN` of them, so that the number of open files is
small and each item is written a few times only.
"""

import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import IO, TypeAlias

from tagalong.learning.items import Item
from tagalong.readers.spool import item_from_stored, stored_item
from tagalong.readers.temporary_files import temporary_file

__all__ = ["MEMORY", "Key", "sort_items"]

MEMORY = 64 << 20
"""Default number of bytes of items that are kept in memory."""

FAN_IN = 64
_OVERHEAD = 200  # bytes of Python objects per item in memory

Key: TypeAlias = float

# The key, the position in the input (which makes the sort stable) and the item.
_Entry: TypeAlias = tuple[Key, int, str]


def sort_items(
    items: Iterable[Item], key: Callable[[Item], Key], *, memory: int = MEMORY
) -> Iterator[Item]:
    """Yield items in the order of their keys; items with equal keys keep their order.

    Parameters
    ----------
    items : iterable of Item
        Items, iterated once to the end before the first item is yielded.
    key : callable
        Function that returns the key of an item. It is called once per item, in the order of the
        items.
    memory : int
        Number of bytes of items that are kept in memory. If there are more, temporary files are
        used.

    Raises
    ------
    OSError
        If there is no space for temporary files.
    """
    with ExitStack() as files:
        runs = _Runs(files)
        entries: list[_Entry] = []
        size = 0
        for number, item in enumerate(items):
            stored = json.dumps(stored_item(item))
            entries.append((key(item), number, stored))
            size += len(stored) + _OVERHEAD
            if size > memory:
                runs.add(entries)
                entries, size = [], 0
        entries.sort()
        for _, _, stored in runs.merged_with(entries):
            yield item_from_stored(json.loads(stored))


class _Runs:
    """Sorted runs of entries in temporary files."""

    def __init__(self, files: ExitStack):
        self._files = files
        self._levels: list[list[IO[bytes]]] = []

    def add(self, entries: list[_Entry]) -> None:
        """Write entries to a new run."""
        self._add(self._written(iter(sorted(entries))), 0)

    def merged_with(self, entries: list[_Entry]) -> Iterator[_Entry]:
        """Yield the entries of all runs and further sorted entries, in order."""
        runs = [run for level in self._levels for run in level]
        return heapq.merge(*map(_entries, runs), iter(entries)) if runs else iter(entries)

    def _add(self, run: IO[bytes], level: int) -> None:
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(run)
        if len(runs) == FAN_IN:
            merged = self._written(heapq.merge(*map(_entries, runs)))
            for each in runs:
                each.close()
            runs.clear()
            self._add(merged, level + 1)

    def _written(self, entries: Iterator[_Entry]) -> IO[bytes]:
        file = self._files.enter_context(temporary_file())
        for key, number, stored in entries:
            file.write(f"{key!r} {number} {stored}\n".encode())
        file.flush()
        return file


def _entries(run: IO[bytes]) -> Iterator[_Entry]:
    run.seek(0)
    for line in run:
        key, number, stored = line[:-1].decode("ascii").split(" ", 2)
        yield float(key), int(number), stored
