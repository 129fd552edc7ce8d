"""Where a command writes: results to standard output, everything else to standard error."""

import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

__all__ = ["Output", "as_json", "is_terminal", "size_text", "table", "wants_colour"]


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody is looking at a stream."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream may be given bold and coloured text."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def as_json(value: Any) -> str:
    """Return a value as JSON in one line: NaN and infinity become null, tuples lists."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Output:
    """What a command says, and to whom.

    Parameters
    ----------
    json : bool
        Standard output is for programs: JSON and nothing else.
    quiet : bool
        Say nothing but results and errors.
    """

    def __init__(self, json: bool = False, quiet: bool = False):
        self.json = json
        self.quiet = quiet

    def say(self, text: str) -> None:
        """Tell the user something about the work."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def show(self, text: str) -> None:
        """Write a result for people; programs get theirs by `document`."""
        if not self.json:
            print(text)

    def document(self, value: Any) -> None:
        """Write a result for programs, in one line."""
        if self.json:
            print(as_json(value))

    def skipped(self, count: int, problems: Sequence[str]) -> None:
        """Tell how many items were skipped, and why the first of them."""
        if not count:
            return
        self.say(f"{count:,} {'item was' if count == 1 else 'items were'} skipped:")
        for problem in problems[:5]:
            self.say(f"  {problem}")
        if count > 5:
            self.say(f"  and {count - min(5, len(problems)):,} more")

    def bold(self, text: str) -> str:
        """Return a text for standard output that stands out there, if it can."""
        return f"\033[1m{text}\033[0m" if wants_colour(sys.stdout) else text


def size_text(size: int) -> str:
    """Return a number of bytes for people."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def table(rows: Sequence[Sequence[str]], numbers_from: int = 1) -> list[str]:
    """Return the lines of a table; columns of numbers stand to the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells, headings first.
    numbers_from : int
        The first column of numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < numbers_from else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
