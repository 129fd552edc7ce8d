"""Parts of a file of lines: consecutive ranges of bytes, of which each line belongs to one.

A line belongs to the range in which it begins. So the lines of a range are the bytes from the first
beginning of a line at or after its start to the first one at or after its end; the lines of
consecutive ranges are consecutive, wherever the file is cut. A range in which no line begins has
no lines.
"""

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, BinaryIO

from tagalong.streams.compression import decompress_stream
from tagalong.streams.format import Format, OptionValue

__all__ = ["ByteRange", "split_file", "with_line_numbers"]

_PIECE = 1 << 18


@dataclass(frozen=True)
class ByteRange:
    """The lines of a file that begin in a range of bytes; `read` takes it as a source.

    Parameters
    ----------
    path : str
        The file, which is not compressed.
    start, end : int
        The range: `start` is its first byte, `end` the one after its last.
    lines_before : int
        Number of lines of the file before those of this range, for messages.
    """

    path: str
    start: int
    end: int
    lines_before: int = 0

    def open(self) -> io.BufferedReader:
        """Return a stream of the lines."""
        file = io.FileIO(self.path)
        try:
            bounds = _beginning(file, self.start), _beginning(file, self.end)
            return io.BufferedReader(_Section(file, *bounds), _PIECE)
        except BaseException:
            file.close()
            raise

    def count_lines(self) -> int:
        """Return the number of line ends in these lines."""
        with self.open() as stream:
            return sum(piece.count(b"\n") for piece in _pieces(stream))


class _Section(io.RawIOBase):
    """The bytes of a file between two positions. Closing it closes the file."""

    def __init__(self, file: io.FileIO, start: int, end: int):
        file.seek(start)
        self._file = file
        self._left = end - start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _beginning(file: BinaryIO | io.FileIO, position: int) -> int:
    """Return the first beginning of a line at or after a position; the size if there is none."""
    if position == 0:
        return 0
    at = file.seek(position - 1)
    for piece in _pieces(file):
        end = piece.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(piece)
    return at


def _pieces(stream: BinaryIO | io.FileIO | io.BufferedReader) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def split_file(
    path: str, format: Format, options: Mapping[str, OptionValue], size: int
) -> list[ByteRange]:
    """Return consecutive ranges of a file; none if it must be read as a whole.

    That is so if the format cannot be read from the middle of a file, if the file is compressed,
    and if it has no more than `size` bytes.

    Parameters
    ----------
    path : str
        The file.
    format : Format
        Its format.
    options : mapping
        The reading options.
    size : int
        Number of bytes of a range.
    """
    if format.can_split is None or not os.path.isfile(path):
        return []
    whole = os.path.getsize(path)
    if whole <= size:
        return []
    with open(path, "rb") as file:
        stream = decompress_stream(file, path)
        if stream is not file or not format.can_split(stream, **options):
            return []
    cuts = [*range(0, whole, size), whole]
    return [ByteRange(path, start, end) for start, end in pairwise(cuts)]


def with_line_numbers(ranges: Sequence[ByteRange], counts: Sequence[int]) -> list[ByteRange]:
    """Return ranges with the number of lines before each of them in its file.

    Parameters
    ----------
    ranges : sequence of ByteRange
        All ranges of one or more files, in order.
    counts : sequence of int
        What `count_lines` returns for each.
    """
    found = []
    before = 0
    for each, count in zip(ranges, counts, strict=True):
        before = before if each.start else 0
        found.append(replace(each, lines_before=before))
        before += count
    return found
