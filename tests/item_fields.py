"""The fields of items that readers of mail return."""

from collections.abc import Mapping

from tagalong.learning.items import Item, ReadError


def fields(item: Item | ReadError) -> Mapping[str, str]:
    """Return the fields of an item, which must have been read without error."""
    assert isinstance(item, Item), item
    assert isinstance(item.text, Mapping)
    return item.text
