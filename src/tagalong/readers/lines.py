"""Iteration over the lines of a file: numbered, decoded, of bounded length."""

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypedDict

from tagalong.learning.items import Item, ReadError
from tagalong.streams.compression import read_errors
from tagalong.streams.format import ItemOrError, Option, OptionError

__all__ = [
    "ENCODING",
    "LINE_OPTIONS",
    "MAX_LINE",
    "LineOptions",
    "Lines",
    "has_plain_line_ends",
    "parse_lines",
    "validate_encoding",
]

MAX_LINE = 16 << 20
_SKIPPED = 1 << 16
_CHUNK = 1 << 14
ENCODING = Option("encoding", "Text encoding of the file.", default="utf-8")
LINE_OPTIONS = (
    ENCODING,
    Option("max_line", "Maximum length of a line, in bytes.", "size", MAX_LINE),
)


class LineOptions(TypedDict, total=False):
    """Keyword arguments of `Lines` that every text format has as options."""

    encoding: str
    max_line: int


class Lines:
    """Iterator over the lines of a binary stream as text, each with its line end.

    A line that is too long or cannot be decoded raises ReadError, and the next call continues with
    the next line; only then the rest of a long line is read, in pieces. If reading the stream
    fails, ReadError is raised and the iteration ends.

    Parameters
    ----------
    stream : binary file
        Decompressed stream.
    name : str
        Name of the stream in messages.
    encoding : str
        Text encoding. A byte-order mark is removed from UTF-8.
    max_line : int
        Maximum length of a line, in bytes (in UTF-8 bytes for encodings not based on ASCII).
    lines_before : int
        Number of lines of the file before the stream, which may begin in the middle.

    Attributes
    ----------
    name : str
        Name of the stream in messages.
    number : int
        Number of the line that was read last, from 1.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        encoding: str = "utf-8",
        max_line: int = MAX_LINE,
        lines_before: int = 0,
    ):
        self.number = lines_before
        self.name = name
        self._max_line = max_line
        self._in_long_line = False
        self._encoding = validate_encoding(encoding)
        self._is_wide = not has_plain_line_ends(self._encoding)
        self._line_encoding = "utf-8" if self._is_wide else self._encoding
        self._read_errors: tuple[type[Exception], ...] = (UnicodeError, *read_errors())
        self._readline: Callable[[int], bytes] = stream.readline
        if self._is_wide:
            self._readline = _Transcoder(stream, self._encoding).readline

    def place(self, number: int = 0) -> str:
        """Return "file:line" for a line, by default the one that was read last."""
        return f"{self.name}:{number or self.number}"

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        self.number = number = self.number + 1
        limit = self._max_line
        try:
            while self._in_long_line:
                rest = self._readline(_SKIPPED)
                self._in_long_line = bool(rest) and not rest.endswith(b"\n")
            line = self._readline(limit + 1)
        except self._read_errors as error:
            self._end()
            raise ReadError(self.place(number), self._describe_error(error)) from error
        if not line:
            self._end()
            raise StopIteration
        if len(line) > limit:
            self._in_long_line = not line.endswith(b"\n")
            raise ReadError(
                self.place(number), f"the line is longer than {limit} bytes (option max_line)"
            )
        if number == 1 and line.startswith(b"\xef\xbb\xbf") and self._encoding == "utf-8":
            line = line[3:]
        if b"\0" in line:
            raise ReadError(
                self.place(number),
                "the line contains a NUL byte: not a text file, or one in another encoding "
                "(option encoding)",
            )
        try:
            return str(line, self._line_encoding)
        except UnicodeError as error:
            raise ReadError(self.place(number), self._describe_error(error)) from None

    def _end(self) -> None:
        self.number -= 1
        self._readline = _no_line

    def _describe_error(self, error: Exception) -> str:
        if not isinstance(error, UnicodeError):
            return f"cannot be read further: {error or type(error).__name__}"
        where = "the line"
        if isinstance(error, UnicodeDecodeError):
            column = len(str(error.object[: error.start], self._line_encoding, "replace")) + 1
            bad = error.object[error.start : error.start + 1]
            where = f"byte 0x{bad.hex()} at column {column}"
        return (
            f"{where} is not valid {self._encoding}; name the encoding of the file with the "
            "option encoding"
        )


class _Transcoder:
    """Lines of a stream in an encoding that is not based on ASCII, re-encoded as UTF-8.

    Unlike `io.TextIOWrapper` it returns all complete lines before bytes that cannot be decoded.
    The error contains the line in UTF-8 up to the invalid bytes.
    """

    def __init__(self, stream: BinaryIO, encoding: str):
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._text = ""
        self._error: UnicodeDecodeError | None = None
        self._at_end = False

    def readline(self, limit: int) -> bytes:
        """Return a line, or its next `limit` characters; b"" at the end of the stream."""
        end = self._text.find("\n", 0, limit) + 1
        while not end and len(self._text) < limit and not self._at_end:
            searched = len(self._text)
            self._fill()
            end = self._text.find("\n", searched, limit) + 1
        if not end and len(self._text) < limit and self._error is not None:
            error, start = self._error, self._text.encode("utf-8", "surrogatepass")
            bad = error.object[error.start : error.end]
            position = len(start), len(start) + len(bad)
            raise UnicodeDecodeError(error.encoding, start + bad, *position, error.reason)
        end = end or limit
        line, self._text = self._text[:end], self._text[end:]
        return line.encode("utf-8", "surrogatepass")

    def _fill(self) -> None:
        # Each read is at least as long as the buffered text, so a long line takes linear time.
        data = self._read(max(_CHUNK, len(self._text)))
        self._at_end = not data
        try:
            self._text += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            self._error, self._at_end = error, True
            valid = error.start - (len(error.object) - len(data))
            if valid > 0:
                self._text += self._decoder.decode(data[:valid])


def parse_lines(lines: Lines, parse: Callable[[str, str], Item | None]) -> Iterator[ItemOrError]:
    """Yield the item of each line, or the error of a line that cannot be parsed.

    Parameters
    ----------
    lines : Lines
        Lines to parse.
    parse : callable
        Function of a line and its place that returns an item, or None if the line holds no item.
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


def has_plain_line_ends(encoding: str) -> bool:
    """Whether a line end is the byte 10 in an encoding, as in all that are based on ASCII.

    Parameters
    ----------
    encoding : str
        The name of a text encoding.
    """
    return "\n".encode(validate_encoding(encoding)) == b"\n"


def validate_encoding(encoding: str) -> str:
    """Return the lower-case name of an encoding; raise OptionError if it does not exist."""
    plain = encoding.lower().replace("_", "-")
    if plain in ("utf-8", "utf8", "utf-8-sig"):
        return "utf-8"
    try:
        "\n".encode(plain)
    except (LookupError, UnicodeError, ValueError):
        raise OptionError(
            f"encoding must be a text encoding such as utf-8, latin-1, cp1252 or utf-16, "
            f"not {encoding!r}"
        ) from None
    return plain
