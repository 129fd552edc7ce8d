"""Types of JSON values: what they accept is what they say in their JSON schema."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tagalong.server.api.schemas import (
    AnyOf,
    Choice,
    File,
    Flag,
    ListOf,
    MapOf,
    Moment,
    Nothing,
    Number,
    Record,
    Text,
    Type,
    Whole,
    nullable,
)
from tagalong.server.problems import Problem

BOTH = Record("Both", {"a": Whole()}, {"b": Text()})
CASES: list[tuple[Type, list[Any], list[Any]]] = [
    (Text(), ["", "x", "é\n"], [None, 1, ["x"], True]),
    (Text(1, 3), ["a", "abc", "éé "], ["", "abcd"]),
    (Text(pattern="[a-z]+"), ["a", "zz"], ["", "A", "aé"]),
    (Number(), [0, -1, 1.5, 1e300], ["1", None, True, [1]]),
    (Number(above=0, most=1), [1, 0.5, 5e-324], [0, -1, 1.0001]),
    (Number(least=0.5, most=1), [0.5, 1], [0.49, 2]),
    (Whole(1, 9), [1, 9, 3.0], [0, 10, 1.5, "1", True, None]),
    (Flag(), [True, False], [0, 1, "true", None]),
    (Choice(("a", "b")), ["a", "b"], ["c", "", None, 1]),
    (Nothing(), [None], [0, "", False]),
    (AnyOf((Flag(), Choice(("auto",))), "either"), [True, "auto"], ["x", 1, None]),
    (nullable(Text(1), "a text or null"), ["x", None], ["", 0]),
    (ListOf(Text(1), 2), [[], ["a", "b"]], [["a", "b", "c"], [""], "ab", {}]),
    (MapOf(Whole()), [{}, {"a": 1}], [{"a": "1"}, [], None]),
    (Moment(), ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+02:00"], ["2026-01-31", "", 1]),
    (BOTH, [{"a": 1}, {"a": 1, "b": ""}], [{}, {"b": ""}, {"a": 1, "c": 1}, [], {"a": ""}]),
    (Record("Open", {"a": Whole()}, is_open=True), [{"a": 1, "z": 0}], [{"z": 0}]),
    (
        Record("One", optional={"a": Whole(), "b": Whole()}, one_of=("a", "b")),
        [{"a": 1}, {"a": 1, "b": 2}],
        [{}],
    ),
    (
        Record(
            "Alone",
            optional=dict.fromkeys("abc", Whole()),
            one_of=("a", "b", "c"),
            alone=("a", "b", "c"),
        ),
        [{"a": 1}, {"c": 1}],
        [{}, {"a": 1, "b": 2}, {"b": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}],
    ),
    (
        Record("Pair", optional=dict.fromkeys("ab", Whole()), alone=("a", "b")),
        [{}],
        [{"a": 1, "b": 1}],
    ),
]


def full_schema(type: Type) -> dict[str, Any]:
    """Return the JSON schema of a type with the records that it refers to."""
    components = {record.name: record.component() for record in type.records()}
    return {**type.schema(), "components": {"schemas": components}}


def accepts(type: Type, value: Any) -> bool:
    try:
        type.check(value, "/x")
    except Problem:
        return False
    return True


@pytest.mark.parametrize(("type", "right", "wrong"), CASES)
def test_a_type_accepts_what_its_schema_describes(type, right, wrong):
    schema = full_schema(type)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    for value in right:
        assert accepts(type, value), value
        assert validator.is_valid(value), value
    for value in wrong:
        assert not accepts(type, value), value
        if not isinstance(type, Moment):  # jsonschema checks dates with further packages only
            assert not validator.is_valid(value), value


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (Text(), 7, "/x must be a text, got 7"),
        (Text(1), "", "/x must be a non-empty text, got ''"),
        (Text(most=1000), "a" * 1001, "/x must be a text of at most 1,000 characters, got 'aaa"),
        (Text(bytes=3), "éé", "/x must be a text of at most 3 bytes in UTF-8 (it has 4), got 'éé'"),
        (Text(), "\ud800", r"/x must be valid Unicode text, got '\ud800'"),
        (Text(pattern="[a-z]+", meaning="a word"), "A", "/x must be a word, got 'A'"),
        (Number(above=0, most=1), 0, "/x must be a number above 0, got 0"),
        (Number(above=0, most=1), 2, "/x must be a number of at most 1, got 2"),
        (Number(least=1), 0.5, "/x must be a number of at least 1, got 0.5"),
        (Number(), 10**400, "/x must be a number, got 1000"),
        (Number(), float("inf"), "/x must be a number, got inf"),
        (Whole(1, 9), 10, "/x must be a whole number from 1 to 9, got 10"),
        (Flag(), "yes", "/x must be true or false, got 'yes'"),
        (Choice(("a", "b")), "c", "/x must be 'a' or 'b', got 'c'"),
        (ListOf(Text()), "a", "/x must be a list, got 'a'"),
        (ListOf(Whole()), [1, "b"], "/x/1 must be a whole number"),
        (nullable(ListOf(Text(1)), "a list or null"), "a", "/x must be a list or null, got 'a'"),
        (nullable(ListOf(Text(1)), "a list or null"), [""], "/x/0 must be a non-empty text"),
        (MapOf(Whole()), {"k": "v"}, "/x/k must be a whole number"),
        (MapOf(Whole()), {"\udc00": 1}, "a name in /x must be valid Unicode text"),
        (Moment(), "31.1.2026", "/x must be a time with its zone, such as 2026-01-31T12:00:00Z"),
        (BOTH, {}, "/x/a is missing"),
        (BOTH, {"a": 1, "z": 1}, "/x/z: there is no such member; the members are: a, b"),
        (Record("R", optional={"a": Flag()}, one_of=("a",)), {}, "/x: one of a must be there"),
        (
            Record("R", optional=dict.fromkeys("ab", Whole()), alone=("a", "b")),
            {"a": 1, "b": 1},
            "/x/a and /x/b cannot be there together: send one of them",
        ),
    ],
)
def test_a_message_names_the_place_the_value_and_the_right_form(type, value, message):
    with pytest.raises(Problem) as caught:
        type.check(value, "/x")
    assert caught.value.detail.startswith(message)
    assert caught.value.facts["place"].startswith("/x") or "a name in" in message


def test_long_values_are_cut_in_messages():
    with pytest.raises(Problem) as caught:
        Whole().check("x" * 10_000, "/x")
    assert len(caught.value.detail) < 150


def test_texts_are_limited_by_bytes():
    assert Text(bytes=4).check("éé", "") == "éé"
    assert Text(bytes=512).schema()["maxLength"] == 512
    assert "512 bytes" in Text(bytes=512).schema()["description"]


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31t12:00:00.25z", datetime(2026, 1, 31, 12, 0, 0, 250_000, UTC)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("2026-01-31T12:00:00.123456789-00:30", datetime(2026, 1, 31, 12, 30, 0, 123456, UTC)),
    ],
)
def test_moments(text, instant):
    found = Moment().check(text, "/date")
    assert found == instant
    assert found.utcoffset() is not None


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T12:00:00Z",
        "2026-01-31T12:00:00",
        "2026-01-31 12:00:00Z",
        "20260131T120000Z",
        "2026-W05-6T12:00:00Z",
        "2026-01-31T24:01:00Z",
        "2026-01-31T12:00:00+99:00",
        "2026-01-31T12:00:00Z\n",
        "٢026-01-31T12:00:00Z",
    ],
)
def test_other_times_are_refused(text):
    with pytest.raises(Problem):
        Moment().check(text, "/date")


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (Whole(), "12", 12),
        (Number(), "1e-3", 0.001),
        (Number(), ".5", 0.5),
        (Flag(), "true", True),
        (Flag(), "false", False),
        (Text(), "12", "12"),
        (Choice(("a",)), "a", "a"),
        (nullable(Text(), "a text or null"), "x", "x"),
        (Moment(), "2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
    ],
)
def test_parameters_of_a_url(type, text, value):
    assert type.parse(text, "p") == value


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Whole(), "1.0"),
        (Whole(), "1_000"),
        (Whole(), "٣"),
        (Whole(), ""),
        (Whole(), "9" * 5000),
        (Number(), "nan"),
        (Number(), "inf"),
        (Number(), "1e999"),
        (Number(), "0x10"),
        (Flag(), "True"),
        (Flag(), "1"),
        (ListOf(Text()), "a"),
        (MapOf(Text()), "{}"),
        (BOTH, "{}"),
    ],
)
def test_parameters_of_a_url_that_are_refused(type, text):
    with pytest.raises(Problem) as caught:
        type.parse(text, "p")
    assert caught.value.status == 422
    assert caught.value.detail.startswith("p must be ")


def test_a_file_is_no_json():
    with pytest.raises(Problem):
        File().check("text", "file")
    assert File().schema()["format"] == "binary"


def test_records_lists_records_within_records():
    inner = Record("Inner", {"a": Whole()})
    outer = Record("Outer", {"list": ListOf(inner)}, {"map": nullable(MapOf(BOTH), "")})
    assert [record.name for record in outer.records()] == ["Outer", "Inner", "Both"]


def test_moments_have_a_range_of_zones():
    assert Moment().check("2026-01-31T12:00:00+14:00", "").utcoffset() == timedelta(hours=14)
