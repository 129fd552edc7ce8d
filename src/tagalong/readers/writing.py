"""Writing of items to a file, which is replaced atomically, or to standard output."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf, isfinite
from pathlib import Path
from typing import IO, BinaryIO, cast

from tagalong.learning.items import Item
from tagalong.readers.registry import format_for_writing, validate_options
from tagalong.readers.values import describe_item
from tagalong.streams.compression import compress_stream
from tagalong.streams.format import Target

__all__ = ["open_destination", "write"]


def write(
    items: Iterable[Item],
    path: str | os.PathLike[str],
    format: str | None = None,
    **options: object,
) -> int:
    """Write items to a file and return their number.

    The items go to a temporary file in the same folder, which replaces the destination when it is
    complete. After an error the destination is unchanged.

    Parameters
    ----------
    items : iterable of Item
        Items to write, such as a stream from `read`.
    path : str or path
        Destination; "-" is standard output. The suffix .gz, .xz, .bz2 or .zst selects compression.
    format : str, optional
        A name from `FORMATS`. By default the path's extension selects the format.
    options : dict
        Options of the format's writer, see its ``write_options``.

    Examples
    --------
    >>> from tagalong.readers import Item
    >>> write([Item("1", "too slow", labels=("bug", "speed"))], "-", "fasttext")
    __label__bug __label__speed too slow
    1
    """
    name = os.fspath(path)
    found = format_for_writing(name, format)
    given = validate_options([found], options, writing=True)[found.name]
    assert found.write is not None
    items = _validated(items, queries=found.name == "svmlight")
    if name == "-":
        return found.write(items, _standard_output(), **given)
    if os.path.exists(name) and not os.path.isfile(name):
        if os.path.isdir(name):
            raise IsADirectoryError(f"{name} is a folder; it must be the path of a file")
        with open(name, "wb") as device, _compressed_stream(device, name) as stream:
            return found.write(items, Target(stream, name, stream_only=True), **given)
    with _replaced_when_complete(Path(name)) as (file, side_files):
        with _compressed_stream(file, name) as stream:
            target = Target(stream, name)
            count = found.write(items, target, **given)
        side_files.update(target.side_files)
    return count


@contextmanager
def open_destination(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces an existing one when the block ends without an error.

    Parameters
    ----------
    path : str or path
        Destination, as for `write`; a symbolic link stays a link. "-" is standard output; devices
        and pipes are written directly.
    """
    name = os.fspath(path)
    if name == "-":
        target = _standard_output()
        yield target.stream
        target.stream.flush()
    elif os.path.exists(name) and not os.path.isfile(name):
        with open(name, "wb") as device, _compressed_stream(device, name) as stream:
            yield stream
    else:
        destination = Path(os.path.realpath(name))
        with (
            _replaced_when_complete(destination) as (file, _),
            _compressed_stream(file, name) as stream,
        ):
            yield stream


def _validated(items: Iterable[Item], queries: bool) -> Iterator[Item]:
    """Yield the items; raise ValueError at an item that no reader would accept."""
    for count, item in enumerate(items, 1):
        if item.query and not queries:
            raise ValueError(
                f"{describe_item(item, count)}: only svmlight can store a query, "
                f"here {item.query!r}"
            )
        for name, value in item.features.items():
            if not isinstance(value, str) and not isfinite(value):
                raise ValueError(
                    f"{describe_item(item, count)}: the feature {name!r} is {value}; it must be "
                    "finite"
                )
        if not 0.0 <= item.weight < inf:
            raise ValueError(
                f"{describe_item(item, count)}: the weight is {item.weight}; it must be finite and "
                "not negative"
            )
        if any(not label or label.isspace() for label in item.labels or ()):
            raise ValueError(f"{describe_item(item, count)}: a label must not be empty")
        yield item


def _standard_output() -> Target:
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    return Target(stream or _TextAsBinary(), "<stdout>", stream_only=True)  # type: ignore[arg-type]


class _TextAsBinary:
    """Binary interface to a standard output that has been replaced by a text stream."""

    def write(self, data: bytes) -> int:
        sys.stdout.write(data.decode())
        return len(data)

    def flush(self) -> None:
        sys.stdout.flush()


@contextmanager
def _compressed_stream(file: BinaryIO, name: str) -> Iterator[IO[bytes]]:
    stream = compress_stream(file, name)
    try:
        yield stream
    finally:
        if stream is not file:
            stream.close()


@contextmanager
def _replaced_when_complete(path: Path) -> Iterator[tuple[BinaryIO, dict[str, bytes | None]]]:
    """Open a temporary file that replaces `path`, together with its side files, on success."""
    side_files: dict[str, bytes | None] = {}
    written: dict[Path, str] = {}
    try:
        with _temporary_file(path, written) as file:
            yield file, side_files
        for suffix, contents in side_files.items():
            if contents is not None:
                with _temporary_file(Path(f"{path}{suffix}"), written) as side_file:
                    side_file.write(contents)
        for suffix, contents in side_files.items():
            if contents is None:
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        # The main file is replaced last: once it is new, its side files are new as well.
        for destination in reversed(list(written)):
            os.replace(written[destination], destination)
            del written[destination]
    finally:
        for name in written.values():
            Path(name).unlink(missing_ok=True)


@contextmanager
def _temporary_file(path: Path, written: dict[Path, str]) -> Iterator[BinaryIO]:
    umask = os.umask(0)
    os.umask(umask)
    handle, written[path] = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        yield cast(BinaryIO, file)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), 0o666 & ~umask)
