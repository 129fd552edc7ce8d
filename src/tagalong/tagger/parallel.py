"""Work on many items in several threads."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from tagalong import parameters

__all__ = ["checked_threads", "in_parts"]

Item = TypeVar("Item")
Result = TypeVar("Result")

ITEMS_PER_PART = 64
"""Few enough for the threads to take turns with the interpreter often: while one thread makes
Python objects of its results, the native work of the others goes on."""


def checked_threads(threads: int | None) -> int:
    """Return a number of threads; None means one per core that the process may use.

    Parameters
    ----------
    threads : int or None
        The number of threads.
    """
    if threads is not None:
        return parameters.integer(threads, "threads", 1)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parts(
    work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item], threads: int
) -> list[Result]:
    """Return the results for all items, in their order.

    Every part of the items is processed by one thread, so the results do not depend on the number
    of threads. If parts fail, the error is that of the first one.

    Parameters
    ----------
    work : callable
        Returns one result per item of a part. It must not change anything.
    items : sequence
        The items.
    threads : int
        Maximum number of threads.
    """
    parts = [items[at : at + ITEMS_PER_PART] for at in range(0, len(items), ITEMS_PER_PART)]
    threads = min(threads, len(parts))
    if threads <= 1:
        return [result for part in parts for result in work(part)]
    from concurrent.futures import ThreadPoolExecutor  # not needed for single items

    with ThreadPoolExecutor(threads) as executor:
        # After an error or Ctrl-C, `map` cancels the parts that have not started.
        return [result for results in executor.map(work, parts) for result in results]
