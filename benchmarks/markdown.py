"""Tables of Markdown, written and read again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers, to the right."""
    lines = [_line(heads), "|---|" + "--:|" * (len(heads) - 1)]
    return "\n".join(lines + [_line(row) for row in rows])


def tables(page: str) -> list[list[dict[str, str]]]:
    """The tables of a page: a record a row, by the names of its columns."""
    found: list[list[dict[str, str]]] = []
    heads: list[str] | None = None
    before = ""
    for line in [*page.splitlines(), ""]:
        if RULE.fullmatch(line.strip()):
            heads = _cells(before)
            found.append([])
        elif heads is not None and line.startswith("|"):
            found[-1].append(dict(zip(heads, _cells(line), strict=False)))
        else:
            heads = None
        before = line
    return found


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
