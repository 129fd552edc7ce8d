"""Shares that people type in percent."""

from tagalong.server.api.schemas import Number
from tagalong.server.problems import Problem

__all__ = ["percent_of", "percent_text"]

_NUMBER = Number()


def percent_of(
    text: str, place: str, *, above: float | None = None, least: float | None = None
) -> float:
    """Return the share that was typed in percent; a Problem that says what would be right.

    Parameters
    ----------
    text : str
        What was typed, with or without a percent sign.
    place : str
        What the number is, for the message.
    above : float, optional
        The percentage must be larger.
    least : float, optional
        The least percentage besides 0, which is then allowed.

    Examples
    --------
    >>> percent_of("99,5 %", "the share", above=0)
    0.995
    """
    typed = text.strip().removesuffix("%").strip().replace(",", ".")
    try:
        value: float | None = _NUMBER.parse(typed, place)
    except Problem:
        value = None
    if least is not None:
        wanted = f"0, or a number from {least:g} to 100"
        is_right = value is not None and (value == 0 or least <= value <= 100)
    else:
        wanted = f"a number above {above or 0:g} and at most 100"
        is_right = value is not None and (above or 0) < value <= 100
    if value is None or not is_right:
        got = f"got “{text.strip()[:40]}”" if text.strip() else "it is empty"
        raise Problem(422, "not-valid", f"{place} must be {wanted}; {got}", place=place)
    return float(f"{value / 100:.12g}")


def percent_text(share: float) -> str:
    """Return a share as people type it in percent, without the sign.

    Parameters
    ----------
    share : float
        The share.

    Examples
    --------
    >>> percent_text(0.95)
    '95'
    """
    return f"{100 * share:.10g}"
