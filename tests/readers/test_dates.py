"""Dates of items in tables and JSON: forms, columns, errors, round trips."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.readers import Item, OptionError, read, write
from tagalong.readers.dates import date_text, parse_date_or_none
from tests.readers.in_memory import error, items, written

MORNING = datetime(2024, 1, 5, 10, 30, tzinfo=UTC)
MIDNIGHT = datetime(2024, 1, 5, tzinfo=UTC)
zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
dates = st.datetimes(timezones=zones)


@pytest.mark.parametrize(
    "value, wanted",
    [
        ("2024-01-05T10:30:00Z", MORNING),
        ("2024-01-05 11:30+01:00", MORNING),
        (" 2024-01-05 10:30 ", MORNING),
        ("Fri, 5 Jan 2024 11:30:00 +0100", MORNING),
        (1704450600, MORNING),
        ("1704450600.0", MORNING),
        (1704450600000, MORNING),
        ("2024-01-05", MIDNIGHT),
        ("20240105", MIDNIGHT),
        (20240105, MIDNIGHT),
        (date(2024, 1, 5), MIDNIGHT),
        (datetime(2024, 1, 5), MIDNIGHT),
        ("2024-01", datetime(2024, 1, 1, tzinfo=UTC)),
        (2024, datetime(2024, 1, 1, tzinfo=UTC)),
        ("", None),
        ("05/01/2024", None),
        ("soon", None),
        ("2024-13-01", None),
        ("nan", None),
        ("9" * 20, None),
        (True, None),
        ([], None),
        (float("inf"), None),
        (10**400, None),
    ],
)
def test_forms_of_dates(value: object, wanted: datetime | None) -> None:
    assert parse_date_or_none(value) == wanted


@given(dates)
def test_text_is_read_back_with_its_time_zone(given: datetime) -> None:
    found = parse_date_or_none(date_text(given))
    assert found == given
    assert found is not None
    assert found.utcoffset() == given.utcoffset()


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet"])
def test_dates_are_written_and_read(format: str, tmp_path: Path) -> None:
    summer = datetime(2024, 7, 1, 8, 15, 30, 123456, tzinfo=timezone(timedelta(hours=2)))
    given = [Item("1", "a", date=MORNING), Item("2", "b"), Item("3", "c", date=summer)]
    path = tmp_path / f"a.{format}"
    write(given, path)
    assert list(read(path)) == given


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet"])
def test_no_date_no_column(format: str) -> None:
    assert b"date" not in written([Item("1", "a")], format)[0]


def test_a_named_column_must_hold_dates() -> None:
    table = "text,created\na,2024-01-05\nb,\nc,soon\n"
    assert error(table, "csv", date="created") == (
        "f:4: column 'created' must hold a date, such as 2024-01-05, 2024-01-05T10:30:00+01:00 or "
        "seconds since 1970, not 'soon'"
    )
    assert "there is no column 'creation'" in error(table, "csv", date="creation")
    lines = '{"text": "a", "meta": {"at": 1704450600}}\n{"text": "b", "meta": {"at": "soon"}}\n'
    assert error(lines, "jsonl", date="meta.at").startswith("f:2: key 'meta.at' must hold a date")


def test_the_default_column_may_hold_anything() -> None:
    found = items("text,Date\na,2024-01-05\nb,soon\n", "csv")
    assert [item.date for item in found] == [MIDNIGHT, None]
    found = items('{"text": "a", "date": "2024-01-05"}\n{"text": "b", "date": [1]}\n', "jsonl")
    assert [item.date for item in found] == [MIDNIGHT, None]


@pytest.mark.parametrize("options", [{"features": "date"}, {"features": "*"}, {"text": "date"}])
def test_a_column_with_another_use_is_no_date(options: dict[str, str]) -> None:
    (item,) = items("text,date\na,2024\n", "csv", **options)
    assert item.date is None
    assert item.features == {"date": 2024.0} or item.text == "2024"


def test_a_named_date_is_no_feature() -> None:
    (item,) = items("text,n,at\na,1,2024-01-05\n", "csv", features="*", date="at")
    assert (item.features, item.date) == ({"n": 1.0}, MIDNIGHT)


def test_optional_columns_may_be_missing() -> None:
    table = "body,team\nhello,bank\n"
    options = {"text": ("subject", "body"), "labels": "group", "id": "key", "weight": "w"}
    assert "there is no column 'subject'" in error(table, "csv", **options)
    names = ("text", "labels", "id", "weight", "date", "features")
    (item,) = items(table, "csv", **options, optional=names, date="at", features=("x",))
    assert item == Item("", "hello")
    (item,) = items("text,id\nhello,7\n", "csv", text="subject", id="key", optional=("text", "id"))
    assert item == Item("7", "hello")
    with pytest.raises(OptionError, match=r"optional must name some of .*, not 'columns'"):
        items(table, "csv", optional="columns")


def test_a_date_of_an_item_needs_a_time_zone() -> None:
    for wrong in (datetime(2024, 1, 5), "2024-01-05"):
        with pytest.raises(ValueError, match=r"must be a datetime with a time zone, not .*2024"):
            Item(date=wrong)  # type: ignore[arg-type]
