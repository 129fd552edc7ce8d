"""Dates of mail: the Date header, or else when and how the message was delivered."""

import re
from datetime import datetime, timedelta, timezone

from tagalong.mail.formats.mime import Mail

__all__ = ["date_of_mail", "envelope_date", "parse_mail_date"]

_MAX_DATE = 200  # characters of a header that are parsed
_FIRST_YEAR = 1971  # of the first mail; clocks that were not set say 1970
# The weekday after the sender in "From ann@example.org Mon Jan  1 10:00:00 2024".
_ENVELOPE_DATE = re.compile(rb"From (?:[^\n]*?[ \t])??((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ,][^\n]*)")


def parse_mail_date(text: str) -> datetime | None:
    """Return the date that a header gives; None if it is not a date of mail.

    Parameters
    ----------
    text : str
        A date as in the header Date. Without a time zone it is in UTC.

    Examples
    --------
    >>> parse_mail_date("Fri, 5 Jan 2024 10:30:00 +0100").isoformat()
    '2024-01-05T10:30:00+01:00'
    >>> parse_mail_date("yesterday")
    """
    from email.utils import parsedate_tz

    try:
        found = parsedate_tz(text[:_MAX_DATE])
        if found is None or found[0] < _FIRST_YEAR:
            return None
        year, month, day, hour, minute, second = found[:6]
        zone = timezone(timedelta(seconds=found[9] or 0))
        # A leap second is the last second of its minute.
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def date_of_mail(mail: Mail, delivered: datetime | None = None) -> datetime | None:
    """Return the date of a mail; None if it has no valid one.

    Parameters
    ----------
    mail : Mail
        Parsed mail. Its date is in the header Date, or else at the end of the first header
        Received, which the last server has added.
    delivered : datetime, optional
        When the mail was delivered, used if neither header has a valid date.
    """
    sent = parse_mail_date(mail.headers.get("date", ""))
    return sent or parse_mail_date(mail.headers.get("received", "").rpartition(";")[2]) or delivered


def envelope_date(data: bytes) -> datetime | None:
    """Return the date in the line "From " with which a message of an mbox file starts."""
    found = _ENVELOPE_DATE.match(data, 0, _MAX_DATE)
    return parse_mail_date(found[1].decode("ascii", "replace")) if found else None
