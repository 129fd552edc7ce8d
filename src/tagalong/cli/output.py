"""Output of commands: results to standard output, everything else to standard error."""

import os
import sys
import unicodedata
from collections.abc import Sequence
from typing import TextIO, TypeAlias

from tagalong.cli.screen import unescaped
from tagalong.printable import as_json, printable

__all__ = [
    "Bold",
    "Line",
    "Output",
    "is_terminal",
    "items_text",
    "links_text",
    "size_text",
    "table",
    "wants_colour",
]


class Bold(str):
    """A piece of a line that is shown in bold."""


# A line of text: whole, or in pieces of which some are bold.
Line: TypeAlias = str | Sequence[str]

_BOLD, _PLAIN = "\033[1m", "\033[0m"


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is an interactive terminal."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_colour(stream: TextIO) -> bool:
    """Whether to write bold and coloured text to a stream."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


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

    def info(self, line: str) -> None:
        """Write a message about the work to standard error, as one line."""
        if not self.quiet:
            self.error(line)

    def error(self, *lines: str) -> None:
        """Write the lines of a message that must be seen to standard error."""
        for line in lines:
            print(printable(line), file=sys.stderr, flush=True)

    def result(self, *lines: Line) -> None:
        """Write the lines of a result as text, unless JSON is wanted.

        Parameters
        ----------
        lines : str or sequence of str
            Lines of text. A line end inside of one comes from outside and is escaped.
        """
        if self.json:
            return
        for line in lines:
            for piece in (line,) if isinstance(line, str) else line:
                _write_piece(piece)
            print()

    def data(self, text: str) -> None:
        """Write a text for other programs, unless JSON is wanted: exact if not on a terminal."""
        if not self.json:
            sys.stdout.flush()
            stream = sys.stdout.buffer
            for line in text.splitlines(keepends=True):
                stream.write(line.encode())
            stream.flush()

    def json_result(self, value: object) -> None:
        """Write a result as one line of JSON, if JSON is wanted."""
        if self.json:
            print(as_json(value))

    def flush(self) -> None:
        """Show the results now, to a program that waits for them while the command goes on."""
        sys.stdout.flush()

    def report_skipped(
        self, count: int, problems: Sequence[str], links: Sequence[str] = ()
    ) -> None:
        """Report how many items were skipped, and the reasons for the first ones.

        Parameters
        ----------
        count : int
            Number of items.
        problems : sequence of str
            The reasons.
        links : sequence of str
            Symbolic links, which are no items and are left out.
        """
        if links:
            self.info(links_text(links))
        if not count:
            return
        self.info(f"{count:,} {'item was' if count == 1 else 'items were'} skipped:")
        for problem in problems[:5]:
            self.info(f"  {problem}")
        if count > 5:
            self.info(f"  and {count - min(5, len(problems)):,} more")


def _write_piece(piece: str) -> None:
    """Write a piece of a line, in bold if it is marked so and standard output supports that."""
    text = printable(piece)
    if isinstance(piece, Bold) and wants_colour(sys.stdout):
        unescaped(sys.stdout).write(f"{_BOLD}{text}{_PLAIN}")
    else:
        sys.stdout.write(text)


def size_text(size: int) -> str:
    """Return a number of bytes with a readable unit."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def links_text(links: Sequence[str]) -> str:
    """Return the line about symbolic links that a command has left out."""
    others = f" and {len(links) - 1:,} more" if len(links) > 1 else ""
    return f"symbolic links are not followed: {printable(links[0])}{others}"


def items_text(count: int) -> str:
    """Return "1 item", "2 items" and so on."""
    return "1 item" if count == 1 else f"{count:,} items"


def _width(text: str) -> int:
    """Return the number of columns that a terminal uses for a text."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    marks = sum(unicodedata.category(c) in ("Mn", "Me") for c in text)
    return len(text) + wide - marks


def table(rows: Sequence[Sequence[str]], numbers_from: int = 1) -> list[str]:
    """Return the lines of a table; columns of numbers are aligned to the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells, headings first. Characters that are not printable are escaped.
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
