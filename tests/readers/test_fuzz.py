"""Fuzzing: for any bytes a reader yields valid items, or errors that name file and line."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tagalong.readers import FORMATS, Item, ReadError, read
from tests.readers.in_memory import found, written

HEADER = (
    b"@relation 'x: -C 2'\n@attribute a {0,1}\n@attribute 'b c' {1,0}\n@attribute n numeric\n"
    b"@attribute c {red,'dark blue'}\n@attribute s string\n@data\n"
)
PARQUET = written([Item("i", "text", {"n": 1.0}, ("a",)), Item("j", "more", {}, None)], "parquet")
VALID: dict[str, bytes] = {
    "jsonl": b'{"id": 1, "text": {"a": "b"}, "labels": ["x"], "features": {"n": 1.5, "c": "\\u00e4"'
    b', "l": ["m"]}, "weight": 2}\n{"text": "\xc3\xa4", "labels": null}\n',
    "csv": b'id,text,labels,n\n1,"a ""b""\nc","x,y",3\n2,plain,,red\n',
    "tsv": b'id\ttext\tlabels\tn\n1\ta\tx,y\t3\n2\t"b\tc"\t\t\n',
    "svmlight": b"1,5 3:0.5 7:1e3 # doc\n 2:1\n4:2\n\n# nothing\nx 1:-1\n",
    "vw": b"a,b 2.0 'tag |ns:2 x y:3 |t z\n| x\n1 | a:1 b\n",
    "fasttext": b"__label__a __label__b text\nmore text\n__label__c\n",
    "arff": HEADER + b"1,0,2.5,red,'a, \\'b'\n{0 1, 3 'dark blue'}, {2}\n?,1,?,red,\"x\"\n",
    "parquet": PARQUET[0],
}
OPTIONS: dict[str, dict[str, Any]] = {"csv": {"features": "n"}, "tsv": {"features": "n"}}
PLACE = re.compile(r"f:\d+: ", re.DOTALL)
PIECES = [b"\n", b"\r", b'"', b"'", b",", b":", b"|", b"{", b"}", b"[", b"#", b"\\", b"\0", b" "]
PIECES += [b"\xff", b"\xe2\x82", b"\xef\xbb\xbf", b"nan", b"1e999", b"9" * 30, b"?", b"@data", b"-"]


def check(data: bytes, format: str) -> None:
    for each in found(data, format, **OPTIONS.get(format, {})):
        if isinstance(each, ReadError):
            assert PLACE.match(str(each)), each
        else:
            check_item(each)


def check_item(item: Item) -> None:
    assert isinstance(item.id, str)
    texts = [item.text] if isinstance(item.text, str) else [*item.text, *item.text.values()]
    for text in [item.id, *texts, *item.features, *(item.labels or ())]:
        assert isinstance(text, str)
        text.encode()
    assert all(item.labels or ())
    assert len(set(item.labels or ())) == len(item.labels or ())
    for value in item.features.values():
        assert isinstance(value, str) or (isinstance(value, float) and value - value == 0.0)
    assert 0.0 <= item.weight < float("inf")


@st.composite
def mutated(draw: st.DrawFn, valid: bytes) -> bytes:
    data = bytearray(valid)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 6)))
        data[start:end] = draw(st.sampled_from(PIECES) | st.binary(max_size=3))
    return bytes(data[: draw(st.none() | st.integers(0, len(data)))])


def test_every_file_format_is_covered() -> None:
    wanted = {name for name, each in FORMATS.items() if each.takes == "file"} - {"mbox"}
    assert VALID.keys() == wanted


@pytest.mark.parametrize("format", VALID)
def test_unmutated_files_are_valid(format: str) -> None:
    seen = found(VALID[format], format, **OPTIONS.get(format, {}))
    assert len(seen) >= 2
    assert all(isinstance(each, Item) for each in seen)


@pytest.mark.parametrize("format", VALID)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_files(format: str, data: st.DataObject) -> None:
    check(data.draw(mutated(VALID[format])), format)


@pytest.mark.parametrize("format", VALID)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=60))
@example(data=b"")
@example(data=b"\n\n")
@example(data=b"\xef\xbb\xbf")
@example(data=b"\x1f\x8b")
@example(data=b"BZh9")
@example(data=b"\xfd7zXZ\0")
@example(data=b"\x28\xb5\x2f\xfd")
def test_random_bytes(format: str, data: bytes) -> None:
    check(data, format)
    if format == "arff":
        check(HEADER + data, format)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_compression(data: st.DataObject) -> None:
    whole = gzip.compress(VALID["jsonl"] * 50, mtime=0)
    check(data.draw(mutated(whole)), "jsonl")


@pytest.mark.parametrize("format", sorted(VALID.keys() - {"parquet", "arff", "csv", "tsv"}))
@given(bad=st.sampled_from([b"\xff", b"\0"]))
def test_skipping_continues_with_the_next_line(
    format: str, bad: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.mktemp("skip") / "f"
    path.write_bytes(VALID[format])
    whole = list(read(path, format))
    lines = VALID[format].splitlines(keepends=True)
    path.write_bytes(b"".join(bad + b"\n" + line for line in lines))
    with read(path, format, on_error="skip") as stream:
        assert list(stream) == whole
    assert stream.skipped == len(lines)
    assert stream.errors[0].startswith(f"{path}:1: ")
