"""Write and parse Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SEPARATOR = re.compile(r"\|(\s*:?-+:?\s*\|)+")


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text; the other columns are aligned to the right."""
    lines = [_line(headers), "|---|" + "--:|" * (len(headers) - 1)]
    return "\n".join(lines + [_line(row) for row in rows])


def parse_tables(page: str) -> list[list[dict[str, str]]]:
    """The tables of a page; a table is a list of records, one per row, keyed by column name."""
    found: list[list[dict[str, str]]] = []
    headers: list[str] | None = None
    previous = ""
    for line in [*page.splitlines(), ""]:
        if SEPARATOR.fullmatch(line.strip()):
            headers = _cells(previous)
            found.append([])
        elif headers is not None and line.startswith("|"):
            found[-1].append(dict(zip(headers, _cells(line), strict=False)))
        else:
            headers = None
        previous = line
    return found


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
