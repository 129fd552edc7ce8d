"""Dates of mail: headers, what stands in for them, and broken ones."""

import io
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.learning.items import Item
from tagalong.mail.formats.dates import envelope_date, parse_mail_date
from tagalong.mail.formats.maildir import read_maildir, read_message
from tagalong.mail.formats.mbox import read_mbox

MORNING = datetime(2024, 1, 5, 10, 30, tzinfo=UTC)
SENT = "Date: Fri, 5 Jan 2024 11:30:00 +0100"
RECEIVED = "Received: from a by b with SMTP; Fri, 5 Jan 2024 10:30:00 +0000 (UTC)"
BROKEN = ["", "Date:", "Date: tomorrow", "Date: Thu, 1 Jan 1970 00:00:00 +0000", "Date: 32 Feb 24"]
BROKEN += ["Date: Fri, 5 Jan 2024 11:30:00 +9999", "Date: Fri, 99 Jan 99999 11:99:00 GMT"]


def dated(headers: list[str], first: str = "From ann") -> datetime | None:
    data = "\n".join([first, *filter(None, headers), "", "Hello"]).encode()
    (item,) = read_mbox(io.BytesIO(data), "Work.mbox")
    assert isinstance(item, Item)
    return item.date


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("Fri, 05 Jan 2024 10:30:00 +0000", MORNING),
        ("Fri, 5 Jan 2024 11:30:00 +0100 (CET)", MORNING),
        ("5 Jan 24 05:30 EST", MORNING),
        ("Fri, 5 Jan 2024 10:30:00 -0000", MORNING),
        ("Fri, 5 Jan 2024 10:30:00", MORNING),
        ("Sat, 31 Dec 2016 23:59:60 GMT", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_forms_of_dates(text: str, wanted: datetime) -> None:
    assert parse_mail_date(text) == wanted


def test_the_time_zone_is_kept() -> None:
    found = parse_mail_date("Fri, 5 Jan 2024 11:30:00 +0100")
    assert found is not None
    assert found.tzinfo == timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    "line",
    [
        b"From ann@example.org Fri Jan  5 10:30:00 2024",
        b"From 1787932@xxx Fri Jan 05 10:30:00 +0000 2024",  # Google Takeout
        b"From - Fri Jan 05 10:30:00 2024",  # Thunderbird
        b"From ann@example.org Fri, 5 Jan 2024 11:30:00 +0100\r\nSubject: x",
    ],
)
def test_date_of_the_from_line(line: bytes) -> None:
    assert envelope_date(line) == MORNING


def test_the_date_header_wins_over_received_and_the_from_line() -> None:
    other = "From ann Sat Jan  6 10:30:00 2024"
    assert dated([SENT, "Received: by b; Sat, 6 Jan 2024 10:30:00 +0000"], other) == MORNING


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_date_is_replaced(broken: str) -> None:
    line = "From ann Fri Jan  5 10:30:00 2024"
    assert dated([broken, RECEIVED]) == MORNING
    assert dated([broken, "Received: by b"], line) == MORNING
    assert dated([broken], "From ann") is None


def test_only_the_first_received_header_counts() -> None:
    earlier = "Received: by a; Mon, 1 Jan 2024 10:30:00 +0000"
    assert dated([RECEIVED, earlier]) == MORNING


def test_a_maildir_falls_back_to_the_name_and_the_mtime(tmp_path: Path) -> None:
    (tmp_path / "cur").mkdir()
    for name, header in (
        ("1704450600.a", ""),
        ("7.b", ""),  # a number that is not a time
        ("c", ""),
        ("1.d", SENT),
    ):
        path = tmp_path / "cur" / name
        path.write_text(f"{header}\nSubject: {name}\n\nbody" if header else "Subject: x\n\nbody")
        seconds = 0 if name.startswith(("1704", "1.")) else MORNING.timestamp()
        os.utime(path, (seconds, seconds))
        assert read_message(path).date == MORNING
    assert {item.date for item in read_maildir(tmp_path) if isinstance(item, Item)} == {MORNING}
    os.utime(tmp_path / "cur" / "c", (0, 0))
    assert read_message(tmp_path / "cur" / "c").date is None


@given(st.text(max_size=60) | st.from_regex(r"\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ [+-]\d{0,9}"))
def test_no_header_raises(text: str) -> None:
    found = parse_mail_date(text)
    assert found is None or found.utcoffset() is not None
    envelope_date(f"From {text}".encode("utf-8", "surrogatepass"))
    header = "".join(text.splitlines()).encode("utf-8", "replace")
    list(read_mbox(io.BytesIO(b"From ann\nDate: " + header + b"\n\nx"), "Work.mbox"))


def test_an_endless_date_takes_no_time() -> None:
    assert parse_mail_date("Fri, " + "(" * 1_000_000) is None
    assert parse_mail_date("5 " * 1_000_000) is None
