"""Temporary storage of items: for writers that need two passes, and for sorting."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tagalong.learning.items import Item
from tagalong.readers.jsonl import item_as_json, item_from_json
from tagalong.readers.temporary_files import temporary_file

__all__ = ["item_from_stored", "spool_items", "stored_item"]


def stored_item(item: Item) -> list[object]:
    """Return an item as a JSON value that keeps all its parts."""
    return [item_as_json(item), item.place, item.query]


def item_from_stored(stored: list[object]) -> Item:
    """Return the item of a value of `stored_item`."""
    record, place, query = stored
    item = item_from_json(record, str(place))
    return replace(item, query=str(query)) if query else item


@contextmanager
def spool_items(
    items: Iterable[Item], inspect: Callable[[Item, int], None]
) -> Iterator[Callable[[], Iterator[Item]]]:
    """Store items in a temporary file, so that memory does not limit their number.

    Parameters
    ----------
    items : iterable of Item
        Items, iterated once to the end.
    inspect : callable
        Called with each item and its number, from 1, before the item is stored.

    Yields
    ------
    callable
        Function that returns an iterator over the stored items. It can be called repeatedly.
    """
    with temporary_file() as file:
        for number, item in enumerate(items, 1):
            inspect(item, number)
            file.write(json.dumps(stored_item(item)).encode() + b"\n")

        def spooled() -> Iterator[Item]:
            file.seek(0)
            for line in file:
                yield item_from_stored(json.loads(line))

        yield spooled
