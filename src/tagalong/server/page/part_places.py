"""Places of the parts of an explanation in the texts of an item."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeAlias

from tagalong.learning.items import Item
from tagalong.text.feature_places import feature_places
from tagalong.text.features import TextFeatures
from tagalong.text.rows import as_row

__all__ = ["JOINED", "Part", "Span", "named_values", "part_places"]

MARGIN = 1000
"""The number of characters read beyond the shown ones, so that the last word is read whole."""

JOINED = " | "
"""The sign between the names of features in the same bucket."""

NO_PARTS: frozenset[int] = frozenset()

Part: TypeAlias = tuple[str, float]
"""The name of a feature, and its contribution."""

Span: TypeAlias = tuple[int, int, frozenset[int]]
"""A place in a text, from start to end, with the numbers of the explanation's parts."""


def named_values(item: Item) -> set[str]:
    """Return the names of an item's numbers and categories, as in an explanation.

    Parameters
    ----------
    item : Item
        The item.
    """
    return {name for name, _ in as_row(Item(features=item.features), True)[1]}


def part_places(
    item: Item,
    texts: Mapping[str, str],
    lengths: Mapping[str, int],
    parts: Sequence[Part],
    features: TextFeatures,
) -> dict[str, list[Span]]:
    """Return the places of an explanation's parts in the shown texts, by field.

    Places ascend and do not overlap: those of words that share a character are one place.

    Parameters
    ----------
    item : Item
        The item.
    texts : mapping of str to str
        Its texts by field.
    lengths : mapping of str to int
        The number of shown characters per field.
    parts : sequence of (str, float)
        The parts of the explanation.
    features : TextFeatures
        The features of the tagger that has explained the item.
    """
    matches = features.matches(item)
    prefixes = {field: _prefixes(field, matches, features.backoff) for field in texts}
    whole = named_values(item)
    numbers = _numbers(parts, whole, [each for found in prefixes.values() for each in found])
    spans = {}
    for field, text in texts.items():
        of_field = _without_prefixes(numbers, prefixes[field])
        read = text[: lengths[field] + MARGIN]
        found: list[Span] = []
        known: dict[tuple[str, ...], frozenset[int]] = {}
        for start, end, names in feature_places(read, features):
            if start >= lengths[field]:
                break
            if names not in known:
                known[names] = NO_PARTS.union(*[of_field[n] for n in names if n in of_field])
            if known[names]:
                _append(found, (start, min(end, lengths[field]), known[names]))
        spans[field] = found
    return spans


def _numbers(parts: Sequence[Part], whole: Set[str], prefixes: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the parts by the names of their features.

    The features of one bucket have a joined name. It is not divided if the sign between them is
    also in the name of a value or of a field.
    """
    undivided = tuple(prefix for prefix in prefixes if JOINED in prefix)
    numbers: dict[str, int] = {}
    joined = []
    for number, (name, _) in enumerate(parts):
        numbers.setdefault(name, number)
        if JOINED in name and name not in whole and not name.startswith(undivided):
            joined.append((name, number))
    for name, number in joined:
        for each in name.split(JOINED):
            numbers.setdefault(each, number)
    return numbers


def _without_prefixes(
    numbers: Mapping[str, int], prefixes: Iterable[str]
) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the parts by the names that their features have in a field's text."""
    found: dict[str, tuple[int, ...]] = {}
    for prefix in sorted(prefixes):
        if not prefix:
            found = {name: (number,) for name, number in numbers.items()}
            continue
        for name, number in numbers.items():
            if name.startswith(prefix):
                short = name[len(prefix) :]
                found[short] = (*found.get(short, ()), number)
    return found


def _prefixes(field: str, matches: Mapping[str, str | None], backoff: bool) -> set[str]:
    """Return what precedes a word in the names of a field's features."""
    ((valid, _),), _ = as_row(Item(text={field: ""}), True)
    read_as = matches.get(valid)
    name = valid if read_as is None else read_as
    own = f"{name}:" if name else ""
    return {own, ""} if backoff else {own}


def _append(spans: list[Span], new: Span) -> None:
    """Append a place, or extend the last one if they overlap."""
    if spans and new[0] < spans[-1][1]:
        start, end, numbers = spans.pop()
        new = start, max(end, new[1]), numbers | new[2]
    spans.append(new)
