"""Items as a table for people: one row per item, in a form that spreadsheets open.

Every item can be written. `tagalong.readers` writes tables that can be read back without a loss, so
it has to refuse some items; JSON lines are the form for programs.
"""

import csv
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tagalong.journal.exported_items import ExportedItem
from tagalong.learning.items import FeatureValue, Item
from tagalong.readers.dates import date_text

__all__ = ["write_table"]

COLUMNS = ("id", "state", "labels", "title", "source", "date", "weight", "text")
SEPARATORS = (",", ";", "|", "\n")
COMPUTED = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets may compute cells that begin like this, and anybody can write such a text."""

_BYTES_IN_MEMORY = 1 << 20


def write_table(items: Iterable[ExportedItem], path: Path) -> None:
    """Write items as CSV: their columns, one column per field of a text, and one per value.

    A field or value that is called like another column gets the prefix "field:" or "value:". Labels
    are separated by a comma, or by another character that no label has. In front of texts that a
    spreadsheet would compute is an apostrophe.

    Parameters
    ----------
    items : iterable of ExportedItem
        The items.
    path : path
        The file to write.
    """
    fields: dict[str, None] = {}
    values: dict[str, None] = {}
    labels: set[str] = set()
    # The columns are known after the last item, and memory must not limit their number.
    with tempfile.SpooledTemporaryFile(_BYTES_IN_MEMORY) as spool:
        for each in items:
            item = each.item
            fields.update(dict.fromkeys(_fields(item)))
            values.update(dict.fromkeys(item.features))
            labels.update(item.labels or ())
            spool.write(json.dumps(_stored(each)).encode() + b"\n")
        spool.seek(0)
        separator = next((s for s in SEPARATORS if not any(s in each for each in labels)), "\n")
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            table = csv.writer(file)
            table.writerow(_header(fields, values))
            table.writerows(_rows(spool, list(fields), list(values), separator))


def _fields(item: Item) -> dict[str, str]:
    return {} if isinstance(item.text, str) else dict(item.text)


def _stored(each: ExportedItem) -> list[object]:
    item = each.item
    date = date_text(item.date) if item.date else ""
    weight = "" if item.weight == 1 else item.weight
    text = item.text if isinstance(item.text, str) else ""
    known: list[object] = [item.id, each.state, item.labels or [], each.title, each.source]
    return [[*known, date, weight, text], _fields(item), dict(item.features)]


def _header(fields: Iterable[str], values: Iterable[str]) -> list[str]:
    header = list(COLUMNS)
    for prefix, names in (("field:", fields), ("value:", values)):
        header += [f"{prefix}{name}" if name in header else name for name in names]
    return [_cell(name) for name in header]


def _rows(
    spool: IO[bytes], fields: list[str], values: list[str], separator: str
) -> Iterator[list[FeatureValue]]:
    for line in spool:
        cells, texts, numbers = json.loads(line)
        cells[COLUMNS.index("labels")] = separator.join(cells[COLUMNS.index("labels")])
        cells += [texts.get(name, "") for name in fields]
        cells += [numbers.get(name, "") for name in values]
        yield [_cell(cell) if isinstance(cell, str) else cell for cell in cells]


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(COMPUTED) else text
