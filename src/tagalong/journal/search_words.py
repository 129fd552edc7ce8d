"""Whether an item has all words of a search."""

import unicodedata
from collections.abc import Collection, Iterator

from tagalong.journal.contents import Content
from tagalong.learning.items import Item

__all__ = ["has_words", "words_of"]


def words_of(text: str) -> list[str]:
    """Return the words of a search; upper and lower case are the same.

    Parameters
    ----------
    text : str
        The words, separated by white space.

    Examples
    --------
    >>> words_of("Große  ﬁsche")
    ['grosse', 'fische']
    """
    return list(dict.fromkeys(_plain(text).split()))


def has_words(content: Content, words: Collection[str]) -> bool:
    """Whether all words occur in the id, title, source, text or values of an item.

    Parameters
    ----------
    content : Content
        The item. If its text was not stored, only its id, title and source are searched.
    words : collection of str
        The words, as `words_of` returns them. A part of a word in the item is enough.
    """
    found = _plain("\n".join(_parts(content)))
    return all(word in found for word in words)


def _parts(content: Content) -> Iterator[str]:
    item = content.item
    yield from (item.id, content.title, content.source)
    if isinstance(item, Item):
        yield from [item.text] if isinstance(item.text, str) else item.text.values()
        for name, value in item.features.items():
            yield name
            yield from map(str, value) if isinstance(value, (list, tuple)) else [_shown(value)]


def _shown(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _plain(text: str) -> str:
    """Return a text in which equal letters have equal codes."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
