"""Reader and writer of CSV and TSV: one row per item, columns chosen by name."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, Unpack

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.column_choice import (
    COLUMN_OPTIONS,
    UNLABELLED,
    ColumnOptions,
    choose_columns,
)
from tagalong.readers.columns import MAX_COLUMNS
from tagalong.readers.dates import date_text
from tagalong.readers.lines import LINE_OPTIONS, MAX_LINE, Lines
from tagalong.readers.spool import spool_items
from tagalong.readers.values import describe_item, unlabelled_problem
from tagalong.streams.format import Format, ItemOrError, Option, OptionError, Target

__all__ = ["CSV", "TSV", "list_columns", "read_csv", "read_tsv", "write_csv", "write_tsv"]

_DELIMITERS = ",;\t"


def read_csv(
    stream: BinaryIO,
    name: str,
    *,
    delimiter: str | None = None,
    columns: tuple[str, ...] | None = None,
    quoting: bool = True,
    encoding: str = "utf-8",
    max_line: int = MAX_LINE,
    **choice: Unpack[ColumnOptions],
) -> Iterator[ItemOrError]:
    """Yield the items of a table, skipping blank lines."""
    lines = Lines(stream, name, encoding, max_line)
    rows = _rows(lines, delimiter, quoting, max_line)
    if rows is None:
        return
    begin = lines.number
    header = columns
    if header is None:
        header = _header(rows, lines)
        begin = lines.number + 1
    found = choose_columns(header, f"{name}:{lines.number}", **choice)
    while True:
        try:
            for row in rows:
                if len(row) == len(header):
                    yield found.item(row, f"{name}:{begin}")
                elif row:
                    raise ReadError(
                        f"{name}:{begin}",
                        f"the row has {len(row)} cells, but there are {len(header)} columns",
                    )
                begin = lines.number + 1
        except ReadError as error:
            yield error
        except csv.Error as error:
            end = f" (the row ends in line {lines.number})" if lines.number > begin else ""
            hint = "; turn the option quoting off if quotes are plain characters" if quoting else ""
            yield ReadError(f"{name}:{begin}", f"{error}{end}{hint}")
        else:
            return
        begin = lines.number + 1


def list_columns(
    stream: BinaryIO,
    name: str,
    *,
    delimiter: str | None = None,
    columns: tuple[str, ...] | None = None,
    quoting: bool = True,
    encoding: str = "utf-8",
    max_line: int = MAX_LINE,
    **choice: Unpack[ColumnOptions],
) -> list[str]:
    """Return the names of the columns."""
    if columns is not None:
        return list(columns)
    lines = Lines(stream, name, encoding, max_line)
    rows = _rows(lines, delimiter, quoting, max_line)
    return [] if rows is None else list(_header(rows, lines))


def _rows(
    lines: Lines, delimiter: str | None, quoting: bool, max_line: int
) -> Iterator[list[str]] | None:
    """Return the rows of a table with its header; None if the table is empty."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise OptionError(
            f"delimiter must be a single character, not a quote or line end; got {delimiter!r}"
        )
    # The limit holds for the whole process. It is never lowered, since other threads may need it.
    csv.field_size_limit(max(csv.field_size_limit(), max_line))
    first = next(lines, None)
    while first is not None and first.isspace():
        first = next(lines, None)
    if first is None:
        return None
    return _Rows(
        _LinesOfRow(lines, first, max_line),
        delimiter=delimiter or _guess_delimiter(first),
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )


def _header(rows: Iterator[list[str]], lines: Lines) -> tuple[str, ...]:
    place = lines.place()
    try:
        header = tuple(next(rows))
    except csv.Error as error:
        raise ReadError(place, f"the header is not valid CSV: {error}") from None
    if len(header) > MAX_COLUMNS:
        raise ReadError(place, f"the header has more than {MAX_COLUMNS} columns: not a table")
    return header


def read_tsv(stream: BinaryIO, name: str, **options: Any) -> Iterator[ItemOrError]:
    """Yield the items of a tab-separated table."""
    return read_csv(stream, name, **{"delimiter": "\t"} | options)


class _LinesOfRow:
    """Iterator over lines, of which the first has been read, that bounds the length of a row.

    A row has several lines if a cell with line ends is quoted.
    """

    def __init__(self, lines: Lines, first: str, max_row: int):
        self._lines = lines
        self._first: str | None = first
        self._max_row = max_row
        self._begin = lines.number
        self._length = 0

    def begin_row(self) -> None:
        """Begin a new row with the next line."""
        self._length = 0

    def __iter__(self) -> "_LinesOfRow":
        return self

    def __next__(self) -> str:
        line, self._first = self._first, None
        if line is None:
            line = next(self._lines)
        if not self._length:
            self._begin = self._lines.number
        self._length += len(line)
        if self._length > self._max_row:
            raise ReadError(
                self._lines.place(self._begin),
                f"the row is longer than {self._max_row} characters (option max_line)",
            )
        return line


class _Rows:
    """Iterator over the rows of a table that goes on after an error, as `csv.reader` does."""

    def __init__(self, lines: _LinesOfRow, **dialect: Any):
        self._begin_row = lines.begin_row
        self._next_row = csv.reader(lines, **dialect).__next__

    def __iter__(self) -> "_Rows":
        return self

    def __next__(self) -> list[str]:
        self._begin_row()
        return self._next_row()


def _guess_delimiter(line: str) -> str:
    """Return the delimiter that is most frequent outside quotes; a comma if none occurs."""
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def write_csv(
    items: Iterable[Item],
    target: Target,
    *,
    delimiter: str = ",",
    separator: str = ",",
    unlabelled: str = "unknown",
) -> int:
    """Write a header and one row per item.

    Columns: id, one per field of the text ("text" for plain text), features, labels, weight, date.
    The last four are written only if an item has them.
    """
    fields: dict[str, None] = {}
    features: dict[str, None] = {}
    has = {"labels": False, "weight": False, "date": False}

    def collect_names(item: Item, number: int) -> None:
        texts = {"": item.text} if isinstance(item.text, str) else item.text
        if "text" in texts:
            raise ValueError(
                f"{describe_item(item, number)}: a field must not have the name 'text', which is "
                "the column of plain text"
            )
        fields.update(dict.fromkeys(texts))
        features.update(dict.fromkeys(item.features))
        has["labels"] |= item.labels is not None
        has["weight"] |= item.weight != 1.0
        has["date"] |= item.date is not None
        _check(item, number, separator, unlabelled)

    with spool_items(items, collect_names) as spooled:
        columns = ["id", *(field or "text" for field in fields), *features]
        columns += [name for name, is_used in has.items() if is_used]
        if duplicates := {name for name in columns if columns.count(name) > 1}:
            names = ", ".join(map(repr, sorted(duplicates)))
            raise ValueError(f"{target.name}: more than one column would have the name {names}")
        rows = csv.writer(_EncodingWriter(target), delimiter=delimiter)
        rows.writerow(columns)
        count = 0
        for count, item in enumerate(spooled(), 1):  # noqa: B007
            texts = {"": item.text} if isinstance(item.text, str) else item.text
            row: list[FeatureValue] = [item.id, *(texts.get(field, "") for field in fields)]
            row += [item.features.get(name, "") for name in features]
            row += [separator.join(item.labels or ())] if has["labels"] else []
            row += [item.weight] if has["weight"] else []
            row += [date_text(item.date) if item.date else ""] if has["date"] else []
            rows.writerow(row)
    return count


def _check(item: Item, number: int, separator: str, unlabelled: str) -> None:
    for label in item.labels or ():
        if (separator and separator in label) or label != label.strip() or not label:
            raise ValueError(
                f"{describe_item(item, number)}: the label {label!r} must not contain the "
                f"separator {separator!r} or begin or end with white space; the option separator "
                "changes the separator"
            )
    if not separator and len(item.labels or ()) > 1:
        raise ValueError(
            f"{describe_item(item, number)}: several labels need a separator; the option separator "
            "is empty"
        )
    if problem := unlabelled_problem(item, unlabelled):
        raise ValueError(f"{describe_item(item, number)}: {problem}")
    for name, value in item.features.items():
        if isinstance(value, str) and (not value or _is_read_as_number(value)):
            raise ValueError(
                f"{describe_item(item, number)}: the category {value!r} of feature {name!r} would "
                "be read back as a number or a missing value"
            )


def _is_read_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


class _EncodingWriter:
    """Text stream for `csv.writer` that writes UTF-8 with LF line ends.

    The writer itself ends rows with CR LF, because it then quotes cells that contain CR or LF.
    """

    def __init__(self, target: Target):
        self._stream = target.stream

    def write(self, row: str) -> int:
        return self._stream.write(row.removesuffix("\r\n").encode() + b"\n")


def write_tsv(items: Iterable[Item], target: Target, **options: Any) -> int:
    """Write a tab-separated table."""
    return write_csv(items, target, **{"delimiter": "\t"} | options)


_OPTIONS = (
    *COLUMN_OPTIONS,
    Option("columns", "Names of the columns, for files without a header line.", "names"),
    Option("delimiter", "Delimiter of the cells. By default guessed from the first line."),
    Option("quoting", "Whether cells may be enclosed in double quotes.", "flag", True),
    *LINE_OPTIONS,
)
_WRITE_OPTIONS = (
    Option("delimiter", "Delimiter to write between cells.", default=","),
    Option("separator", "Separator to write between the labels in a cell.", default=","),
    UNLABELLED,
)
_TAB = Option("delimiter", "Delimiter of the cells.", default="\t")

CSV = Format(
    "csv",
    "comma- or semicolon-separated table, columns chosen by name",
    read_csv,
    extensions=(".csv",),
    options=_OPTIONS,
    write=write_csv,
    write_options=_WRITE_OPTIONS,
    list_names=list_columns,
)
TSV = replace(
    CSV,
    name="tsv",
    description="tab-separated table, columns chosen by name",
    read=read_tsv,
    extensions=(".tsv", ".tab"),
    options=tuple(_TAB if option.name == "delimiter" else option for option in _OPTIONS),
    write=write_tsv,
    write_options=(_TAB, *_WRITE_OPTIONS[1:]),
    list_names=partial(list_columns, delimiter="\t"),
)
