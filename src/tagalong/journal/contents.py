"""The content of an item as it is stored: text and values, or hashed features only.

Content lies apart from events, so that it can be deleted. The event has a digest of it, with a
random salt that is deleted too: nobody can guess the content from what remains.
"""

import hashlib
import json
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagalong.journal.errors import RefusedError
from tagalong.journal.short_texts import checked_text
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.text import TextFeatures
from tagalong.text.rows import as_row

__all__ = [
    "Content",
    "StoredContent",
    "checked_id",
    "content_of",
    "is_same_item",
    "listed_source",
    "title_of",
    "without_text",
]

SALT_BYTES = 16
DIGEST_BYTES = 32
TITLE_CHARACTERS = 80
LEAST_LINE = 20
"""A shorter first line, such as a greeting, says too little to be the title."""
LISTED_CHARACTERS = 500
"""So many characters of a source are in the list of items, as an index takes no long texts."""


@dataclass(frozen=True, slots=True)
class Content:
    """An item with what people want to see of it.

    Parameters
    ----------
    item : Item or FeatureItem
        The item, without labels.
    title : str
        A short text to show in a list.
    source : str
        Where it comes from.
    date : str
        When it was written, as given (RFC 3339); "" if that is not known.
    """

    item: Item | FeatureItem
    title: str = ""
    source: str = ""
    date: str = ""

    def to_bytes(self) -> bytes:
        """Return the content as JSON, with the same bytes for the same content."""
        item = self.item
        parts: dict[str, Any] = {"id": item.id}
        if isinstance(item, Item):
            parts["text"] = item.text if isinstance(item.text, str) else dict(item.text)
            parts["values"] = _json_values(item.features)
        else:
            parts["numbers"], parts["weights"] = item.numbers.tolist(), item.values.tolist()
        parts |= {"title": self.title, "source": self.source, "date": self.date}
        if item.weight != 1:
            parts["weight"] = item.weight
        kept = {
            name: value
            for name, value in parts.items()
            if value not in ("", {}) or name in ("id", "numbers", "weights")
        }
        text = json.dumps(kept, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Names of files that are not valid Unicode have surrogates.
        return text.encode("utf-8", "surrogatepass")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Content":
        """Return the content that ``to_bytes`` has written.

        Parameters
        ----------
        data : bytes
            The JSON text.
        """
        parts = json.loads(data.decode("utf-8", "surrogatepass"))
        weight = parts.get("weight", 1.0)
        item: Item | FeatureItem
        if "numbers" in parts:
            item = FeatureItem(parts["id"], parts["numbers"], parts["weights"], weight=weight)
        else:
            values = parts.get("values", {})
            item = Item(parts["id"], parts.get("text", ""), values, weight=weight)
        return cls(item, parts.get("title", ""), parts.get("source", ""), parts.get("date", ""))


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Content with the salt of its digest.

    Parameters
    ----------
    data : bytes
        The content.
    salt : bytes
        Random bytes.
    """

    data: bytes
    salt: bytes

    @classmethod
    def of(cls, data: bytes) -> "StoredContent":
        """Return content with a new salt."""
        return cls(data, secrets.token_bytes(SALT_BYTES))

    @property
    def digest(self) -> bytes:
        """The digest of salt and content."""
        return hashlib.blake2b(self.data, digest_size=DIGEST_BYTES, salt=self.salt).digest()


def checked_id(id: object) -> str:
    """Return the id of an item; RefusedError unless it can be an id.

    Parameters
    ----------
    id : object
        The id: at most 512 bytes in UTF-8, without control characters.
    """
    text = checked_text(id, "the id of an item")
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise RefusedError(f"the id {text!r} has a control character")
    return text


def listed_source(source: str) -> str:
    r"""Return a source as the list of items has it: text that every database can store.

    Parameters
    ----------
    source : str
        The source. An invalid byte in the name of a file is a surrogate there.

    Examples
    --------
    >>> listed_source("caf\udce9/inbox")
    'caf?/inbox'
    """
    text = source[:LISTED_CHARACTERS].encode("utf-8", "replace").decode()
    return text.replace("\0", "?")


def title_of(content: Content) -> str:
    r"""Return a short text to show for an item: its title, its subject, or how its text begins.

    Parameters
    ----------
    content : Content
        The item. Without a title, one whose text is not stored has none.

    Examples
    --------
    >>> title_of(content_of("Your  flight to Rome"))
    'Your flight to Rome'
    >>> title_of(content_of("The minutes of the last meeting\nPresent: everybody"))
    'The minutes of the last meeting…'
    """
    item = content.item
    if content.title or not isinstance(item, Item):
        return content.title
    if isinstance(item.text, str):
        text = item.text
    else:
        named = (item.text.get(name) for name in ("subject", "title"))
        text = next((each for each in named if each), " ".join(item.text.values()))
    return _beginning(text.strip())


def _beginning(text: str) -> str:
    """Return the first line of a text, or more if that is short, cut between two words."""
    # White space may be most of the beginning.
    begun = text[: 10 * TITLE_CHARACTERS]
    line, _, rest = begun.partition("\n")
    if rest and len(line) >= LEAST_LINE:
        begun = line
    words = " ".join(begun.split())
    if len(words) <= TITLE_CHARACTERS:
        return words if len(begun) == len(text) else f"{words}…"
    cut = words[: TITLE_CHARACTERS - 1]
    start = cut if words[len(cut)] == " " else cut.rpartition(" ")[0]
    # A single long word, or one in a script without spaces, is cut itself.
    return f"{start if len(start) >= TITLE_CHARACTERS // 2 else cut}…"


def content_of(
    item: Item | FeatureItem | str | Mapping[str, Any], title: object = "", source: object = ""
) -> Content:
    """Return an item as content; RefusedError if a model could not read it.

    Parameters
    ----------
    item : Item, FeatureItem, str or mapping
        The item, as for `Tagger.learn`.
    title, source : str
        See `Content`.
    """
    for name, value in (("title", title), ("source", source)):
        if not isinstance(value, str):
            raise RefusedError(f"{name} must be a text, got {value!r}")
    if isinstance(item, FeatureItem):
        return Content(item, str(title), str(source))
    if not isinstance(item, Item):
        item = Item(text=item) if isinstance(item, str) else Item(features=item)
    try:
        as_row(item, lowercase=True)
        weight = float(item.weight)
    except (ValueError, TypeError, AttributeError) as error:
        raise RefusedError(str(error)) from None
    date = "" if item.date is None else item.date.isoformat()
    kept = Item(item.id, item.text, item.features, weight=weight)
    return Content(kept, str(title), str(source), date)


def is_same_item(one: Content, other: Content, features: TextFeatures) -> bool:
    """Whether two contents are the same item, whether or not its text was stored.

    Titles, sources and dates may differ.

    Parameters
    ----------
    one, other : Content
        The contents.
    features : TextFeatures
        The conversion of items into features.
    """
    first, second = one.item, other.item
    if first.id != second.id or first.weight != second.weight:
        return False
    if isinstance(first, Item) and isinstance(second, Item):
        return _said(first) == _said(second)
    try:
        hashed = [features.hashed(item) for item in (first, second)]
    except ValueError:
        return False
    numbers, values = zip(*(item.pairs() for item in hashed), strict=True)
    return np.array_equal(*numbers) and np.array_equal(*values)


def _said(item: Item) -> tuple[object, object]:
    text = item.text if isinstance(item.text, str) else dict(item.text)
    return text, _json_values(item.features)


def without_text(content: Content, features: TextFeatures) -> Content:
    """Return content with hashed features in place of the text.

    Parameters
    ----------
    content : Content
        The content.
    features : TextFeatures
        The conversion of items into features. RefusedError if features depend on what was learnt.
    """
    if isinstance(content.item, FeatureItem):
        return content
    try:
        return replace(content, item=features.hashed(content.item))
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _json_values(features: Mapping[str, Any]) -> dict[str, Any]:
    """Return named values as JSON values; a collection of texts becomes a sorted list."""
    found: dict[str, Any] = {}
    for name, value in features.items():
        if isinstance(value, str) or value is None:
            found[name] = value
        elif isinstance(value, (list, tuple, set, frozenset)):
            found[name] = sorted(set(value))
        else:
            found[name] = float(value)
    return found
