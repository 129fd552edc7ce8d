"""Tables that an interrupted run can continue, row after row."""

import errno
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tagalong.cli.errors import CommandError
from tagalong.files.named_errors import open_in_place
from tagalong.tables.columns import Column, Row
from tagalong.tables.writers import Table, TableFormat, make_table

__all__ = ["EMPTY", "AppendableTable", "TablePosition"]

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TablePosition:
    """The end of a table at some time.

    Parameters
    ----------
    rows : int
        Number of rows.
    size : int
        Size of the file in bytes.
    checksum : int
        CRC-32 of the file.
    """

    rows: int = 0
    size: int = 0
    checksum: int = 0

    def to_json(self) -> dict[str, int]:
        """Return the arguments of the constructor."""
        return asdict(self)


EMPTY = TablePosition()
"""The position of a table that does not exist yet."""


class AppendableTable:
    """A table as CSV or JSON lines that can be cut back to an earlier position and continued.

    The file is created with the first row, or when the table is closed.

    Parameters
    ----------
    path : str
        The file; an existing one is replaced, unless there is a start.
    format : str
        "csv" or "jsonl".
    columns : sequence of Column
        The columns.
    start : TablePosition
        Where to continue. Rows behind this position are removed. CommandError if the file before
        it has changed.
    is_private : callable
        Function that returns, at the first row, whether a new file is readable by its owner only.
    """

    def __init__(
        self,
        path: str,
        format: TableFormat,
        columns: Sequence[Column],
        start: TablePosition = EMPTY,
        *,
        is_private: Callable[[], bool] = lambda: False,
    ):
        self.path = path
        self._format = format
        self._columns = columns
        self._file: _CountingFile | None = None
        self._table: Table | None = None
        self._rows = start.rows
        self._start = start
        self._is_private = is_private
        if start.size:
            self._open()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def protected(self) -> int:
        """Number of new cells that differ from their value, as `Table` says."""
        return 0 if self._table is None else self._table.protected

    def write(self, row: Row) -> None:
        """Append a row."""
        self._open().write(row)
        self._rows += 1

    def position(self) -> TablePosition:
        """Return the end of the table, after all rows so far are safely stored."""
        if self._file is None:
            return EMPTY
        self._file.sync()
        return TablePosition(self._rows, self._file.size, self._file.checksum)

    def close(self) -> None:
        """Store all rows; creates the file if there are none."""
        self._open()
        assert self._file is not None
        self._file.close()

    def _open(self) -> Table:
        if self._table is None:
            self._file = _CountingFile(self.path, self._start, self._is_private())
            options = {"header": not self._start.size} if self._format == "csv" else {}
            stream: Any = self._file
            self._table = make_table(self._format, stream, self._columns, **options)
        return self._table


class _CountingFile:
    """A file that is written from a position on, and knows its size and checksum."""

    def __init__(self, path: str, start: TablePosition, private: bool):
        self._path = path
        self.size = start.size
        self.checksum = start.checksum
        if start.size:
            _check_beginning(path, start)
        self._file = open_in_place(path, private=private, size=start.size)

    def write(self, data: bytes) -> int:
        self.size += len(data)
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)

    def sync(self) -> None:
        if self._file.closed:  # after the run, when an estimate is added to the model
            return
        self._file.flush()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            if error.errno != errno.EINVAL:  # a pipe or a device
                raise OSError(error.errno, error.strerror, self._path) from error

    def close(self) -> None:
        self._file.close()


def _check_beginning(path: str, start: TablePosition) -> None:
    """Raise CommandError if a file does not begin with the bytes up to a position."""
    checksum = 0
    size = 0
    for chunk in _chunks(path, start.size):
        checksum = zlib.crc32(chunk, checksum)
        size += len(chunk)
    if (size, checksum) != (start.size, start.checksum):
        raise CommandError(
            f"{path} has changed since the run stopped and cannot be continued: restore its "
            f"{start.rows:,} rows, or remove it and the further rows are written to a new file"
        )


def _chunks(path: str, size: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while size > 0:
            chunk = file.read(min(_CHUNK, size))
            if not chunk:
                return
            size -= len(chunk)
            yield chunk
