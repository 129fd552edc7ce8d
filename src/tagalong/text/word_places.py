"""Places of words in a text: which of its characters give which words.

`TextFeatures` reads a text in normal form (NFKC, case-folded), in which characters may be composed,
split or replaced: "ﬁ" is "fi", "℀" is "a/c". The text is therefore divided into atoms, the shortest
parts whose normal forms together are the normal form of the text. A word has the place of the atoms
that its characters come from, so the places of two words may overlap.
"""

import re
import unicodedata
from functools import cache
from itertools import chain
from typing import NamedTuple

from tagalong.text.features import TextFeatures
from tagalong.text.rows import normalized

__all__ = ["Place", "Token", "tokens"]

LONGEST_WORD = 64
"""The number of bytes at which words are cut, as in the native core."""

BYTES_PER_CHARACTER = 4
"""The largest number of bytes of a character in UTF-8."""

COMPOSED_LETTERS = re.compile("[\u1161-\u1175\u11a8-\u11c2\U00016d63-\U00016d6a\udc00-\udfff]")
"""The characters other than marks that may be composed with the one before them: vowels and final
consonants of Hangul, vowels of Kirat Rai, and second halves of surrogate pairs."""

ASCII_LOWER = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}

STRETCH, EXPANDS, JOINS = "=", "<", "+"
ATOMS = re.compile(r"=+(?!\+)|[=<]\+*|\++")
WORD, SPACELESS, OTHER = "w", "s", " "
RUNS = re.compile(r"(w+)|s+")

Place = tuple[int, int]
"""The first position in the text, and the one after the last."""


class Token(NamedTuple):
    """A word of a text, or a run of letters of a script without spaces between words.

    Parameters
    ----------
    text : str
        Its normal form. Long words are cut.
    is_run : bool
        Whether it is a run, whose features are sequences of one to three letters.
    places : tuple of (int, int)
        The place of a word; one place per letter of a run.
    """

    text: str
    is_run: bool
    places: tuple[Place, ...]


def tokens(text: str, lowercase: bool = True) -> list[Token]:
    """Return the words of a text with their places, as `TextFeatures` reads it.

    Parameters
    ----------
    text : str
        Any text.
    lowercase : bool
        Whether to ignore case.

    Examples
    --------
    >>> [(token.text, *token.places) for token in tokens("ﬁne Straße")]
    [('fine', (0, 3)), ('strasse', (4, 10))]
    """
    normal, starts, ends = _aligned(text, lowercase)
    found = []
    for match in RUNS.finditer(normal.translate(_kinds(frozenset(normal)))):
        first, end = match.span()
        if match[1] is None:
            places = tuple(zip(starts[first:end], ends[first:end], strict=True))
            found.append(Token(normal[first:end], True, places))
        else:
            found.append(Token(_cut(normal[first:end]), False, ((starts[first], ends[end - 1]),)))
    return found


def _aligned(text: str, lowercase: bool) -> tuple[str, list[int] | range, list[int] | range]:
    """Return a text's normal form, and where the atom of each of its characters starts and ends."""
    if text.isascii():
        places = range(len(text) + 1)
        return text.translate(ASCII_LOWER) if lowercase else text, places[:-1], places[1:]
    parts: list[str] = []
    starts: list[range | list[int]] = []
    ends: list[range | list[int]] = []
    kinds = {ord(c): _atom_kind(c, lowercase) for c in set(text)}
    for match in ATOMS.finditer(text.translate(kinds)):
        start, end = match.span()
        part = normalized(text[start:end], lowercase)
        parts.append(part)
        if match[0].endswith(STRETCH):
            starts.append(range(start, end))
            ends.append(range(start + 1, end + 1))
        else:
            starts.append([start] * len(part))
            ends.append([end] * len(part))
    normal = "".join(parts)
    if lowercase:
        normal = normal.translate(ASCII_LOWER)
    return normal, list(chain.from_iterable(starts)), list(chain.from_iterable(ends))


def _atom_kind(character: str, lowercase: bool) -> str:
    """Return whether a character joins the atom before it, or else if it expands."""
    folded = character.casefold() if lowercase else character
    first = unicodedata.normalize("NFKD", folded)[0]
    if unicodedata.category(first).startswith("M") or COMPOSED_LETTERS.match(first):
        return JOINS
    return STRETCH if len(normalized(character, lowercase)) == 1 else EXPANDS


def _kinds(characters: frozenset[str]) -> dict[int, str]:
    """Return the kinds of characters in normal form; the native core decides them."""
    names = set(_splitter().describe(" ".join(f"0{c}0" for c in sorted(characters))))
    kinds = {}
    for character in characters:
        if f"0{character}0" in names:
            kinds[ord(character)] = WORD
        else:
            kinds[ord(character)] = SPACELESS if character in names else OTHER
    return kinds


@cache
def _splitter() -> TextFeatures:
    return TextFeatures(buckets=None, lowercase=False, names=False)


def _cut(word: str) -> str:
    if len(word) * BYTES_PER_CHARACTER < LONGEST_WORD:
        return word
    size = 0
    for length, character in enumerate(word):
        if size >= LONGEST_WORD:
            return word[:length]
        size += len(character.encode())
    return word
