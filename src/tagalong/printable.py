"""Text from outside, made safe to show."""

from unicodedata import category

__all__ = ["is_printable", "printable"]


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
