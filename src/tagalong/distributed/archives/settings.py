"""The options of a run: how to read the items, how to suggest labels, how to write them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tagalong.readers.byte_ranges import ByteRange
from tagalong.readers.registry import format_by_name, validate_defaults, validate_options
from tagalong.readers.stream import Stream, read
from tagalong.streams.format import Format, OptionValue
from tagalong.tables.writers import TableFormat

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """The options of a run; they are the same for all shards.

    Parameters
    ----------
    k : int
        Maximum number of suggestions per item.
    min_precision : float, optional
        Required precision of a sure suggestion, for labels without their own.
    only_sure : bool
        Write only suggestions that are marked as sure.
    to : str, optional
        Format of a table: "csv", "jsonl" or "parquet". None writes nested lines of JSON.
    exact, bom : bool
        Options of CSV.
    format : str, optional
        Format of the sources.
    on_error : str
        "stop" or "skip".
    defaults : dict
        Reading options that apply where they can, as for `read`.
    options : dict
        Reading options that must apply.
    shard_size : int
        Number of bytes of a part of a file.
    """

    k: int = 5
    min_precision: float | None = None
    only_sure: bool = False
    to: TableFormat | None = None
    exact: bool = False
    bom: bool = False
    format: str | None = None
    on_error: Literal["stop", "skip"] = "stop"
    defaults: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    shard_size: int = 64 << 20

    def open(self, source: str | ByteRange) -> Stream:
        """Return the stream of the items of a source.

        Parameters
        ----------
        source : str or ByteRange
            The source, as for `read`.
        """
        return read(
            source, self.format, on_error=self.on_error, defaults=self.defaults, **self.options
        )

    def wanted_formats(self) -> tuple[Format | None, Format | None]:
        """Return the format that is asked for, and that of files which are not recognised."""
        names = self.format, self.defaults.get("format")
        wanted, fallback = (None if name is None else format_by_name(name) for name in names)
        return wanted, fallback

    def reading_options(self, format: Format) -> dict[str, OptionValue]:
        """Return the options for a format.

        Parameters
        ----------
        format : Format
            The format of a source.
        """
        given = validate_options([format], self.options)[format.name]
        return {**validate_defaults(format, self.defaults), **given}

    @property
    def ending(self) -> str:
        """The ending of output files."""
        return f".{self.to or 'jsonl'}"

    def to_json(self) -> dict[str, Any]:
        """Return what decides the contents of the output, as JSON values.

        How errors are handled is not among it: a shard without errors is the same either way.
        """
        named = {
            name: getattr(self, name)
            for name in ("k", "min_precision", "only_sure", "to", "exact", "bom", "format")
        }
        reading = {**self.defaults, **self.options}
        reading.pop("format", None)
        plain = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in sorted(reading.items())
        }
        return {**named, "shard_size": self.shard_size, "reading": plain}
