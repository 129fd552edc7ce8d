"""The text of an item in pieces, each with its contribution to the score of a label.

The value of a word is the sum of the contributions of all features that it takes part in: the word
with and without its field, its word n-grams and its character n-grams. It answers "how much of the
score comes from features with this word?", so a pair of words counts for both of its words, and the
values of a text do not add up to the score. A feature has one contribution, however often it occurs
in the item. Each of its places shows the whole contribution, and `Piece.places` is the number of
places that share it. In scripts without spaces between words, a piece is a letter with all n-grams
around it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.server.page.part_places import JOINED, Part, Span, named_values, part_places
from tagalong.server.page.shown_lengths import shown_lengths
from tagalong.tagger.suggestions import Explanation
from tagalong.text.features import TextFeatures
from tagalong.text.rows import AnyItem, TextItem

__all__ = ["MarkedField", "MarkedText", "Piece", "marked_text"]

LEAST_SHARE = 0.05
"""The share of the largest value below which a word is not marked."""

LEVELS = 3
"""The number of levels of strength, in equal steps up to the largest value."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Parameters
    ----------
    text : str
        The characters as they are in the item; see `visible` for those that cannot be seen.
    value : float, or None
        The sum of the contributions of its features; None if it is not marked: it is no word, or
        adds nothing, or less than a twentieth of the largest value of the item.
    parts : tuple of (str, float)
        Its features with their contributions, the largest absolute contribution first.
    strength : int
        How large the value is compared with the largest of the item: 1, 2 or 3; 0 if it is not
        marked.
    places : int
        The number of shown places that the first of its features is part of. If there are several,
        its contribution counts once for all of them. 0 if it is not marked.
    """

    text: str
    value: float | None = None
    parts: tuple[Part, ...] = ()
    strength: int = 0
    places: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features, the largest absolute contribution first."""
        return tuple(name for name, _ in self.parts)


@dataclass(frozen=True, slots=True)
class MarkedField:
    """A text of an item.

    Parameters
    ----------
    name : str
        The name of the field; "" if the item has a single text.
    pieces : tuple of Piece
        The shown text. No two pieces without a value follow each other.
    left_out : int
        Number of characters at the end of the text that are not shown.
    """

    name: str
    pieces: tuple[Piece, ...]
    left_out: int

    @property
    def text(self) -> str:
        """The shown text."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """The texts of an item, and the parts of an explanation that have no place in them.

    Parameters
    ----------
    fields : tuple of MarkedField
        The texts in the order of the item.
    values : tuple of (str, float)
        Named values, numbers and numbered features with their contributions.
    hidden : tuple of (str, float)
        Words that occur only in text that is not shown, with their contributions.
    """

    fields: tuple[MarkedField, ...]
    values: tuple[Part, ...]
    hidden: tuple[Part, ...]

    @property
    def left_out(self) -> int:
        """Number of characters of all fields that are not shown."""
        return sum(field.left_out for field in self.fields)


def marked_text(
    item: AnyItem, explanation: Explanation, features: TextFeatures, limit: int = 20_000
) -> MarkedText:
    """Return the texts of an item with the contributions of their words to the score of a label.

    Each part of the explanation has a place in the shown text, or is one of the values, or is one
    of the hidden words.

    Parameters
    ----------
    item : Item, FeatureItem, str or mapping
        The item.
    explanation : Explanation
        The explanation of the item and the label.
    features : TextFeatures
        The features of the tagger that has explained the item.
    limit : int
        Maximum number of shown characters of all fields together. Short fields are shown whole
        before long ones are.
    """
    if isinstance(item, FeatureItem):
        return MarkedText((), explanation.parts, ())
    item = _as_item(item)
    texts = _texts(item)
    lengths = shown_lengths(texts, limit)
    spans = part_places(item, texts, lengths, explanation.parts, features)
    marks = _Marks(explanation.parts, [span for found in spans.values() for span in found])
    fields = tuple(
        MarkedField(
            name,
            tuple(_pieces(text[: lengths[name]], spans[name], marks)),
            len(text) - lengths[name],
        )
        for name, text in texts.items()
    )
    is_cut = any(field.left_out for field in fields)
    named = named_values(item)
    values: list[Part] = []
    hidden: list[Part] = []
    for number, part in enumerate(explanation.parts):
        if marks.places[number] == 0:
            is_value = not is_cut or not named.isdisjoint([part[0], *part[0].split(JOINED)])
            (values if is_value else hidden).append(part)
    return MarkedText(fields, tuple(values), tuple(hidden))


def _as_item(item: TextItem) -> Item:
    if isinstance(item, Item):
        return item
    return Item(text=item) if isinstance(item, str) else Item(features=item)


def _texts(item: Item) -> dict[str, str]:
    if isinstance(item.text, str):
        return {"": item.text} if item.text else {}
    return dict(item.text)


class _Marks:
    """Which parts each place has, with their sum and its strength."""

    def __init__(self, parts: Sequence[Part], spans: Sequence[Span]):
        self.parts = parts
        self.places = Counter(number for span in spans for number in span[2])
        self._sums: dict[frozenset[int], float] = {}
        for _, _, numbers in spans:
            if numbers not in self._sums:
                self._sums[numbers] = math.fsum(parts[number][1] for number in numbers)
        self._largest = max(map(abs, self._sums.values()), default=0.0)
        self._known: dict[frozenset[int], tuple[float, tuple[Part, ...], int, int] | None] = {}

    def of(self, numbers: frozenset[int]) -> tuple[float, tuple[Part, ...], int, int] | None:
        """Return value, parts, strength and number of places; None if it is not marked."""
        if numbers not in self._known:
            self._known[numbers] = self._mark(numbers)
        return self._known[numbers]

    def _mark(self, numbers: frozenset[int]) -> tuple[float, tuple[Part, ...], int, int] | None:
        value = self._sums[numbers]
        if value == 0 or abs(value) < LEAST_SHARE * self._largest:
            return None
        strength = max(1, math.ceil(LEVELS * abs(value) / self._largest))
        order = sorted(numbers, key=lambda number: (-abs(self.parts[number][1]), number))
        parts = tuple(self.parts[number] for number in order)
        return value, parts, min(LEVELS, strength), self.places[order[0]]


def _pieces(text: str, spans: Sequence[Span], marks: _Marks) -> Iterator[Piece]:
    done = 0
    for start, end, numbers in spans:
        mark = marks.of(numbers)
        if mark is not None:
            if start > done:
                yield Piece(text[done:start])
            yield Piece(text[start:end], *mark)
            done = end
    if done < len(text):
        yield Piece(text[done:])
