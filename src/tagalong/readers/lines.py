"""The lines of a file: numbered, decoded, of bounded length."""

import io
from collections.abc import Callable, Iterator
from typing import BinaryIO

from tagalong.learning.items import Item, ReadError
from tagalong.streams.compression import read_errors
from tagalong.streams.format import ItemOrError, Option, OptionError

__all__ = ["ENCODING", "LINE_OPTIONS", "MAX_LINE", "Lines", "parse_lines", "validate_encoding"]

MAX_LINE = 64 << 20
ENCODING = Option("encoding", "How the file's letters are encoded.", default="utf-8")
LINE_OPTIONS = (
    ENCODING,
    Option("max_line", "The longest line that is read, in bytes.", "size", MAX_LINE),
)


class Lines:
    """The lines of a binary stream as text, each with its line end.

    A line that cannot be read raises ReadError; the next call goes on with the next line. Where
    the stream itself breaks, the error is raised and no further line comes.

    Parameters
    ----------
    stream : binary file
        What to read, decompressed.
    name : str
        What to call it in messages.
    encoding : str
        How letters are encoded. A byte-order mark is taken off UTF-8.
    max_line : int
        The longest line, in bytes (in characters for encodings that are not based on ASCII).

    Attributes
    ----------
    name : str
        As given.
    number : int
        The line that was read last, from 1.
    """

    def __init__(
        self, stream: BinaryIO, name: str, encoding: str = "utf-8", max_line: int = MAX_LINE
    ):
        self.number = 0
        self.name = name
        self._max_line = max_line
        self._encoding = validate_encoding(encoding)
        self._is_wide = "\n".encode(self._encoding) != b"\n"
        self._line_encoding = "utf-8" if self._is_wide else self._encoding
        self._read_errors: tuple[type[Exception], ...] = (UnicodeError, *read_errors())
        self._readline: Callable[[int], bytes] = stream.readline
        if self._is_wide:
            text = io.TextIOWrapper(stream, self._encoding, newline="\n")
            self._readline = lambda limit: text.readline(limit).encode("utf-8", "surrogatepass")

    def place(self, number: int = 0) -> str:
        """Return "file:line" for a line, by default the last one."""
        return f"{self.name}:{number or self.number}"

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        self.number = number = self.number + 1
        limit = self._max_line
        try:
            line = self._readline(limit + 1)
        except self._read_errors as error:
            self._end()
            raise ReadError(self.place(number), self._describe_error(error)) from error
        if not line:
            self._end()
            raise StopIteration
        if len(line) > limit:
            self._skip_rest_of_line(line)
            raise ReadError(self.place(number), f"the line is longer than {limit} bytes (max_line)")
        if number == 1 and line.startswith(b"\xef\xbb\xbf") and self._encoding == "utf-8":
            line = line[3:]
        if b"\0" in line:
            raise ReadError(
                self.place(number), "a NUL byte: not a text file, or in another encoding"
            )
        try:
            return str(line, self._line_encoding)
        except UnicodeError as error:
            raise ReadError(self.place(number), self._describe_error(error)) from None

    def _end(self) -> None:
        self.number -= 1
        self._readline = _no_line

    def _skip_rest_of_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            try:
                line = self._readline(self._max_line)
            except self._read_errors:  # the next line will tell
                return

    def _describe_error(self, error: Exception) -> str:
        if not isinstance(error, UnicodeError):
            return f"cannot be read further: {error or type(error).__name__}"
        where = "this "
        if isinstance(error, UnicodeDecodeError):
            bad = error.object[error.start : error.start + 1]
            where = f"byte 0x{bad.hex()} at {error.start + 1} "
        return f"{where}is not {self._encoding}; give encoding= if the file is in another"


def parse_lines(lines: Lines, parse: Callable[[str, str], Item | None]) -> Iterator[ItemOrError]:
    """Yield the item of each line, or what is wrong with it, and go on with the next.

    Parameters
    ----------
    lines : Lines
        Where to read.
    parse : callable
        Gives the item of a line and its place, or None if the line holds none.
    """
    name = lines.name
    while True:
        try:
            for line in lines:
                item = parse(line, f"{name}:{lines.number}")
                if item is not None:
                    yield item
        except ReadError as error:
            yield error
        else:
            return


def _no_line(limit: int) -> bytes:
    return b""


def validate_encoding(encoding: str) -> str:
    """Return the name of an encoding in lower case; OptionError if there is none such."""
    plain = encoding.lower().replace("_", "-")
    if plain in ("utf-8", "utf8", "utf-8-sig"):
        return "utf-8"
    try:
        "\n".encode(plain)
    except (LookupError, UnicodeError, ValueError):
        raise OptionError(
            f"there is no text encoding {encoding!r}; usual ones are utf-8, latin-1, cp1252, utf-16"
        ) from None
    return plain
