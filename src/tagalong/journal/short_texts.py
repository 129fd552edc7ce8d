"""Ids and labels: short texts that can be stored."""

from tagalong.journal.errors import RefusedError

__all__ = ["MAX_BYTES", "checked_text"]

MAX_BYTES = 512


def checked_text(text: object, name: str) -> str:
    """Return a text; RefusedError unless it is not empty, valid Unicode, and not too long.

    Parameters
    ----------
    text : object
        The text: at most 512 bytes in UTF-8.
    name : str
        What it is, for the message.
    """
    if not isinstance(text, str) or not text:
        raise RefusedError(f"{name} must be a non-empty text, got {text!r}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise RefusedError(f"{name} {text!r} is not valid Unicode text") from None
    if size > MAX_BYTES:
        raise RefusedError(f"{name} has {size:,} bytes in UTF-8; at most {MAX_BYTES} are allowed")
    return text
