"""The format of a table: by name, or by the ending of a file."""

from importlib.util import find_spec
from pathlib import Path

from tagalong.cli.errors import UsageError
from tagalong.cli.tables.writers import TableFormat
from tagalong.streams.compression import strip_compression_suffix

__all__ = ["TABLE_ENDINGS", "check_table_format", "table_format_of"]

_ENDINGS: dict[str, TableFormat] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


TABLE_ENDINGS = tuple(_ENDINGS)
"""Endings of files that name a format."""


def table_format_of(path: str) -> TableFormat | None:
    """Return the format that the ending of a file names, or None; compression is ignored."""
    return _ENDINGS.get(Path(strip_compression_suffix(path)).suffix.lower())


def check_table_format(format: TableFormat | None, option: str) -> None:
    """Raise UsageError if a package that the format needs is not installed.

    Parameters
    ----------
    format : str, optional
        The format.
    option : str
        The option that asks for it, for the message.
    """
    if format == "parquet" and find_spec("pyarrow") is None:
        raise UsageError(
            f"{option}: Parquet files need the package pyarrow: pip install 'tagalong[parquet]'"
        )
