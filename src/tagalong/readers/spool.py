"""Temporary storage of items for writers that need two passes.

The first pass collects the names for the header, the second writes the items.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tagalong.learning.items import Item
from tagalong.readers.jsonl import item_as_json, item_from_json

__all__ = ["spool_items"]


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
    with tempfile.TemporaryFile() as file:
        for number, item in enumerate(items, 1):
            inspect(item, number)
            stored = [item_as_json(item), item.place, item.query]
            file.write(json.dumps(stored).encode() + b"\n")

        def spooled() -> Iterator[Item]:
            file.seek(0)
            for line in file:
                record, place, query = json.loads(line)
                yield replace(item_from_json(record, place), query=query)

        yield spooled
