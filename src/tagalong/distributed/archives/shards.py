"""Shards: the parts of the work, and the names of their output files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagalong.distributed.archives.inputs import Input
from tagalong.distributed.archives.settings import Settings
from tagalong.files.unicode_paths import unicode_path
from tagalong.readers.byte_ranges import ByteRange, split_file
from tagalong.streams.compression import strip_compression_suffix

__all__ = ["Shard", "find_shards"]

_MAX_STEM = 80  # characters of the name of an input in the name of its output


@dataclass(frozen=True)
class Shard:
    """An input or a part of one, and the file to write.

    Parameters
    ----------
    number : int
        Its place in the order of the items, from 1.
    output : str
        Name of the output file.
    name : str
        The input as the user named it.
    source : str or ByteRange
        The input, or the part of it, as the worker reads it.
    size, modified : int, optional
        Size and time of the input, which must not change.
    """

    number: int
    output: str
    name: str
    source: str | ByteRange
    size: int | None = None
    modified: int | None = None

    @property
    def path(self) -> str:
        """Where the input is."""
        return self.source if isinstance(self.source, str) else self.source.path

    def to_json(self) -> dict[str, Any]:
        """Return what the manifest says of it."""
        part = self.source
        span = {} if isinstance(part, str) else {"start": part.start, "end": part.end}
        return {"output": self.output, "source": self.name, **span}


def find_shards(inputs: Sequence[Input], settings: Settings) -> list[Shard]:
    """Return the shards of all inputs: ranges of bytes where that is possible, or whole inputs.

    Parameters
    ----------
    inputs : sequence of Input
        The inputs.
    settings : Settings
        The options.
    """
    parts: list[tuple[Input, str | ByteRange]] = []
    for each in inputs:
        found: Sequence[str | ByteRange] = ()
        if each.format is not None:
            options = settings.reading_options(each.format)
            found = split_file(each.path, each.format, options, settings.shard_size)
        parts += [(each, part) for part in found or [each.path]]
    width = len(str(len(parts)))
    return [
        Shard(
            number,
            f"{number:0{width}}-{_stem(each)}{_span(part)}{settings.ending}",
            each.name,
            part,
            each.size,
            each.modified,
        )
        for number, (each, part) in enumerate(parts, 1)
    ]


def _stem(found: Input) -> str:
    """Return the name of an input without its endings, as a part of a file name."""
    name = strip_compression_suffix(unicode_path(os.path.basename(found.name.rstrip("/:"))))
    known = (".zip",) if found.format is None else found.format.extensions
    stem = Path(name).stem if Path(name).suffix.lower() in known else name
    return "".join(c if c.isprintable() and c not in "/\\" else "_" for c in stem)[:_MAX_STEM]


def _span(part: str | ByteRange) -> str:
    return "" if isinstance(part, str) else f".{part.start}-{part.end}"
