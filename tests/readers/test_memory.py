"""Memory of reading is bounded by the longest line or record allowed, not by the file."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from tagalong.readers import Item, ReadError, read
from tagalong.readers.lines import MAX_LINE
from tests.readers.in_memory import error, found, items
from tests.timeouts import TIMEOUT

MEGABYTE = 1_000_000
# Reads a file as far as the first error, and prints the peak memory that this took and the error.
# The shortest file of the same format is read first, so that imports do not count.
READ = """
import resource, sys
from tagalong.readers import read
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def read_all(name, format):
    try:
        return sum(1 for _ in read(name, format)), ""
    except ValueError as error:
        return 0, str(error)
small, large, format = sys.argv[1:]
read_all(small, format)
before = peak()
count, problem = read_all(large, format)
print(peak() - before, count, problem)
"""


def repeated(unit: bytes, size: int) -> Iterator[bytes]:
    block = unit * (MEGABYTE // len(unit))
    for _ in range(size // len(block)):
        yield block


def compressed(path: Path, *parts: Iterator[bytes] | bytes) -> Path:
    """Write a file with gzip, without its contents in memory."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in parts:
            for block in (part,) if isinstance(part, bytes) else part:
                file.write(block)
    return path


def peak_of_reading(path: Path, format: str, small: bytes = b"x\n") -> tuple[int, int, str]:
    """Return the peak memory, the number of items and the error of reading a file."""
    short = compressed(path.with_name("small.gz"), small)
    done = subprocess.run(
        [sys.executable, "-c", READ, short, path, format],
        stdout=subprocess.PIPE,
        timeout=TIMEOUT,
        check=True,
        text=True,
    )
    memory, count, *problem = done.stdout.rstrip("\n").split(" ", 2)
    return int(memory), int(count), "".join(problem)


ARFF = b"@relation 'x: -C 1'\n@attribute a {0,1}\n@attribute s string\n@data\n"
# The beginning of a file, and what is repeated without end in one line or record of it.
ENDLESS = {
    "zeros": ("jsonl", b"", b"\0", 1),
    "an object": ("jsonl", b'{"text": "', b"a", 1),
    "brackets": ("jsonl", b"", b"[", 1),
    "an array": ("jsonl", b'[\n{"text": [', b"1,", 2),
    "a header": ("csv", b"", b",", 1),
    "cells": ("csv", b"text,labels\n", b",", 2),
    "a quoted cell": ("csv", b'text,labels\n"', b"a" * 99 + b"\n", 2),
    "quoted cells": ("csv", b"text,labels\n", b'"' + b"a" * 96 + b'\n",', 2),
    "pairs": ("svmlight", b"1 ", b"1:1 ", 1),
    "words": ("vw", b"1 | ", b"a ", 1),
    "labels": ("fasttext", b"", b"__label__a ", 1),
    "an ARFF cell": ("arff", ARFF + b"1,'", b"a", 5),
    "ARFF values": ("arff", b"@relation x\n@attribute a {", b"0,", 2),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_an_endless_line_is_refused_in_bounded_memory(case: str, tmp_path: Path) -> None:
    format, start, unit, line = ENDLESS[case]
    path = compressed(tmp_path / "f.gz", start, repeated(unit, 10 * MAX_LINE))
    memory, _, problem = peak_of_reading(path, format)
    assert memory < 10 * MAX_LINE
    assert problem.startswith(f"{path}:{line}: the ")
    assert f"longer than {MAX_LINE} " in problem
    assert "max_line" in problem


def test_the_rest_of_a_long_line_is_not_read_before_the_error() -> None:
    class Endless(io.RawIOBase):
        """A stream of zeros without end."""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    from tagalong.readers.lines import Lines

    with pytest.raises(ReadError, match="f:1: the line is longer than 100 bytes"):
        next(Lines(io.BufferedReader(Endless()), "f", max_line=100))


LONG = MAX_LINE - 1000
LONGEST = {
    "jsonl": (b'{"labels": ["x"], "text": "', b"a", b'"}\n'),
    "csv": (b"text,labels\n", b"a", b",x\n"),
    "fasttext": (b"__label__x ", b"word ", b"\n"),
    "arff": (ARFF + b"1,'", b"a", b"'\n"),
}


@pytest.mark.parametrize("format", LONGEST)
def test_a_long_line_takes_a_few_times_its_length(format: str, tmp_path: Path) -> None:
    start, unit, end = LONGEST[format]
    path = compressed(tmp_path / "f.gz", start, repeated(unit, LONG), end)
    memory, count, problem = peak_of_reading(path, format, start + unit + end)
    assert (count, problem) == (1, "")
    # Python's csv keeps a cell with four bytes per character.
    assert memory < (8 if format == "csv" else 5) * LONG


def test_many_features_in_a_line(tmp_path: Path) -> None:
    path = compressed(tmp_path / "f.gz", b"1 ", repeated(b"1:1 ", LONG))
    memory, _, problem = peak_of_reading(path, "svmlight", b"1 1:1\n")
    assert problem == f"{path}:1: feature 1 occurs twice"
    assert memory < 40 * LONG


def test_a_row_over_several_lines_has_a_limit() -> None:
    text = 'text,labels\n"a\nb",x\n"' + "a\n" * 60 + '",y\nc,z\n'
    seen = found(text, "csv", max_line=100)
    assert str(seen[1]) == "f:4: the row is longer than 100 characters (option max_line)"
    assert isinstance(seen[0], Item)
    assert seen[0].text == "a\nb"


def test_tables_have_a_limit_of_columns() -> None:
    columns = "x," * (1 << 20) + "x\n"
    assert error(columns, "csv").startswith("f:1: the header has more than 1048576 columns")


LINES = b'{"text": "a", "labels": ["x"]}\n' * 1000
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("method", COMPRESS)
def test_members_one_after_the_other(method: str) -> None:
    member = COMPRESS[method](LINES)
    assert len(items(member * 3, "jsonl")) == 3000


@pytest.mark.parametrize("method", COMPRESS)
@pytest.mark.parametrize("tail", [b"garbage", "member"])
def test_garbage_after_a_member_is_reported(method: str, tail: bytes | str) -> None:
    member = COMPRESS[method](LINES)
    rest = tail if isinstance(tail, bytes) else member[: len(member) // 2]
    *whole, last = found(member + rest, "jsonl")
    assert len(whole) >= 1000 - 1
    assert isinstance(last, ReadError)
    assert last.place == f"f:{len(whole) + 1}"
    assert last.problem.startswith("cannot be read further: ")


def test_xz_may_be_padded_with_zeros() -> None:
    member = lzma.compress(LINES)
    assert len(items(member + b"\0" * 8 + member + b"\0" * 4, "jsonl")) == 2000


@pytest.mark.parametrize("method", COMPRESS)
def test_truncated_files_are_reported(method: str) -> None:
    whole = COMPRESS[method](LINES)
    for length in range(len(whole) - 20, len(whole) - 1):
        *_, last = found(whole[:length], "jsonl")
        assert isinstance(last, ReadError), length


def test_huge_windows_are_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 30}]
    xz = lzma.compress(LINES, filters=filters)
    assert "Memory usage limit" in error(xz, "jsonl")
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    zst = writer.compress(LINES * 50_00) + writer.flush()
    assert "too much memory" in error(zst, "jsonl")


def test_the_strongest_levels_are_read() -> None:
    assert len(items(lzma.compress(LINES, preset=9 | lzma.PRESET_EXTREME), "jsonl")) == 1000
    assert len(items(zstandard.ZstdCompressor(level=22).compress(LINES), "jsonl")) == 1000


def test_a_compressed_file_within_a_compressed_file_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.compress(LINES)))
    with pytest.raises(ReadError, match=r"f\.jsonl\.gz:1: "):
        list(read(path))


def test_what_is_not_parquet_is_not_decompressed_to_the_disk() -> None:
    assert error(gzip.compress(bytes(1000)), "parquet") == (
        "f:1: not Parquet, or damaged: it starts with b'\\x00\\x00\\x00\\x00'"
    )
