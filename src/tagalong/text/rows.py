"""An item in any form as the lists of texts and values that the native core reads."""

import math
import numbers
import unicodedata
from collections.abc import Mapping
from typing import Any, TypeAlias

from tagalong.learning.items import Item

__all__ = ["Row", "as_row"]

Row: TypeAlias = tuple[list[tuple[str, str]], list[tuple[str, float]]]


def as_row(item: Any, lowercase: bool) -> Row:
    """Return the texts by field and the values by name of an item.

    Parameters
    ----------
    item : Item, str or mapping
        A text, an `Item`, or a mapping of names to numbers, strings (categories) or collections
        of strings.
    lowercase : bool
        Whether case does not matter.
    """
    if isinstance(item, str):
        return [("", normal(item, lowercase))], []
    if isinstance(item, Item):
        return _texts(item.text, lowercase), _values(item.features)
    if isinstance(item, Mapping):
        return [], _values(item)
    raise ValueError(
        "an item must be a text, a mapping of feature names to values, or an Item, got "
        f"{type(item).__name__}: {_shown(item)}"
    )


def normal(text: str, lowercase: bool) -> str:
    """Return a text in one of the forms it could have: of case, width and composed accents."""
    if text.isascii():  # whose case the core folds by itself
        return text
    if lowercase:
        text = text.casefold()
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return whole(text)


def whole(text: str) -> str:
    """Return a text that can be written as UTF-8: lone surrogates become replacement marks."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _texts(text: Any, lowercase: bool) -> list[tuple[str, str]]:
    if isinstance(text, str):
        return [("", normal(text, lowercase))] if text else []
    if not isinstance(text, Mapping):
        raise ValueError(f"the text of an item must be a str or a mapping, got {_shown(text)}")
    for field, part in text.items():
        if not isinstance(field, str) or not isinstance(part, str):
            raise ValueError(
                f"field {field!r} of an item's text must be named by a str and hold one, got "
                f"{_shown(part)}"
            )
    return [(whole(field), normal(part, lowercase)) for field, part in text.items()]


def _values(features: Mapping[Any, Any]) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, value in features.items():
        if not isinstance(name, str):
            raise ValueError(f"feature {name!r} must be named by a str")
        if isinstance(value, str):
            found.append((whole(f"{name}={value}"), 1.0))
        elif isinstance(value, numbers.Real):
            if not math.isfinite(value):
                raise ValueError(f"feature {name!r} is {value!r}; values must be finite")
            found.append((whole(name), float(value)))
        elif isinstance(value, (list, tuple, set, frozenset)) and all(
            isinstance(part, str) for part in value
        ):
            found.extend((whole(f"{name}={part}"), 1.0) for part in sorted(set(value)))
        elif value is not None:  # None: not known
            raise ValueError(
                f"feature {name!r} must be a number, a string or a collection of strings, got "
                f"{_shown(value)}"
            )
    return found


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
