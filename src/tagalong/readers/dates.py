"""Dates in tables and JSON: ISO 8601, dates of mail, seconds since 1970."""

import re
from datetime import UTC, date, datetime, time, timedelta

from tagalong.learning.items import ReadError
from tagalong.mail.formats.dates import parse_mail_date
from tagalong.readers.values import short_repr

__all__ = ["date_text", "parse_date", "parse_date_or_none"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,20})?")
_COMPACT = re.compile(r"[12]\d{3}(?:\d{4})?")  # 2024 and 20240105, which are not seconds
_MONTH = re.compile(r"\d{4}-\d\d")
_FIRST_MILLISECONDS = 1e11  # as seconds this would be the year 5138


def parse_date(value: object, place: str, name: str) -> datetime | None:
    """Return the date of a cell or JSON value; None if it is empty.

    Parameters
    ----------
    value : object
        A text, a number of seconds or milliseconds since 1970, a date or a datetime. Without a
        time zone the date is in UTC.
    place : str
        The file and the line, for messages.
    name : str
        The column or key, for messages.

    Raises
    ------
    ReadError
        If the value is not a date.

    Examples
    --------
    >>> parse_date("2024-01-05 10:30", "tickets.csv:2", "column 'created'").isoformat()
    '2024-01-05T10:30:00+00:00'
    """
    found = parse_date_or_none(value)
    if found is None and not (value is None or (isinstance(value, str) and not value.strip())):
        raise ReadError(
            place,
            f"{name} must hold a date, such as 2024-01-05, 2024-01-05T10:30:00+01:00 or seconds "
            f"since 1970, not {short_repr(value)}",
        )
    return found


def parse_date_or_none(value: object) -> datetime | None:
    """Return the date of a value; None if it is not a date."""
    try:
        if isinstance(value, str):
            return _with_zone(_from_text(value.strip()))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _with_zone(_from_number(value))
        if isinstance(value, datetime):
            return _with_zone(value)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
    except (ValueError, OverflowError):
        pass
    return None


def date_text(date: datetime) -> str:
    """Return a date as a text that `parse_date` reads back."""
    return date.isoformat()


def _from_text(text: str) -> datetime | None:
    if not text:
        return None
    if _COMPACT.fullmatch(text):
        return datetime.fromisoformat(text if len(text) == 8 else f"{text}-01-01")
    if _NUMBER.fullmatch(text):
        return _from_seconds(float(text))
    if _MONTH.fullmatch(text):
        text += "-01"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parse_mail_date(text)


def _from_number(number: float) -> datetime | None:
    text = str(int(number)) if number == int(number) else ""
    return _from_text(text) if _COMPACT.fullmatch(text) else _from_seconds(number)


def _from_seconds(number: float) -> datetime:
    if abs(number) >= _FIRST_MILLISECONDS:
        number /= 1000
    return _EPOCH + timedelta(seconds=number)


def _with_zone(found: datetime | None) -> datetime | None:
    if found is not None and found.utcoffset() is None:
        return found.replace(tzinfo=UTC)
    return found
