"""JSON lines: parts of an item, keys, encodings, errors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.readers import Item
from tests.readers.in_memory import error, found, items, written


def test_all_parts_of_an_item() -> None:
    line = (
        '{"id": 7, "text": {"subject": "Hi", "": "there"}, "labels": ["a", 3], "weight": 2,'
        ' "features": {"size": 3, "new": true, "from": "ann", "tags": ["x", "y"], "none": null},'
        ' "other": [1]}'
    )
    (item,) = items(line, "jsonl")
    assert item == Item(
        "7",
        {"subject": "Hi", "": "there"},
        {"size": 3.0, "new": 1.0, "from": "ann", "tags=x": 1.0, "tags=y": 1.0},
        ("a", "3"),
        2.0,
    )
    assert item.place == "f:1"


@pytest.mark.parametrize(
    "labels, wanted",
    [
        ("null", None),
        ("[]", ()),
        ('"one"', ("one",)),
        ("5", ("5",)),
        ('["b", "a", "b"]', ("b", "a")),
    ],
)
def test_labels(labels: str, wanted: tuple[str, ...] | None) -> None:
    (item,) = items(f'{{"text": "", "labels": {labels}}}', "jsonl")
    assert item.labels == wanted


def test_keys_can_be_named_and_nested() -> None:
    line = '{"mail": {"subject": "s", "body": "b"}, "a.b": "x", "meta": {"tags": ["t"]}, "k": "u"}'
    options = {"text": ("mail.subject", "a.b", "no"), "labels": ("meta.tags", "k"), "id": "k"}
    (item,) = items(line, "jsonl", **options)
    assert item == Item("u", {"mail.subject": "s", "a.b": "x"}, {}, ("t", "u"))


@pytest.mark.parametrize(
    "line, problem",
    [
        ("{", "not JSON"),
        ('{"text": "a"} {"text": "b"}', "not JSON"),
        ("[1]", "an object"),
        ('"text"', "an object"),
        ('{"body": "b", "x": 1}', "'body', 'x'"),
        ('{"text": 3}', "must be a string"),
        ('{"text": {"a": 3}}', "'a'"),
        ('{"text": "", "labels": [true]}', "True"),
        ('{"text": "", "labels": [" "]}', "empty"),
        ('{"text": "", "labels": [[]]}', "label"),
        ('{"text": "", "id": []}', "id"),
        ('{"text": "", "weight": -1}', "-1"),
        ('{"text": "", "weight": "1"}', "weight"),
        ('{"features": []}', "features"),
        ('{"features": {"a": NaN}}', "'a'"),
        ('{"features": {"a": 1e999}}', "'a'"),
        ('{"features": {"a": [1]}}', "categories"),
        ('{"features": {"a": %s}}' % ("9" * 400), "too large"),
        ('{"features": {"a": %s}}' % ("9" * 5000), "not JSON"),
        ('{"text": "\\ud800"}', "surrogate"),
        ("[" * 100_000, "nested"),
        ('{"text": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested"),
    ],
)
def test_error_names_the_line_and_reading_continues(line: str, problem: str) -> None:
    seen = found('{"text": "before"}\n' + line + '\n{"text": "after"}\n', "jsonl")
    assert [each.text for each in seen if isinstance(each, Item)] == ["before", "after"]
    assert str(seen[1]).startswith("f:2: ")
    assert problem in str(seen[1])


def test_blank_lines_and_a_byte_order_mark_are_skipped() -> None:
    seen = items(b'\xef\xbb\xbf{"text": "a"}\r\n\r\n  \n{"text": "b"}', "jsonl")
    assert [(item.text, item.place) for item in seen] == [("a", "f:1"), ("b", "f:4")]


def test_escaped_surrogate_pairs_are_characters() -> None:
    assert items(r'{"text": "\ud83d\ude00"}', "jsonl")[0].text == "😀"


def test_encodings() -> None:
    text = '{"text": "Käse"}\n{"text": "日"}\n'
    assert [item.text for item in items(text.encode("utf-16"), "jsonl", encoding="utf-16")] == [
        "Käse",
        "日",
    ]
    assert items('{"text": "Käse"}'.encode("latin-1"), "jsonl", encoding="latin1")[0].text == "Käse"
    assert "0xe4" in error('{"text": "Käse"}'.encode("latin-1"), "jsonl")
    assert "utf-16" in error(b"\xff\xfea", "jsonl", encoding="utf-16")


def test_error_names_the_column() -> None:
    assert error('{"text": bad}', "jsonl") == "f:1: not JSON: Expecting value at column 10"
    assert error('\n\n  {"text": bad}', "jsonl") == "f:3: not JSON: Expecting value at column 12"
    message = error('{"text": "日本K'.encode() + b'\xe4se"}', "jsonl")
    assert message.startswith("f:1: byte 0xe4 at column 14 is not valid utf-8")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "cp037"])
def test_wide_encodings(encoding: str) -> None:
    lines = [f'{{"text": "{"x" * size}"}}\n' for size in (0, 5, 50_000, 7)] + ['{"text": "end"}']
    texts = [
        item.text for item in items("".join(lines).encode(encoding), "jsonl", encoding=encoding)
    ]
    assert texts == ["", "x" * 5, "x" * 50_000, "x" * 7, "end"]


def test_wide_encodings_are_read_up_to_the_line_with_an_error() -> None:
    data = "".join(f'{{"text": "{number}"}}\n' for number in range(60)) + '{"text": "'
    seen = found(data.encode("utf-16-le") + b"\x00\xd8\x41\x00", "jsonl", encoding="utf-16-le")
    assert [each.text for each in seen if isinstance(each, Item)] == [str(n) for n in range(60)]
    assert str(seen[60]).startswith("f:61: byte 0x00 at column 11 is not valid utf-16-le")
    cut = found(data.encode("utf-16-le")[:-1], "jsonl", encoding="utf-16-le")
    assert len(cut) == 61
    assert str(cut[60]).startswith("f:61: ")
    (long,) = found("x" * 50_000, "jsonl", max_line=100)
    (wide,) = found(("x" * 50_000).encode("utf-16"), "jsonl", max_line=100, encoding="utf-16")
    assert str(long) == str(wide)


def test_lines_that_are_too_long_raise_and_are_skipped() -> None:
    lines = ['{"text": "%s"}' % ("x" * size) for size in (5, 500, 87, 88)]
    seen = found("\n".join(lines), "jsonl", max_line=100)
    assert [str(each)[:4] for each in seen if not isinstance(each, Item)] == ["f:2:"]
    assert [each.place for each in seen if isinstance(each, Item)] == ["f:1", "f:3", "f:4"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("aé \n", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=3), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["id", "text", "labels", "features", "weight", "x"]), json_values
    )
)
def test_any_object_is_an_item_or_an_error(record: dict[str, object]) -> None:
    (seen,) = found(json.dumps(record), "jsonl")
    if isinstance(seen, Item):
        assert items(written([seen], "jsonl")[0], "jsonl") == [seen]
