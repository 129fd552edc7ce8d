"""Helpers that read formats from bytes and write them to bytes."""

import io
from collections.abc import Iterable
from typing import Any

from tagalong.readers import FORMATS, Item, ReadError
from tagalong.readers.registry import validate_options
from tagalong.streams.compression import decompress_stream
from tagalong.streams.format import Target


def found(data: bytes | str, format: str, **options: Any) -> list[Item | ReadError]:
    """Return the items and errors that a reader yields; an error that it raises comes last."""
    if isinstance(data, str):
        data = data.encode()
    chosen = FORMATS[format]
    options = validate_options([chosen], options)[format]
    seen: list[Item | ReadError] = []
    try:
        seen.extend(chosen.read(decompress_stream(io.BytesIO(data), "f"), "f", **options))
    except ReadError as error:
        seen.append(error)
    return seen


def items(data: bytes | str, format: str, **options: Any) -> list[Item]:
    """Return the items of valid data."""
    seen = found(data, format, **options)
    for each in seen:
        if isinstance(each, ReadError):
            raise each
    return [each for each in seen if isinstance(each, Item)]


def error(data: bytes | str, format: str, **options: Any) -> str:
    """Return the error message of data with a single fault."""
    faults = [each for each in found(data, format, **options) if isinstance(each, ReadError)]
    assert len(faults) == 1, faults
    return str(faults[0])


def written(
    given: Iterable[Item], format: str, **options: Any
) -> tuple[bytes, dict[str, bytes | None]]:
    """Return the bytes that a writer writes, and its side files."""
    stream = io.BytesIO()
    target = Target(stream, "f")
    write = FORMATS[format].write
    assert write is not None
    write(given, target, **options)
    return stream.getvalue(), target.side_files
