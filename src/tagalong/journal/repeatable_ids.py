"""Ids for the items of a source, the same whenever it is read again."""

import hashlib
from collections import Counter
from dataclasses import replace

from tagalong.journal.contents import content_of
from tagalong.learning.items import Item

__all__ = ["RepeatableIds"]


class RepeatableIds:
    """Gives every item of a source an id of its own, so that a second reading recognises it.

    An item keeps its id. Without one, the id is a digest of its content. Further items with the
    same id get a number.
    """

    def __init__(self) -> None:
        self._occurrences: Counter[str] = Counter()

    def given_to(self, item: Item) -> Item:
        """Return an item with its id.

        Parameters
        ----------
        item : Item
            The next item of the source.
        """
        id = item.id or _digest(item)
        self._occurrences[id] += 1
        number = self._occurrences[id]
        return replace(item, id=id if number == 1 else f"{id}#{number}")


def _digest(item: Item) -> str:
    return hashlib.blake2b(content_of(item).to_bytes(), digest_size=12).hexdigest()
