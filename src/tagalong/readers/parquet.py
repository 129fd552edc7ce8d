"""Reader and writer of Parquet: one row per item, columns chosen by name, labels as lists."""

from collections.abc import Iterable, Iterator
from io import FileIO
from shutil import copyfileobj
from typing import IO, BinaryIO, Unpack

from tagalong.learning.items import Item, ReadError
from tagalong.readers.column_choice import COLUMN_OPTIONS, ColumnOptions, choose_columns
from tagalong.readers.spool import spool_items
from tagalong.readers.temporary_files import temporary_file
from tagalong.readers.values import describe_item
from tagalong.streams.compression import read_errors
from tagalong.streams.format import Format, ItemOrError, Target

__all__ = ["FORMAT", "list_columns", "read_parquet", "write_parquet"]

_ROWS_PER_BATCH = 1024
_MAGIC = b"PAR1"
_MISSING_PACKAGE = "Parquet files need the package pyarrow: pip install 'tagalong[parquet]'"


def read_parquet(
    stream: BinaryIO, name: str, **choice: Unpack[ColumnOptions]
) -> Iterator[ItemOrError]:
    """Yield the items of a table, which is read in batches of rows."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ReadError(name, _MISSING_PACKAGE) from None
    # pyarrow detects invalid UTF-8 only when it converts text to Python strings.
    damaged = (pyarrow.ArrowException, *read_errors(), UnicodeError, OverflowError, ValueError)
    with temporary_file() as copy:
        number = 1  # number of the current row
        try:
            table = parquet.ParquetFile(_seekable(stream, copy, name))
            names = table.schema_arrow.names
        except ReadError:
            raise
        except damaged as error:
            raise ReadError(f"{name}:{number}", f"not Parquet, or damaged: {error}") from None
        columns = choose_columns(names, f"{name}:{number}", **choice)
        used = columns.used()
        batches = table.iter_batches(_ROWS_PER_BATCH, columns=[names[index] for index in used])
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                cells = [batch.column(names[index]).to_pylist() for index in used]
            except damaged as error:
                raise ReadError(f"{name}:{number}", f"not Parquet, or damaged: {error}") from None
            row: list[object] = [None] * len(names)
            for values in zip(*cells, strict=True):
                for index, value in zip(used, values, strict=True):
                    row[index] = value
                try:
                    yield columns.item(row, f"{name}:{number}")
                except ReadError as error:
                    yield error
                number += 1


def list_columns(stream: BinaryIO, name: str, **options: object) -> list[str]:
    """Return the names of the columns."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise ReadError(name, _MISSING_PACKAGE) from None
    with temporary_file() as copy:
        found: list[str] = parquet.ParquetFile(_seekable(stream, copy, name)).schema_arrow.names
        return found


def _seekable(stream: BinaryIO, copy: IO[bytes], name: str) -> IO[bytes]:
    """Return a seekable stream, copied if necessary: a Parquet file has its index at the end."""
    if isinstance(getattr(stream, "raw", None), FileIO) and stream.seekable():
        return stream
    start = stream.read(len(_MAGIC))
    if start != _MAGIC:  # before a large file is decompressed to the disk
        raise ReadError(f"{name}:1", f"not Parquet, or damaged: it starts with {start!r}")
    copy.write(start)
    copyfileobj(stream, copy)
    copy.seek(0)
    return copy


def write_parquet(items: Iterable[Item], target: Target) -> int:
    """Write a table: id, text or one column per field, features, labels (a list), weight, date."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"{target.name}: {_MISSING_PACKAGE}") from None
    fields: dict[str, None] = {}
    features: dict[str, type] = {}
    has = {"weight": False, "date": False}

    def collect_names(item: Item, number: int) -> None:
        fields.update(dict.fromkeys([""] if isinstance(item.text, str) else item.text))
        has["weight"] |= item.weight != 1.0
        has["date"] |= item.date is not None
        for name, value in item.features.items():
            kind = str if isinstance(value, str) else float
            if features.setdefault(name, kind) is not kind:
                raise ValueError(
                    f"{describe_item(item, number)}: the feature {name!r} is {value!r} here, but a "
                    f"{'number' if kind is str else 'category'} in an earlier item"
                )

    with spool_items(items, collect_names) as spooled:
        text = pyarrow.string()
        schema = [("id", text), *((field or "text", text) for field in fields)]
        schema += [
            (name, text if kind is str else pyarrow.float64()) for name, kind in features.items()
        ]
        schema += [("labels", pyarrow.list_(text))]
        schema += [("weight", pyarrow.float64())] if has["weight"] else []
        schema += [("date", pyarrow.timestamp("us", tz="UTC"))] if has["date"] else []
        names = [name for name, _ in schema]
        if len(set(names)) < len(names):
            duplicate = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"{target.name}: more than one column would have the name {duplicate!r}"
            )
        with parquet.ParquetWriter(target.stream, pyarrow.schema(schema)) as writer:
            count = 0
            rows: list[dict[str, object]] = []
            for count, item in enumerate(spooled(), 1):  # noqa: B007
                texts = {"": item.text} if isinstance(item.text, str) else item.text
                row = {field or "text": texts.get(field) for field in fields}
                rows.append(
                    {
                        **row,
                        **item.features,
                        "id": item.id,
                        "labels": None if item.labels is None else list(item.labels),
                        "weight": item.weight,
                        "date": item.date,
                    }
                )
                if len(rows) == 64 * _ROWS_PER_BATCH:
                    writer.write_table(pyarrow.Table.from_pylist(rows, writer.schema))
                    rows.clear()
            if rows:
                writer.write_table(pyarrow.Table.from_pylist(rows, writer.schema))
    return count


FORMAT = Format(
    "parquet",
    "Parquet table, columns chosen by name, labels as lists",
    read_parquet,
    extensions=(".parquet", ".pq"),
    options=COLUMN_OPTIONS,
    write=write_parquet,
    starts=(_MAGIC,),
    list_names=list_columns,
)
