"""Writers of tables, row by row: CSV, JSON lines, Parquet."""

import csv
import json
from collections.abc import Sequence
from typing import IO, Any, Literal, Protocol, TypeAlias

from tagalong.printable import as_json
from tagalong.tables.columns import Column, Row
from tagalong.tables.formulas import as_plain_text

__all__ = ["CsvTable", "JsonLinesTable", "ParquetTable", "Table", "TableFormat", "make_table"]

TableFormat: TypeAlias = Literal["csv", "jsonl", "parquet"]
_SEPARATOR = ","
_CELLS_PER_GROUP = 1 << 18  # rows of Parquet are collected up to this number of cells
_BYTE_ORDER_MARK = "\ufeff"


class Table(Protocol):
    """A table that is written row by row.

    Attributes
    ----------
    protected : int
        Number of cells that differ from their value, so that no spreadsheet evaluates them.
    """

    protected: int

    def write(self, row: Row) -> None:
        """Write a row, with one cell per column."""

    def close(self) -> None:
        """Write the rest. The stream stays open."""


class CsvTable:
    """A table as CSV in UTF-8, with a header and the quoting of RFC 4180; lines end in LF.

    Several labels of an item are in one cell, separated by commas. If that is ambiguous, because a
    label contains a comma, the cell is a JSON array.

    Parameters
    ----------
    stream : binary file
        Where to write.
    columns : sequence of Column
        The columns.
    exact : bool
        Do not put an apostrophe in front of texts that a spreadsheet would take for formulas.
    mark : bool
        Begin with a byte order mark, by which Excel recognises UTF-8.
    header : bool
        Write the names of the columns first.

    Attributes
    ----------
    protected : int
        Number of cells with an apostrophe in front.
    """

    def __init__(
        self,
        stream: IO[bytes],
        columns: Sequence[Column],
        *,
        exact: bool = False,
        mark: bool = False,
        header: bool = True,
    ):
        self.protected = 0
        self._columns = columns
        self._exact = exact
        # The writer ends rows with CR LF, because it then quotes cells that contain CR or LF.
        self._rows = csv.writer(_LineWriter(stream), lineterminator="\r\n")
        if mark:
            stream.write(_BYTE_ORDER_MARK.encode())
        if header:
            self._rows.writerow([column.name for column in columns])

    def write(self, row: Row) -> None:
        """Write a row."""
        cells = zip(row, self._columns, strict=True)
        self._rows.writerow([self._cell(value, column) for value, column in cells])

    def _cell(self, value: object, column: Column) -> object:
        if value is None:
            return ""
        if column.kind == "flag":
            return "true" if value else "false"
        if column.kind in ("number", "integer"):
            return value
        text = _joined(value) if isinstance(value, (list, tuple)) else str(value)
        safe = text if self._exact else as_plain_text(text)
        self.protected += safe != text
        return safe

    def close(self) -> None:
        """Do nothing: all rows are written."""


class _LineWriter:
    """Text stream for `csv.writer` that writes lines in UTF-8."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream

    def write(self, row: str) -> int:
        return self._stream.write(_encoded(row.removesuffix("\r\n") + "\n"))


def _joined(labels: Sequence[object]) -> str:
    texts = [str(label) for label in labels]
    if any(_SEPARATOR in text or text != text.strip() or not text for text in texts):
        return json.dumps(texts, ensure_ascii=False)
    return _SEPARATOR.join(texts)


class JsonLinesTable:
    """A table as JSON lines: one object per row, with a key per column and null for no value.

    Parameters
    ----------
    stream : binary file
        Where to write.
    columns : sequence of Column
        The columns.

    Attributes
    ----------
    protected : int
        0, as every cell is stored exactly.
    """

    def __init__(self, stream: IO[bytes], columns: Sequence[Column]):
        self.protected = 0
        self._stream = stream
        self._names = [column.name for column in columns]

    def write(self, row: Row) -> None:
        """Write a row."""
        line = as_json(dict(zip(self._names, row, strict=True)))
        self._stream.write(_encoded(line + "\n"))

    def close(self) -> None:
        """Do nothing: all rows are written."""


class ParquetTable:
    """A Parquet table; labels are strings, several labels of an item are a list.

    Parameters
    ----------
    stream : binary file
        Where to write; it need not be seekable.
    columns : sequence of Column
        The columns.

    Attributes
    ----------
    protected : int
        0, as every cell is stored exactly.
    """

    def __init__(self, stream: IO[bytes], columns: Sequence[Column]):
        import pyarrow
        from pyarrow import parquet

        kinds = {
            "text": pyarrow.string(),
            "label": pyarrow.string(),
            "number": pyarrow.float64(),
            "integer": pyarrow.int64(),
            "flag": pyarrow.bool_(),
            "labels": pyarrow.list_(pyarrow.string()),
        }
        schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in columns])
        self.protected = 0
        self._columns = columns
        self._arrow: Any = pyarrow
        self._writer: Any = parquet.ParquetWriter(stream, schema)
        self._rows: list[Row] = []

    def write(self, row: Row) -> None:
        """Add a row; a group of rows is written when it is large enough."""
        self._rows.append(row)
        if len(self._rows) * len(self._columns) >= _CELLS_PER_GROUP:
            self._write_group()

    def _write_group(self) -> None:
        arrays = [
            self._arrow.array([_stored(cell, column) for cell in cells], field.type)
            for cells, column, field in zip(
                zip(*self._rows, strict=True), self._columns, self._writer.schema, strict=True
            )
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._writer.schema))
        self._rows.clear()

    def close(self) -> None:
        """Write the last rows and the index of the file."""
        if self._rows:
            self._write_group()
        self._writer.close()

    def abandon(self) -> None:
        """Leave the file incomplete, after an error; the writer would complete it at its end."""
        self._writer.is_open = False


def _stored(value: object, column: Column) -> object:
    """Return a cell as a value that Parquet can hold."""
    if column.kind == "labels" and isinstance(value, (list, tuple)):
        return [_encoded(str(label)).decode() for label in value]
    if value is None or column.kind not in ("text", "label"):
        return value
    return _encoded(str(value)).decode()


def _encoded(text: str) -> bytes:
    """Return a text in UTF-8. Lone surrogates, from invalid file names, become escapes."""
    return text.encode("utf-8", "backslashreplace")


def make_table(
    format: TableFormat, stream: IO[bytes], columns: Sequence[Column], **options: bool
) -> Table:
    """Return the writer of a format.

    Parameters
    ----------
    format : str
        "csv", "jsonl" or "parquet".
    stream : binary file
        Where to write.
    columns : sequence of Column
        The columns.
    options : bool
        Options of `CsvTable`; not for the other formats.
    """
    if format == "csv":
        return CsvTable(stream, columns, **options)
    return JsonLinesTable(stream, columns) if format == "jsonl" else ParquetTable(stream, columns)
