"""Places of features in a text: which of its characters give which features."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from tagalong.text.features import TextFeatures
from tagalong.text.word_places import Token, tokens

__all__ = ["FeaturePlace", "feature_places"]

LONGEST_RUN_GRAM = 3
"""The length of the longest n-grams of scripts without spaces, as in the native core."""


class FeaturePlace(NamedTuple):
    """A word of a text, or a letter of a script without spaces, and the features it is part of.

    Parameters
    ----------
    start, end : int
        Its first position in the text, and the one after its last.
    names : tuple of str
        The names of the features without the field, each once.
    """

    start: int
    end: int
    names: tuple[str, ...]


def feature_places(text: str, features: TextFeatures) -> list[FeaturePlace]:
    """Return the words of a text with the names of the features that they are part of.

    A word is part of its word n-grams and its character n-grams. Places ascend, and may overlap
    where one character stands for several words.

    Parameters
    ----------
    text : str
        Any text.
    features : TextFeatures
        The conversion of items into features; only its parameters are used.

    Examples
    --------
    >>> for place in feature_places("Pay the bill", TextFeatures(words=(1, 2))):
    ...     print(*place)
    0 3 ('pay', 'pay the')
    4 7 ('the', 'pay the', 'the bill')
    8 12 ('bill', 'the bill')
    """
    found: list[FeaturePlace] = []
    for is_run, group in groupby(tokens(text, features.lowercase), key=lambda token: token.is_run):
        if is_run:
            for run in group:
                found += _run_places(run)
        else:
            found += _word_places(list(group), features.words, features.chars)
    return found


def _run_places(run: Token) -> Iterable[FeaturePlace]:
    grams = _grams(list(run.text), (1, LONGEST_RUN_GRAM), "")
    for at, (start, end) in enumerate(run.places):
        yield FeaturePlace(start, end, _around(at, grams))


def _word_places(
    words: list[Token], lengths: tuple[int, int], characters: tuple[int, int] | None
) -> Iterable[FeaturePlace]:
    grams = {} if lengths == (1, 1) else _grams([word.text for word in words], lengths, " ")
    known: dict[str, tuple[str, ...]] = {}
    for at, word in enumerate(words):
        names = _around(at, grams) if grams else (word.text,)
        if characters is not None:
            if word.text not in known:
                known[word.text] = _character_grams(word.text, characters)
            names += known[word.text]
        ((start, end),) = word.places
        yield FeaturePlace(start, end, names)


def _grams(parts: list[str], lengths: tuple[int, int], between: str) -> dict[int, list[str]]:
    """Return the n-grams of a sequence by length, each list in the order of the sequence."""
    return {
        n: [between.join(parts[first : first + n]) for first in range(len(parts) - n + 1)]
        for n in range(lengths[0], lengths[1] + 1)
    }


def _around(at: int, grams: dict[int, list[str]]) -> tuple[str, ...]:
    """Return the n-grams that a member of the sequence is part of."""
    found: list[str] = []
    for n, names in grams.items():
        found += names[max(0, at - n + 1) : at + 1]
    return tuple(dict.fromkeys(found))


def _character_grams(word: str, lengths: tuple[int, int]) -> tuple[str, ...]:
    grams = _grams(list(f" {word} "), lengths, "")
    return tuple(dict.fromkeys(f"~{gram}" for names in grams.values() for gram in names))
