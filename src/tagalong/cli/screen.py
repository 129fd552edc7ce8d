"""Standard output and standard error of a command: nothing printed can act on a terminal."""

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO, cast

from tagalong.files.named_errors import naming_errors
from tagalong.printable import printable

__all__ = ["Screen", "protected_streams", "unescaped"]


class Screen(io.TextIOBase):
    """A text stream that escapes all characters that are not printable, except line ends.

    Everything that a command prints passes this stream, whoever prints it: the command, argparse,
    a warning or a traceback. The escape sequences of the program itself are written to the
    attribute `unescaped`.

    Parameters
    ----------
    stream : text file
        Standard output or standard error.
    name : str
        Its name in errors, as if it were a file: "disk full" alone says little.

    Attributes
    ----------
    unescaped : text file
        The stream as given.
    """

    def __init__(self, stream: TextIO, name: str):
        self.unescaped = stream
        self._name = name

    def write(self, text: str) -> int:
        """Write a text, escaped."""
        with naming_errors(self._name):
            self.unescaped.write(text if text.isprintable() else _printable_lines(text))
        return len(text)

    @property
    def buffer(self) -> BinaryIO:
        """The binary stream for data: exact, unless a terminal shows them."""
        if self.isatty():
            return cast(BinaryIO, _ShownBytes(self))
        return cast(BinaryIO, _ExactBytes(self.unescaped.buffer, self._name))

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return self.unescaped.encoding

    def writable(self) -> bool:
        """Whether the stream can be written: it can."""
        return True

    def flush(self) -> None:
        """Show everything that was written."""
        if not self.unescaped.closed:
            with naming_errors(self._name):
                self.unescaped.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self.unescaped.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self.unescaped.fileno()


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


class _ExactBytes(io.RawIOBase):
    """A binary stream that writes data as they are; its errors name the stream."""

    def __init__(self, stream: BinaryIO, name: str):
        self._stream = stream
        self._name = name

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with naming_errors(self._name):
            return self._stream.write(data)

    def flush(self) -> None:
        if not (self.closed or self._stream.closed):
            with naming_errors(self._name):
                self._stream.flush()


class _ShownBytes(io.RawIOBase):
    """A binary stream that shows data on a screen, one record per call of `write`.

    A line end inside of a record, as in a cell of CSV, is escaped: no cell can forge a line. So are
    bytes that are not UTF-8.
    """

    def __init__(self, screen: Screen):
        self._screen = screen
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        record = self._decoder.decode(bytes(data))
        line = record.removesuffix("\n")
        self._screen.write(printable(line) + record[len(line) :])
        return len(data)

    def flush(self) -> None:
        if not self.closed:
            self._screen.flush()


@contextmanager
def protected_streams() -> Iterator[None]:
    """Replace standard output and standard error by screens.

    A standard stream that the caller has closed is None in Python; then the null device takes its
    place. After an exception the streams stay replaced, for the traceback that Python prints.
    """
    given = sys.stdin, sys.stdout, sys.stderr
    used = _open(given[0], "r"), _open(given[1], "w"), _open(given[2], "w")
    for stream in used[1:]:
        # File names need not be valid Unicode. The escape \udcXX is also valid in JSON.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdin = used[0]
    sys.stdout = cast(TextIO, Screen(used[1], "standard output"))
    sys.stderr = cast(TextIO, Screen(used[2], "standard error"))
    yield
    sys.stdin, sys.stdout, sys.stderr = given
    for stream in set(used) - set(given):
        stream.close()


def _open(stream: TextIO | None, mode: str) -> TextIO:
    """Return a standard stream, or the null device in place of a closed one."""
    return cast(TextIO, open(os.devnull, mode)) if stream is None else stream


def unescaped(stream: TextIO) -> TextIO:
    """Return the stream below a screen, for escape sequences of the program itself.

    Parameters
    ----------
    stream : text file
        A screen, or a stream that no screen protects.
    """
    return getattr(stream, "unescaped", stream)
