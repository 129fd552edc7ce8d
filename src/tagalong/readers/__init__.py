"""Readers and writers of items: files, folders of mail, built-in streams.

Names are imported on first use, so that no reader is imported before it is needed.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.learning.items import FeatureValue, Item, ReadError
    from tagalong.readers.registry import FORMATS, streams
    from tagalong.readers.stream import Stream, read
    from tagalong.readers.writing import write
    from tagalong.streams.format import Format, Option, OptionError

__all__ = [
    "FORMATS",
    "FeatureValue",
    "Format",
    "Item",
    "Option",
    "OptionError",
    "ReadError",
    "Stream",
    "read",
    "streams",
    "write",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FORMATS": "tagalong.readers.registry",
        "FeatureValue": "tagalong.learning.items",
        "Format": "tagalong.streams.format",
        "Item": "tagalong.learning.items",
        "Option": "tagalong.streams.format",
        "OptionError": "tagalong.streams.format",
        "ReadError": "tagalong.learning.items",
        "Stream": "tagalong.readers.stream",
        "read": "tagalong.readers.stream",
        "streams": "tagalong.readers.registry",
        "write": "tagalong.readers.writing",
    },
)
