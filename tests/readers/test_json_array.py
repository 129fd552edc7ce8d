"""JSON arrays and objects over several lines: streamed, with places and errors."""

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.readers import Item, ReadError, json_values, read
from tagalong.readers.jsonl import read_jsonl
from tests.readers.in_memory import error, found, items

RECORDS = [
    {"id": "1", "text": 'a "quote", [brackets] {braces}\n\\', "labels": ["x"]},
    {"id": "2", "text": "ä日 ] }", "features": {"n": 1.5, "c": "d"}, "labels": []},
    {"id": "3", "text": {"subject": "s", "body": ""}, "weight": 2.0},
]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
@pytest.mark.parametrize("is_array", [True, False])
def test_same_items_as_json_lines(
    indent: Any, piece: int, is_array: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_values, "_CHUNK", piece)
    if is_array:
        text = json.dumps(RECORDS, indent=indent, ensure_ascii=False)
    else:  # what jq writes
        text = "\n".join(json.dumps(record, indent=indent) for record in RECORDS)
    assert items(text, "jsonl") == items(LINES, "jsonl")


@given(st.lists(st.dictionaries(st.text(max_size=3), jsons, max_size=3), max_size=5), st.booleans())
def test_any_array(records: list[dict[str, Any]], pretty: bool) -> None:
    records = [{**record, "text": "t", "id": str(n)} for n, record in enumerate(records)]
    for record in records:
        for key in ("labels", "features", "weight"):
            record.pop(key, None)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    expected = [(item.id, item.text, item.date) for item in items(lines, "jsonl")]
    text = json.dumps(records, indent=1 if pretty else None)
    assert [(item.id, item.text, item.date) for item in items(text, "jsonl")] == expected


def test_places_are_the_lines_of_the_values() -> None:
    text = '\n[\n  {"text": "a"},\n  {\n    "text": "b"\n  }, {"text": "c"}\n]\n'
    assert [item.place for item in items(text, "jsonl")] == ["f:3", "f:4", "f:6"]


@pytest.mark.parametrize("text", ["[]", " [ ]\n", "[\n]"])
def test_empty_array(text: str) -> None:
    assert items(text, "jsonl") == []


@pytest.mark.parametrize(
    "text, problem",
    [
        ('[{"text": "a"},\n {"text": bad},\n {"text": "b"}]', "f:2: not JSON: Expecting value at column 11"),  # noqa: E501
        ('[{"text": "a"},\n {"text":\n  bad}, {"text": "b"}]', "f:3: not JSON: Expecting value at column 3"),  # noqa: E501
        ('[{"text": "a"}, 5, {"text": "b"}]', "f:1: an item must be an object {...}, not 5"),
        ('[{"text": "a"}, "x", {"text": "b"}]', "f:1: an item must be an object {...}, not 'x'"),
        ('[{"text": "a"}, [{"text": 1}], {"text": "b"}]', "f:1: an item must be an object"),
        ('[{"text": "a"},\n{"text": "\\ud800"},{"text": "b"}]', "f:2: a lone surrogate"),
        ('[{"text": "a"},\n{"text": "b"}', "f:2: the array is not complete: ']' is missing"),
        ('[{"text": "a"},\n{"text": "b"},\n]', "f:3: expected a value after ',' in the array"),
        ('[{"text": "a"}, {"text": "b"}]\n{"text": "c"}', "f:2: there is text after the end"),
        ('[{"text": "a"}, {"text": "b"} {"text": "c"}]', "f:1: expected ',' or ']' in the array"),
        ('[{"text": "a"}, nul, {"text": "b"}]', "f:1: not JSON"),
    ],
)  # fmt: skip
def test_errors_name_the_place_and_the_others_are_read(text: str, problem: str) -> None:
    assert error(text, "jsonl").startswith(problem)
    assert [each.text for each in found(text, "jsonl") if isinstance(each, Item)] == ["a", "b"]


def test_a_cut_array_is_an_error() -> None:
    seen = found('[{"text": "a"}, {"text": "b', "jsonl")
    assert isinstance(seen[0], Item)
    assert all(isinstance(each, ReadError) for each in seen[1:])
    assert len(seen) > 1


def test_deep_nesting_and_long_values() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert "nested too deeply" in error(f'[{{"text": {deep}}}]', "jsonl")
    long = json.dumps([{"text": "x" * 200_000}, {"text": "y"}])
    assert "longer than 1000 characters" in error(long, "jsonl", max_line=1000)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding: str) -> None:
    data = json.dumps([{"text": "Käse"}], ensure_ascii=False).encode(encoding)
    assert items(data, "jsonl", encoding=encoding)[0].text == "Käse"
    assert "option encoding" in error('[{"text": "Käse"}]'.encode("latin-1"), "jsonl")


def test_a_file_without_an_extension_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_text(json.dumps(RECORDS))
    assert [item.id for item in read(path)] == ["1", "2", "3"]


def test_memory_does_not_grow_with_the_array() -> None:
    text = b"[" + b",".join(b'{"text": "%s"}' % (b"x" * 1000) for _ in range(20_000)) + b"]"
    stream = io.BufferedReader(io.BytesIO(text))
    tracemalloc.start()
    count = sum(1 for _ in read_jsonl(stream, "f"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 2 << 20


def test_an_open_string_full_of_quotes_takes_linear_time() -> None:
    seen = found('[{"text": "' + '\\"[{,' * 500_000, "jsonl")
    assert any(isinstance(each, ReadError) for each in seen)
