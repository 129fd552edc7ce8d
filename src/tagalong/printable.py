"""Text from outside, made safe to show."""

import json
import math
import re
from typing import Any
from unicodedata import category

__all__ = ["as_json", "is_printable", "printable"]

_UNPRINTABLE = re.compile(r"[^ -~]")


def is_printable(character: str) -> bool:
    """Whether a character is shown as it is: a letter, mark, digit, sign or space.

    Control and format characters, surrogates, private-use and unassigned characters and the line
    and paragraph separators are not (the Unicode categories C* and Zl, Zp). They include the
    controls of terminals, the marks that change the direction of text, zero-width characters, soft
    hyphens and the joiners inside some emoji.

    Parameters
    ----------
    character : str
        A single character.
    """
    return character.isprintable() or category(character) == "Zs"


def printable(text: str) -> str:
    r"""Return a text as one line, with escapes in place of characters that are not printable.

    Labels, ids, words, subjects and file names come from outside. Some characters in them could
    change the colours or the title of a terminal, write to its clipboard, or forge lines.

    Parameters
    ----------
    text : str
        Any text.

    Examples
    --------
    >>> printable("\x1b[31mred \u202egnp")
    '\\x1b[31mred \\u202egnp'
    """
    if text.isprintable():
        return text
    return "".join(c if is_printable(c) else c.encode("unicode_escape").decode() for c in text)


def as_json(value: object) -> str:
    """Return a value as one line of JSON, with null for NaN and infinity.

    Characters that are not printable are escaped as JSON does: the value stays exact.

    Parameters
    ----------
    value : object
        Dictionaries, lists, tuples, texts, numbers, True, False and None.
    """
    line = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    return line if line.isprintable() else _UNPRINTABLE.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return character if is_printable(character) else json.dumps(character)[1:-1]


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
