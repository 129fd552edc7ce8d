"""A limit on the bytes of sources after decompression."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.readers import read
from tagalong.readers.limited_bytes import ByteLimit, TooManyBytesError

LINES = b'{"text": "pay"}\n' * 100


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "size"),
    [
        ("a.jsonl", LINES, 1600),
        ("a.jsonl.gz", gzip.compress(LINES), 1600),
        ("a.zip", zipped({"a.jsonl": LINES, "b.jsonl": LINES}), 3200),
        ("a.zip", zipped({"a.jsonl.gz": gzip.compress(LINES), "b.jsonl": LINES}), 3200),
    ],
    ids=["plain", "gzip", "zip", "gzip in zip"],
)
def test_the_limit_is_that_of_unpacked_bytes(
    tmp_path: Path, name: str, content: bytes, size: int
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with read(path, limit=ByteLimit(size)) as stream:
        assert sum(1 for _ in stream) == size // 16
    for most in (size - 1, size // 2, 1):
        stream = read(path, limit=ByteLimit(most), on_error="skip")
        with stream, pytest.raises(TooManyBytesError, match=f"more than {most:,} bytes"):
            list(stream)


def test_bytes_without_items_count_too(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv.gz"
    path.write_bytes(gzip.compress(b"text,labels\n" + b"\n" * 1_000_000))
    stream = read(path, limit=ByteLimit(300_000), on_error="skip")
    with stream, pytest.raises(TooManyBytesError):
        list(stream)


def test_a_function_can_end_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_bytes(b"text\n" + b"\n" * 1_000_000)
    calls = []

    def end() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("enough")

    limit = ByteLimit(10_000_000)
    limit.on_bytes = end
    stream = read(path, limit=limit, on_error="skip")
    with stream, pytest.raises(KeyError, match="enough"):
        list(stream)


@given(parts=st.lists(st.binary(max_size=50), max_size=5), most=st.integers(0, 200))
def test_all_sources_share_one_limit(parts: list[bytes], most: int) -> None:
    limit = ByteLimit(most)
    try:
        found = [limit.applied_to(io.BufferedReader(io.BytesIO(each))).read() for each in parts]
    except TooManyBytesError:
        assert sum(map(len, parts)) > most
    else:
        assert found == parts
        assert sum(map(len, parts)) <= most


def test_every_message_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"no\n" * 30 + LINES)
    told: list[str] = []
    with read(path, on_error="skip") as stream:
        stream.on_skip = told.append
        assert sum(1 for _ in stream) == 100
        assert stream.formats == ["jsonl"]
    assert len(told) == stream.skipped == 30
    assert told[:20] == stream.errors
    assert told[29].startswith(f"{path}:30: ")
