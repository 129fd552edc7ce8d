"""The format of a table: by name, or by the ending of a file."""

from importlib.util import find_spec
from pathlib import Path

from tagalong.streams.compression import strip_compression_suffix
from tagalong.tables.writers import TableFormat

__all__ = ["TABLE_ENDINGS", "missing_package", "table_format_of"]

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


def missing_package(format: TableFormat | None) -> str:
    """Return what has to be installed before a format can be written; "" if nothing has to.

    Parameters
    ----------
    format : str, optional
        The format.
    """
    if format == "parquet" and find_spec("pyarrow") is None:
        return "Parquet files need the package pyarrow: pip install 'tagalong[parquet]'"
    return ""
