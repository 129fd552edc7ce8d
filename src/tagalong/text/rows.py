"""Conversion of an item into the texts and values that the native core reads."""

import math
import numbers
import unicodedata
from collections.abc import Mapping
from typing import Any, TypeAlias

from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item

__all__ = ["AnyItem", "NumberedError", "Row", "TextItem", "as_row"]

TextItem: TypeAlias = Item | str | Mapping[str, Any]
"""The forms of an item with words and names: an `Item`, a text, or a mapping of feature names to
values."""

AnyItem: TypeAlias = TextItem | FeatureItem
"""The forms of an item, including numbered features."""

Row: TypeAlias = tuple[list[tuple[str, str]], list[tuple[str, float]]]
"""The texts of an item as (field, text), and its values as (name, value)."""


class NumberedError(ValueError):
    """A `FeatureItem` where words and names are needed."""

    def __init__(self) -> None:
        super().__init__("a FeatureItem has no words and no names, only numbered features")


def as_row(item: AnyItem, lowercase: bool) -> Row:
    """Return the texts of an item with their fields, and its values with their names.

    Parameters
    ----------
    item : Item, str or mapping
        A text, an `Item`, or a mapping of names to numbers, strings (categories) or collections
        of strings.
    lowercase : bool
        Whether to ignore case.

    Raises
    ------
    NumberedError
        If the item is a FeatureItem.
    ValueError
        If the item is invalid.
    """
    if isinstance(item, str):
        return [("", normalized(item, lowercase))], []
    if isinstance(item, Item):
        return _texts(item.text, lowercase), _values(item.features)
    if isinstance(item, Mapping):
        return [], _values(item)
    if isinstance(item, FeatureItem):
        raise NumberedError
    raise ValueError(
        "an item must be a str, a mapping of feature names to values, or an Item, got "
        f"{type(item).__name__}: {_abbreviated(item)}"
    )


def normalized(text: str, lowercase: bool) -> str:
    """Return a text in Unicode form NFKC, case-folded if `lowercase`.

    ASCII texts are returned unchanged: the native core folds their case.
    """
    if text.isascii():
        return text
    if lowercase:
        text = text.casefold()
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return valid_unicode(text)


def valid_unicode(text: str) -> str:
    """Return a text with replacement characters for lone surrogates, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _texts(text: object, lowercase: bool) -> list[tuple[str, str]]:
    if isinstance(text, str):
        return [("", normalized(text, lowercase))] if text else []
    if not isinstance(text, Mapping):
        raise ValueError(
            f"the text of an item must be a str or a mapping, got {_abbreviated(text)}"
        )
    for field, part in text.items():
        if not isinstance(field, str) or not isinstance(part, str):
            raise ValueError(
                f"field {field!r} of the text of an item must have a str as name and as text, got "
                f"{_abbreviated(part)}"
            )
    return [(valid_unicode(field), normalized(part, lowercase)) for field, part in text.items()]


def _values(features: Mapping[str, object]) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, value in features.items():
        if not isinstance(name, str):
            raise ValueError(f"the name of a feature must be a str, got {name!r}")
        if isinstance(value, str):
            found.append((valid_unicode(f"{name}={value}"), 1.0))
        elif isinstance(value, numbers.Real):
            if not math.isfinite(value):
                raise ValueError(f"feature {name!r} is {value!r}; values must be finite")
            found.append((valid_unicode(name), float(value)))
        elif isinstance(value, (list, tuple, set, frozenset)) and all(
            isinstance(part, str) for part in value
        ):
            found.extend((valid_unicode(f"{name}={part}"), 1.0) for part in sorted(set(value)))
        elif value is not None:  # None means a missing value
            raise ValueError(
                f"feature {name!r} must be a number, a string or a collection of strings, got "
                f"{_abbreviated(value)}"
            )
    return found


def _abbreviated(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
