"""Orders of items: by date, and random."""

import random
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from tagalong.learning.items import Item
from tagalong.readers.external_sort import MEMORY, sort_items
from tagalong.streams.format import OptionError

__all__ = ["ORDERS", "Order", "by_date", "shuffled"]

Order: TypeAlias = Literal["file", "date", "shuffle", "auto"]

ORDERS: tuple[Order, ...] = ("file", "date", "shuffle", "auto")
"""The orders that `read` knows."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = float("-inf")


def by_date(
    sources: Iterable[Iterable[Item]], *, need_dates: bool = False, memory: int = MEMORY
) -> Iterator[Item]:
    """Yield the items of several sources in the order of their dates.

    Items with equal dates keep their order. An item without a date stays behind the item before it
    in its source; at the start of a source it comes before all items with dates.

    Parameters
    ----------
    sources : iterable of iterables of Item
        Items of one source after the other.
    need_dates : bool
        Whether items of which none has a date are an error.
    memory : int
        Number of bytes of items that are kept in memory.

    Raises
    ------
    OptionError
        If no item has a date, but `need_dates` is set.
    """
    last = _FIRST
    count = dated = 0

    def items() -> Iterator[Item]:
        nonlocal last
        for source in sources:
            last = _FIRST
            yield from source
        if need_dates and count and not dated:
            raise OptionError(
                "the items cannot be ordered by date: none of them has a date; name the column or "
                "key of the date with the option date"
            )

    def key(item: Item) -> float:
        nonlocal last, count, dated
        count += 1
        if item.date is not None:
            dated += 1
            # A float holds microseconds exactly for the years 1685 to 2255.
            last = float((item.date - _EPOCH) // _MICROSECOND)
        return last

    return sort_items(items(), key, memory=memory)


def shuffled(items: Iterable[Item], seed: int, *, memory: int = MEMORY) -> Iterator[Item]:
    """Yield items in random order, which depends on the seed and the number of items only.

    Consecutive items of the same query stay together.

    Parameters
    ----------
    items : iterable of Item
        Items.
    seed : int
        Seed of the random numbers. The same seed gives the same order.
    memory : int
        Number of bytes of items that are kept in memory.
    """
    return sort_items(items, _random_key(seed), memory=memory)


def _random_key(seed: int) -> Callable[[Item], float]:
    numbers = random.Random(seed)
    query, number = "", 0.0

    def key(item: Item) -> float:
        nonlocal query, number
        if not item.query or item.query != query:
            number = numbers.random()
        query = item.query
        return number

    return key
