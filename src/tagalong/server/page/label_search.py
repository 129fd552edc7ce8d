"""Search of labels by what a person types, with typing errors."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from tagalong.server.page.edit_distances import MOST_COMPARED, NameTable
from tagalong.server.page.folded_names import FoldedName, folded

__all__ = ["LabelSearch"]

SEARCH_LENGTHS = (3, 6, 10)
"""The lengths of a typed text from which on one, two and three errors are accepted."""

MISSPELT_LENGTHS = (4, 8)
"""The lengths of a name from which on one and two errors make it a misspelling."""

SAME, BEGINNING, WORD, WORDS, CONTAINED, NOT_FOUND = range(6)
"""How a typed text occurs in a label without an error, best first."""


class LabelSearch:
    """Finds labels by their names.

    Case, accents and the separators ``_ - / . :`` do not count.

    Parameters
    ----------
    labels : sequence of str
        The labels. Of labels that fit equally well, the first one comes first, so the most frequent
        labels should.

    Examples
    --------
    >>> labels = LabelSearch(["travel/hotel", "travel/flight", "invoice", "Privé"])
    >>> labels.search("fligth")
    ['travel/flight']
    >>> labels.search("prive")
    ['Privé']
    >>> labels.similar("invioce")
    ['invoice']
    """

    def __init__(self, labels: Sequence[str]):
        self._labels = list(dict.fromkeys(labels))
        self._names = [folded(label) for label in self._labels]

    def search(self, query: str, count: int = 8) -> list[str]:
        """Return the labels that fit a typed text, best first.

        The label with this very name comes first. The others follow in this order: those with the
        same letters; those that begin with the text; those with a word that does; those in which
        each word of the text begins a word; those that contain it; those that fit with a typing
        error in a part of them, or with a few as a whole; those that have all its letters in the
        same order; those of which a part fits with a few typing errors. A typing error is a
        character too many, too few or a wrong one, or two neighbours in the wrong order. One is
        accepted from three characters on, two from six, three from ten.

        Parameters
        ----------
        query : str
            The typed text; if it is empty, all labels fit.
        count : int
            Maximum number of labels.
        """
        found: dict[int, None] = {}
        for number in self._fitting(query):
            if len(found) >= count:
                break
            found[number] = None
        return [self._labels[number] for number in found]

    def similar(self, name: str, count: int = 3) -> list[str]:
        """Return the labels that a new label's name probably is a misspelling of, nearest first.

        Names with different digits ("2023" and "2024") are no misspellings of each other.

        Parameters
        ----------
        name : str
            The name. If it is that of a label, it is no misspelling.
        count : int
            Maximum number of labels.
        """
        typed = folded(name)
        if name in self._labels or not typed.letters:
            return []
        most = _accepted(typed.letters, MISSPELT_LENGTHS)
        near = self._table.near(typed.letters, most, only_whole=True)
        found = [
            (int(distance), number)
            for number, distance in zip(near.numbers.tolist(), near.whole, strict=True)
            if _is_misspelling(typed.letters, self._names[number].letters)
        ]
        found += [(most + 1, number) for number in self._with_other_order(typed)]
        numbers = dict.fromkeys(number for _, number in sorted(found))
        return [self._labels[number] for number in numbers][: max(0, count)]

    def _with_other_order(self, typed: FoldedName) -> list[int]:
        """Return the labels with the same words in another order."""
        words = sorted(typed.spaced.split())
        return [
            number
            for number, name in enumerate(self._names)
            if len(name.spaced) == len(typed.spaced)
            and name.spaced != typed.spaced
            and sorted(name.spaced.split()) == words
        ]

    @cached_property
    def _table(self) -> NameTable:
        return NameTable(self._names)

    def _fitting(self, query: str) -> Iterator[int]:
        """Yield the numbers of fitting labels, best first, some repeatedly."""
        if query in self._labels:
            yield self._labels.index(query)
        typed = folded(query)
        if not typed.letters:
            yield from range(len(self._labels))
            return
        yield from self._without_errors(typed)
        most = _accepted(typed.letters, SEARCH_LENGTHS)
        near, less_near = self._with_errors(typed, most) if most > 0 else ([], [])
        yield from near
        yield from self._with_letters_in_order(typed)
        yield from less_near

    def _without_errors(self, typed: FoldedName) -> Iterator[int]:
        by_kind: list[list[int]] = [[] for _ in range(NOT_FOUND)]
        words = typed.spaced.split()
        for number, name in enumerate(self._names):
            kind = _kind(typed, words, name)
            if kind != NOT_FOUND:
                by_kind[kind].append(number)
        for numbers in by_kind:
            yield from numbers

    def _with_errors(self, typed: FoldedName, most: int) -> tuple[list[int], list[int]]:
        """Return the near labels, and the less near ones: more than one error, and in a part only.

        Those with the fewest errors come first, then those that are nearest as a whole.
        """
        found = self._table.near(typed.letters, most)
        near: list[int] = []
        less_near: list[int] = []
        columns = (found.nearest.tolist(), found.whole.tolist(), found.numbers.tolist())
        for errors, whole, number in sorted(zip(*columns, strict=True)):
            (near if errors <= 1 or whole <= most else less_near).append(number)
        return near, less_near

    def _with_letters_in_order(self, typed: FoldedName) -> Iterator[int]:
        """Yield the labels that have the letters from the beginning of a word on; short ones first.

        The letters of a long name that are not compared do not count.
        """
        found = []
        for number in self._table.with_all_letters(typed.letters).tolist():
            name = self._names[number]
            if _has_in_order(typed.letters, f" {name.spaced[:MOST_COMPARED]}"):
                found.append((len(name.letters), number))
        yield from (number for _, number in sorted(found))


def _accepted(letters: str, lengths: Sequence[int]) -> int:
    """Return the number of errors that are accepted in a text of this length."""
    return sum(len(letters) >= length for length in lengths)


def _kind(typed: FoldedName, words: list[str], name: FoldedName) -> int:
    """Return how a text occurs in a name."""
    if typed.letters not in name.letters:
        return WORDS if len(words) > 1 and _begin_words(words, name) else NOT_FOUND
    if typed.letters == name.letters:
        return SAME
    if name.letters.startswith(typed.letters):
        return BEGINNING
    if f" {typed.spaced}" in name.spaced:
        return WORD
    return WORDS if _begin_words(words, name) else CONTAINED


def _begin_words(words: list[str], name: FoldedName) -> bool:
    spaced = f" {name.spaced}"
    return all(f" {word}" in spaced for word in words)


def _has_in_order(letters: str, spaced: str) -> bool:
    first = spaced.find(f" {letters[0]}")
    if first < 0:
        return False
    rest = iter(spaced[first:])
    return all(letter in rest for letter in letters)


def _is_misspelling(name: str, other: str) -> bool:
    if max(len(name), len(other)) > MOST_COMPARED:
        return name == other
    return [c for c in name if c.isdigit()] == [c for c in other if c.isdigit()]
