"""Reference implementation of words and n-grams of a text, with Python's Unicode database."""

import math
import unicodedata
from collections import Counter
from itertools import groupby

SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO ", "KHMER", "MYANMAR", "TIBETAN")


def kind(character: str) -> str:
    category = unicodedata.category(character)[0]
    if category not in "LMN":
        return "other"
    name = unicodedata.name(character, "")
    return "spaceless" if category != "N" and name.startswith(SPACELESS) else "word"


def cut(word: str, longest: int = 64) -> str:
    """Return the word's first characters, up to the one that reaches ``longest`` bytes."""
    out = ""
    for character in word:
        if len(out.encode()) >= longest:
            break
        out += character
    return out


def names(text: str, words: tuple[int, int], chars: tuple[int, int] | None) -> list[str]:
    """Return all features of a text, with repetition."""
    text = unicodedata.normalize("NFKC", text.casefold())
    found: list[str] = []
    neighbours: list[str] = []
    for what, run in groupby(text, key=kind):
        part = "".join(run)
        if what == "spaceless":
            neighbours = []
            found += [part[i : i + n] for n in (1, 2, 3) for i in range(len(part) - n + 1)]
        elif what == "word":
            word = cut(part)
            neighbours.append(word)
            for n in range(words[0], words[1] + 1):
                if n <= len(neighbours):
                    found.append(" ".join(neighbours[-n:]))
            if chars:
                padded = f" {word} "
                found += [
                    "~" + padded[i : i + n]
                    for n in range(chars[0], chars[1] + 1)
                    for i in range(len(padded) - n + 1)
                ]
    return found


def weights(
    text: str,
    words: tuple[int, int],
    chars: tuple[int, int] | None,
    weighting: str,
    before: list[str],
) -> dict[str, float]:
    """Return the value of each feature of a text, given the texts learnt before it."""
    counts = Counter(names(text, words, chars))
    if weighting == "binary":
        return dict.fromkeys(counts, 1.0)
    if weighting == "count":
        return {name: float(count) for name, count in counts.items()}
    out = {name: 1 + math.log(count) for name, count in counts.items()}
    if weighting == "tfidf":
        seen = [set(names(other, words, chars)) for other in before]
        for name in out:
            document_frequency = sum(name in other for other in seen)
            out[name] *= 1 + math.log((1 + len(before)) / (1 + document_frequency))
    return out
