"""Cells that a spreadsheet would take for a formula."""

import re

__all__ = ["as_plain_text"]

# Excel, LibreOffice and Google Sheets evaluate cells that begin with one of these, even if they
# are quoted. Some of them skip white space before it, or accept the full-width forms.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def as_plain_text(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would take it for a formula.

    Parameters
    ----------
    text : str
        The contents of a cell. Numbers are no formulas and stay as they are.

    Examples
    --------
    >>> as_plain_text("=HYPERLINK(A1)")
    "'=HYPERLINK(A1)"
    >>> as_plain_text("-12"), as_plain_text("e-mail")
    ('-12', 'e-mail')
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
