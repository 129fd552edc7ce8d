"""Text of items with a visible sign in place of each character that cannot be seen."""

import re
from unicodedata import category

from tagalong.printable import is_printable

__all__ = ["visible", "visible_line"]

KEPT = "\t\n\r\u200c\u200d"
"""White space, and the zero-width characters that words of some scripts and some emoji need."""

NEW_PICTOGRAPHS = range(0x1F000, 0x20000)
"""The block of emoji, of which some are newer than Python's Unicode database."""

FORMAT_SIGN = "\u25ab"
BROKEN_SIGN = "\ufffd"

LONE_RETURN = re.compile(r"\r(?!\n)")
RETURN_SIGN = "\u240d"


def visible(text: str) -> str:
    r"""Return a text with a sign for each character that cannot be seen or changes the direction.

    Control characters become their symbols (U+2400 to U+2421). Format characters, such as those
    that change the direction of text, become a small square. Surrogates, unassigned characters and
    the later control characters become the replacement character. Tabs, ends of lines (LF, CR LF),
    emoji and joiners, which some words and emoji need, stay. The number of characters stays the
    same, so that places in the text are places in the result. The result can always be encoded.

    Parameters
    ----------
    text : str
        Any text.

    Examples
    --------
    >>> visible("\x1b[31mred \u202egnp")
    '␛[31mred ▫gnp'
    """
    if text.isprintable():
        return text
    signs = {ord(character): _sign(character) for character in set(text)}
    return LONE_RETURN.sub(RETURN_SIGN, text.translate(signs))


def visible_line(text: str) -> str:
    r"""Return a title with the same signs as `visible`, as one line.

    Parameters
    ----------
    text : str
        Any text.

    Examples
    --------
    >>> visible_line("\u202egnp\nnext line")
    '▫gnp next line'
    """
    return " ".join(visible(text).split())


def _sign(character: str) -> str:
    if is_printable(character) or character in KEPT:
        return character
    point = ord(character)
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "\u2421"
    kind = category(character)
    if kind in ("Cf", "Zl", "Zp"):
        return FORMAT_SIGN
    return character if kind == "Cn" and point in NEW_PICTOGRAPHS else BROKEN_SIGN
