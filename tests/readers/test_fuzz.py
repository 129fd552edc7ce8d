"""Fuzzing with Hypothesis: readers yield valid items, or errors that name file and line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tagalong.readers import FORMATS, Item, read
from tests.fuzz.targets import FILES, HEADER, OPTIONS, PIECES, TARGETS, check_file
from tests.readers.in_memory import found


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
    assert FILES.keys() == wanted


@pytest.mark.parametrize("format", FILES)
def test_unmutated_files_are_valid(format: str) -> None:
    seen = found(FILES[format], format, **OPTIONS.get(format, {}))
    assert len(seen) >= 2
    assert all(isinstance(each, Item) for each in seen)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_input(name: str, data: st.DataObject) -> None:
    TARGETS[name].check(data.draw(mutated(TARGETS[name].seed)))


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=60))
def test_random_input(name: str, data: bytes) -> None:
    TARGETS[name].check(data)


@pytest.mark.parametrize("format", FILES)
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
    check_file(data, format)
    if format == "arff":
        check_file(HEADER + data, format)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_compression(data: st.DataObject) -> None:
    whole = gzip.compress(FILES["jsonl"] * 50, mtime=0)
    check_file(data.draw(mutated(whole)), "jsonl")


@pytest.mark.parametrize("format", sorted(FILES.keys() - {"parquet", "arff", "csv", "tsv"}))
@given(bad=st.sampled_from([b"\xff", b"\0"]))
def test_skipping_continues_with_the_next_line(
    format: str, bad: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.mktemp("skip") / "f"
    path.write_bytes(FILES[format])
    whole = list(read(path, format))
    lines = FILES[format].splitlines(keepends=True)
    path.write_bytes(b"".join(bad + b"\n" + line for line in lines))
    with read(path, format, on_error="skip") as stream:
        assert list(stream) == whole
    assert stream.skipped == len(lines)
    assert stream.errors[0].startswith(f"{path}:1: ")
