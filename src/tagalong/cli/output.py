"""Output of commands: results to standard output, everything else to standard error."""

import io
import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

__all__ = [
    "Output",
    "TerminalBytes",
    "as_json",
    "is_terminal",
    "printable",
    "printable_lines",
    "size_text",
    "table",
    "wants_colour",
]


_UNPRINTABLE = re.compile(r"[^ -~]")


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is an interactive terminal."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_colour(stream: TextIO) -> bool:
    """Whether to write bold and coloured text to a stream."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def as_json(value: object) -> str:
    """Return a value as one line of JSON, with null for NaN and infinity.

    Control and format characters are escaped, so that the line can be shown on a terminal.
    """
    line = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    return line if line.isprintable() else _UNPRINTABLE.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Output:
    """Writes the results and messages of a command.

    Parameters
    ----------
    json : bool
        Write the results as JSON, and nothing else to standard output.
    quiet : bool
        Write only results and errors.
    """

    def __init__(self, json: bool = False, quiet: bool = False):
        self.json = json
        self.quiet = quiet

    def info(self, text: str) -> None:
        """Write a message about the work to standard error."""
        if not self.quiet:
            print(printable_lines(text), file=sys.stderr, flush=True)

    def result(self, text: str) -> None:
        """Write a result as text, unless JSON is wanted."""
        if not self.json:
            print(text)

    def json_result(self, value: object) -> None:
        """Write a result as one line of JSON, if JSON is wanted."""
        if self.json:
            print(as_json(value))

    def report_skipped(self, count: int, problems: Sequence[str]) -> None:
        """Report how many items were skipped, and the reasons for the first ones."""
        if not count:
            return
        self.info(f"{count:,} {'item was' if count == 1 else 'items were'} skipped:")
        for problem in problems[:5]:
            self.info(f"  {problem}")
        if count > 5:
            self.info(f"  and {count - min(5, len(problems)):,} more")

    def bold(self, text: str) -> str:
        """Return a text in bold, if standard output supports that."""
        return f"\033[1m{text}\033[0m" if wants_colour(sys.stdout) else text


def size_text(size: int) -> str:
    """Return a number of bytes with a readable unit."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def printable(text: str) -> str:
    r"""Return a text with escapes in place of control, format and other unprintable characters.

    Labels, ids and words come from outside. Such characters could change the colours or the title
    of a terminal, or the order in which it shows letters.

    Examples
    --------
    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    """Return a text of one or more lines without unprintable characters."""
    return "\n".join(map(printable, text.split("\n")))


class TerminalBytes(io.RawIOBase):
    """A binary stream for lines of text that are shown on standard output, a terminal."""

    def writable(self) -> bool:
        """Whether the stream can be written: it can."""
        return True

    def write(self, data: Any) -> int:
        """Show lines of text in UTF-8, without unprintable characters."""
        sys.stdout.write(printable_lines(bytes(data).decode("utf-8")))
        return len(data)

    def flush(self) -> None:
        """Show everything that was written."""
        if not self.closed:
            sys.stdout.flush()


def _width(text: str) -> int:
    """Return the number of columns that a terminal uses for a text."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def table(rows: Sequence[Sequence[str]], numbers_from: int = 1) -> list[str]:
    """Return the lines of a table; columns of numbers are aligned to the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells, headings first. Unprintable characters are replaced.
    numbers_from : int
        Index of the first column of numbers.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - _width(cell))
            cells.append(cell + space if i < numbers_from else space + cell)
        lines.append("  ".join(cells).rstrip())
    return lines
