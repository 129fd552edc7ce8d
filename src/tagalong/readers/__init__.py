"""Items from files and built-in streams, and back into files.

The names load on first use: no reader is imported before it is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.readers.format import Format, Option, OptionError
    from tagalong.readers.items import FeatureValue, Item, ReadError
    from tagalong.readers.registry import FORMATS, streams
    from tagalong.readers.stream import Stream, read
    from tagalong.readers.writing import write

_HOMES = {
    "FORMATS": "registry",
    "FeatureValue": "items",
    "Format": "format",
    "Item": "items",
    "Option": "format",
    "OptionError": "format",
    "ReadError": "items",
    "Stream": "stream",
    "read": "stream",
    "streams": "registry",
    "write": "writing",
}

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


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"tagalong.readers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'tagalong.readers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
