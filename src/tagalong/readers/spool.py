"""Items twice: once to learn what names they use, once more to write them."""

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
    items: Iterable[Item], look: Callable[[Item, int], None]
) -> Iterator[Callable[[], Iterator[Item]]]:
    """Keep items in a temporary file, however many they are.

    Parameters
    ----------
    items : iterable of Item
        Read once, to the end.
    look : callable
        Sees each item and its number, from 1, before it is kept.

    Yields
    ------
    callable
        Gives the same items again, as often as wanted.
    """
    with tempfile.TemporaryFile() as file:
        for number, item in enumerate(items, 1):
            look(item, number)
            kept = [item_as_json(item), item.place, item.query]
            file.write(json.dumps(kept).encode() + b"\n")

        def again() -> Iterator[Item]:
            file.seek(0)
            for line in file:
                record, place, query = json.loads(line)
                yield replace(item_from_json(record, place), query=query)

        yield again
