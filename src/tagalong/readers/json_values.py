"""JSON values that are not one per line: the elements of an array, or objects over several lines.

The text is read and parsed in pieces, so the memory is bounded by the longest value.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from tagalong.learning.items import ReadError
from tagalong.readers.lines import MAX_LINE, validate_encoding
from tagalong.streams.compression import read_errors

__all__ = ["JsonValues", "check_unicode"]

_CHUNK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")
# A bracket, a comma, or a string, whose group is empty if the text ends before the closing quote.
_STRUCTURE = re.compile(r'[\[\]{},]|"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)
_BRACKET = re.compile(r'[\[\]{}]|"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)  # inside of brackets
_MAX_DEPTH = 200_000  # of brackets in a value that is not valid, but whose end is found
_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def check_unicode(record: object, text: str, place: str) -> None:
    """Raise ReadError if a record has a lone surrogate, which no encoding can write.

    Parameters
    ----------
    record : object
        The parsed JSON.
    text : str
        The JSON. Only an escape in it can produce a lone surrogate.
    place : str
        The file and line, for messages.
    """
    if "\\u" not in text:
        return
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ReadError(
            place, "a lone surrogate (\\ud800 to \\udfff) is not Unicode text"
        ) from None


class JsonValues:
    """Iterator over the values of a JSON array, or over values that follow one another.

    Each value comes with its place. After a value that is not valid JSON, which raises ReadError,
    the next call continues behind it if its end can be found.

    Parameters
    ----------
    stream : binary file
        Decompressed stream.
    name : str
        Name of the stream in messages.
    encoding : str
        Text encoding. A byte-order mark is removed from UTF-8.
    max_line : int
        Maximum length of a value, in characters.
    """

    def __init__(
        self, stream: BinaryIO, name: str, encoding: str = "utf-8", max_line: int = MAX_LINE
    ):
        self._name = name
        self._max = max_line
        self._encoding = validate_encoding(encoding)
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._decoder = codecs.getincrementaldecoder(self._encoding)()
        self._text = ""
        self._at = 0
        self._line = 1
        self._counted = 0  # position up to which lines are counted
        self._line_start = 0
        self._at_end = False
        self._values = self._all_values()

    def __iter__(self) -> "JsonValues":
        return self

    def __next__(self) -> tuple[object, str]:
        found = next(self._values)
        if isinstance(found, ReadError):
            raise found
        return found

    def _all_values(self) -> Iterator[tuple[object, str] | ReadError]:
        try:
            if self._next_character() == "\ufeff":
                self._at += 1
            in_array = self._next_character() == "["
            self._at += in_array
            is_first = True
            ends = ("", "]") if in_array else ("",)
            while (first := self._next_character()) not in ends:
                if in_array and not is_first:
                    self._expect_comma(first)
                is_first = False
                try:
                    yield self._value()
                except _InvalidValue as error:
                    yield error
            self._check_end(first, in_array)
        except ReadError as error:
            yield error

    def _expect_comma(self, found: str) -> None:
        if found != ",":
            raise ReadError(self._place(), f"expected ',' or ']' in the array, not {found!r}")
        self._at += 1
        if self._next_character() in ("", "]"):
            raise ReadError(self._place(), "expected a value after ',' in the array")

    def _check_end(self, last: str, in_array: bool) -> None:
        """Raise ReadError unless the array is complete and nothing follows it."""
        if in_array and not last:
            raise ReadError(self._place(), "the array is not complete: ']' is missing at the end")
        if last:
            self._at += in_array
            if self._next_character():
                raise ReadError(self._place(), "there is text after the end of the array")

    def _value(self) -> tuple[object, str]:
        """Return the next value and its place."""
        place = self._place()
        while True:
            start = self._at
            try:
                record, end = _SCAN(self._text, start)
                is_complete = isinstance(record, dict) or end < len(self._text) or self._at_end
                problem = None
            except (ValueError, StopIteration, RecursionError) as error:
                end = _end_of_value(self._text, start)
                is_complete, problem = end >= 0 or self._at_end, error
            if is_complete:
                break
            self._fill()
        text = self._text[start : end if end >= 0 else len(self._text)]
        if problem is not None:
            raise self._invalid(text)
        self._at = end
        try:
            check_unicode(record, text, place)
        except ReadError as error:
            raise _InvalidValue(error.place, error.problem) from None
        return record, place

    def _invalid(self, text: str) -> ReadError:
        """Return the error of a text that is not a JSON value, and move behind the text."""
        line, column = self._position()
        self._at += len(text)
        problem = "not JSON"
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            column = error.colno if error.lineno > 1 else column + error.colno - 1
            line += error.lineno - 1
            problem = f"not JSON: {error.msg} at column {column}"
        except RecursionError:
            problem = "the JSON is nested too deeply"
        except ValueError as error:
            problem = f"not JSON: {error}"
        return _InvalidValue(f"{self._name}:{line}", problem)

    def _next_character(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._at_end:
                return ""
            self._fill()

    def _fill(self) -> None:
        """Read more text, and drop the text before the current position."""
        self._position()
        self._line_start -= self._at
        self._text, self._at, self._counted = self._text[self._at :], 0, 0
        if len(self._text) > self._max:
            self._at_end = True
            raise ReadError(
                self._place(), f"the value is longer than {self._max} characters (option max_line)"
            )
        try:
            # Each read is at least as long as the text, so a long value takes linear time.
            data = self._read(max(_CHUNK, len(self._text)))
            self._at_end = not data
            self._text += self._decoder.decode(data, final=not data)
        except read_errors() as error:
            problem = f"cannot be read further: {error or type(error).__name__}"
            raise ReadError(self._place(), problem) from error
        except UnicodeError:
            raise ReadError(
                self._place(),
                f"the text after this line is not valid {self._encoding}; name the encoding of "
                "the file with the option encoding",
            ) from None

    def _place(self) -> str:
        return f"{self._name}:{self._position()[0]}"

    def _position(self) -> tuple[int, int]:
        """Return the line and the column of the current position."""
        if lines := self._text.count("\n", self._counted, self._at):
            self._line += lines
            self._line_start = self._text.rindex("\n", self._counted, self._at) + 1
        self._counted = self._at
        return self._line, self._at - self._line_start + 1


class _InvalidValue(ReadError):
    """A value that is not valid JSON, but whose end is known."""


def _end_of_value(text: str, start: int) -> int:
    """Return the end of a value by its brackets; -1 if the text ends before."""
    depth, at = 0, start
    while found := (_BRACKET if depth else _STRUCTURE).search(text, at):
        mark, at = found[0], found.end()
        if found[1] == "" or depth > _MAX_DEPTH:
            return -1
        if depth == 0 and mark in ",]}":
            return max(found.start(), start + 1)
        depth += (mark in "[{") - (mark in "]}")
        if depth == 0 and mark in "]}":
            return at
    return -1
