"""Progress display: a table that is updated on a terminal, lines of text elsewhere."""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, TextIO, cast

from tagalong.cli.output import Output, is_terminal
from tagalong.cli.screen import Screen, unescaped
from tagalong.printable import printable

__all__ = ["Live"]

# Seconds before the first update on a terminal, and between updates.
FIRST = 0.5
EVERY = 5.0
EVERY_ON_TERMINAL = 0.2

Rows = Sequence[Sequence[str]]


class Live:
    """Shows the progress of a command on standard error.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    every : float, optional
        Seconds between two updates. On a terminal the first comes after at most half a second;
        elsewhere a shorter run writes no line, since its last one would look unfinished.
    """

    def __init__(self, quiet: bool = False, every: float | None = None):
        self._quiet = quiet
        self._terminal = not quiet and is_terminal(sys.stderr)
        self._every = every or (EVERY_ON_TERMINAL if self._terminal else EVERY)
        first = min(FIRST, self._every) if self._terminal else self._every
        self._due = time.monotonic() + first
        self._display: Any = None

    def is_due(self) -> bool:
        """Whether it is time for an update."""
        return not self._quiet and time.monotonic() >= self._due

    def show(self, headings: Sequence[str], rows: Rows, line: str) -> None:
        """Update the display.

        Parameters
        ----------
        headings : sequence of str
            Headings of the columns, on a terminal.
        rows : sequence of sequences of str
            Cells of the table, on a terminal.
        line : str
            The text to write if standard error is not a terminal.
        """
        if self._terminal:
            self._display.update(_table(headings, rows), refresh=True)
        elif not self._quiet:
            Output().error(line)
        self._due = time.monotonic() + self._every

    def __enter__(self) -> "Live":
        if self._terminal:
            from rich.console import Console
            from rich.live import Live as Display

            # The display needs escape sequences. Its cells are escaped one by one.
            self._display = Display(
                console=Console(file=unescaped(sys.stderr)),
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
            )
            self._display.start()
            # Messages go through the display, which has replaced standard error.
            self._replaced = sys.stderr
            sys.stderr = cast(TextIO, Screen(sys.stderr, "standard error"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._display is not None:
            sys.stderr = self._replaced
            self._display.stop()


def _table(headings: Sequence[str], rows: Rows) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False)
    for i, heading in enumerate(headings):
        justify: Literal["left", "right"] = "left" if i == 0 else "right"
        table.add_column(Text(printable(heading)), justify=justify, no_wrap=True)
    for row in rows:
        # Names may look like rich's markup.
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
