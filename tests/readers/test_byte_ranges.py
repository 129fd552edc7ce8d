"""Tests of parts of files: every line belongs to one part, wherever the file is cut."""

import gzip
import json
import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.readers import ReadError, read
from tagalong.readers.byte_ranges import ByteRange, split_file, with_line_numbers
from tagalong.readers.registry import FORMATS
from tagalong.streams.format import OptionError

JSONL = FORMATS["jsonl"]
ITEM = '{"id": "é%d", "text": "käse"}'
FILES = {
    "plain": "".join(ITEM % n + "\n" for n in range(4)),
    "crlf": "".join(ITEM % n + "\r\n" for n in range(3)),
    "no final line end": ITEM % 1 + "\n" + ITEM % 2,
    "blank lines": "\n\n" + ITEM % 1 + "\n  \n\n" + ITEM % 2 + "\n\n",
    "byte order mark": "\ufeff" + ITEM % 1 + "\n" + ITEM % 2 + "\n",
    "one line": ITEM % 1,
    "only line ends": "\n\n\n",
    "errors": ITEM % 1 + "\n[1]\n{\n" + ITEM % 2 + "\nnonsense\n",
    "nothing": "",
}


def parts(path, *cuts):
    """The parts of a file between cuts, numbered as on workers."""
    size = path.stat().st_size
    ranges = [ByteRange(str(path), *two) for two in pairwise([0, *cuts, size])]
    return with_line_numbers(ranges, [one.count_lines() for one in ranges])


def found(source):
    """Items with their places, and errors with theirs."""
    with read(source, on_error="skip") as stream:
        items = [(item, item.place) for item in stream]
    return items, stream.skipped, stream.errors


def joined(ranges):
    every = [found(one) for one in ranges]
    return (
        [item for items, _, _ in every for item in items],
        sum(skipped for _, skipped, _ in every),
        [error for _, _, errors in every for error in errors],
    )


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_every_cut_gives_the_same_items_places_and_errors(tmp_path, text):
    path = tmp_path / "items.jsonl"
    path.write_bytes(text.encode())
    whole = found(str(path))
    size = path.stat().st_size
    for cut in range(size + 1):
        assert joined(parts(path, cut)) == whole, cut
    for width in (1, 2, 3, 7, 20):  # most parts are shorter than a line
        assert joined(parts(path, *range(width, size, width))) == whole, width


@given(
    st.lists(st.sampled_from([b"{}", b"", b"\r", "é".encode(), b"x" * 9, b"\xff"]), max_size=9),
    st.booleans(),
    st.lists(st.integers(0, 99), max_size=6),
)
def test_the_bytes_of_parts_follow_each_other(tmp_path_factory, lines, is_ended, cuts):
    path = tmp_path_factory.mktemp("parts") / "lines"
    data = b"\n".join(lines) + b"\n" * is_ended
    path.write_bytes(data)
    ranges = parts(path, *sorted(min(cut, len(data)) for cut in cuts))
    pieces = []
    for one in ranges:
        with one.open() as stream:
            pieces.append(stream.read())
    assert b"".join(pieces) == data
    position = 0
    for one, piece in zip(ranges, pieces, strict=True):
        if piece:  # it begins where a line begins, in the range
            assert position == 0 or data[position - 1 : position] == b"\n"
            assert one.start <= position < one.end
            assert one.lines_before == data[:position].count(b"\n")
        position += len(piece)


def test_a_file_is_split_by_size(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_bytes(b'{"text": "a"}\n' * 10)
    ranges = split_file(str(path), JSONL, {}, 50)
    assert [(one.start, one.end) for one in ranges] == [(0, 50), (50, 100), (100, 140)]
    assert split_file(str(path), JSONL, {}, 140) == []


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("items.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 9, mtime=0), {}),
        ("items.jsonl", gzip.compress(b'{"text": "a"}\n' * 9, mtime=0), {}),
        ("items.json", b'[{"text": "a"},\n {"text": "b"}]', {}),
        ("items.json", b'{\n "text": "a"}\n{\n "text": "b"}', {}),
        ("items.jsonl", ('{"text": "a"}\n' * 9).encode("utf-16"), {"encoding": "utf-16"}),
    ],
    ids=["gzip", "gzip without its suffix", "array", "objects over several lines", "utf-16"],
)
def test_what_cannot_be_cut_at_line_ends_is_read_as_a_whole(tmp_path, name, data, options):
    path = tmp_path / name
    path.write_bytes(data)
    assert split_file(str(path), JSONL, options, 8) == []


def test_other_formats_are_read_as_a_whole(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("text,labels\na,b\n")
    assert split_file(str(path), FORMATS["csv"], {}, 4) == []
    with pytest.raises(OptionError, match=r"items\.csv: .* cannot be read in parts"):
        read(ByteRange(str(path), 4, 8))


def test_a_line_of_another_encoding_is_found(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_bytes("".join(json.dumps({"text": "Käse"}) + "\n" for _ in range(3)).encode())
    with read(parts(path, 20)[1], encoding="latin-1") as stream:
        assert [item.place for item in stream] == [f"{path}:2", f"{path}:3"]


def test_an_error_keeps_its_place_when_it_is_sent():
    error = pickle.loads(pickle.dumps(ReadError("a.jsonl:7", "not JSON")))
    assert (str(error), error.place, error.problem) == (
        "a.jsonl:7: not JSON",
        "a.jsonl:7",
        "not JSON",
    )


def test_lines_that_are_too_long_are_errors_of_their_part(tmp_path):
    path = tmp_path / "items.jsonl"
    lines = ['{"text": "a"}', json.dumps({"text": "b" * 100}), '{"text": "c"}']
    path.write_text("\n".join(lines))
    for cut in range(path.stat().st_size):
        every = [read(one, on_error="skip", max_line=50) for one in parts(path, cut)]
        texts = [item.text for stream in every for item in stream]
        errors = [error for stream in every for error in stream.errors]
        assert texts == ["a", "c"], cut
        assert errors == [f"{path}:2: the line is longer than 50 bytes (option max_line)"], cut
