"""Standard output and standard error of a command: nothing printed can act on a terminal."""

import codecs
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO, cast

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

    Attributes
    ----------
    unescaped : text file
        The stream as given.
    """

    def __init__(self, stream: TextIO):
        self.unescaped = stream

    def write(self, text: str) -> int:
        """Write a text, escaped."""
        self.unescaped.write(text if text.isprintable() else _printable_lines(text))
        return len(text)

    @property
    def buffer(self) -> BinaryIO:
        """The binary stream for data: exact, unless a terminal shows them."""
        if self.isatty():
            return cast(BinaryIO, _ShownBytes(self))
        return self.unescaped.buffer

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
            self.unescaped.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self.unescaped.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self.unescaped.fileno()


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


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

    After an exception they stay replaced, for the traceback that Python prints.
    """
    given = sys.stdout, sys.stderr
    for stream in given:
        # File names need not be valid Unicode. The escape \udcXX is also valid in JSON.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast(TextIO, Screen(stream)) for stream in given)
    yield
    sys.stdout, sys.stderr = given


def unescaped(stream: TextIO) -> TextIO:
    """Return the stream below a screen, for escape sequences of the program itself.

    Parameters
    ----------
    stream : text file
        A screen, or a stream that no screen protects.
    """
    return getattr(stream, "unescaped", stream)
