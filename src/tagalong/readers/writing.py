"""Writing of items to a file, which is replaced atomically, or to standard output."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import inf, isfinite
from typing import IO, Any, BinaryIO

from tagalong.files.named_errors import open_in_place
from tagalong.files.replacement import Replacement, replacing
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
    *,
    private: bool = False,
    **options: object,
) -> int:
    """Write items to a file and return their number.

    The items go to a temporary file in the same folder, which replaces the destination when it is
    complete. After an error the destination is unchanged. A file that exists keeps its mode, and a
    symbolic link stays a link.

    Parameters
    ----------
    items : iterable of Item
        Items to write, such as a stream from `read`.
    path : str or path
        Destination; "-" is standard output. The suffix .gz, .xz, .bz2 or .zst selects compression.
    format : str, optional
        A name from `FORMATS`. By default the path's extension selects the format.
    private : bool, default False
        Whether new files are readable by their owner only. Otherwise the umask decides.
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
        with open_in_place(name) as device, _compressed_stream(device, name) as stream:
            return found.write(items, Target(stream, name, stream_only=True), **given)
    with Replacement(name, private=private) as main:
        with _compressed_stream(main.file, name) as stream:
            target = Target(stream, name)
            count = found.write(items, target, **given)
        _replace_together(main, name, target.side_files, private)
    return count


@contextmanager
def open_destination(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces an existing one when the block ends without an error.

    Parameters
    ----------
    path : str or path
        Destination, as for `write`; a symbolic link stays a link. "-" is standard output; devices
        and pipes are written directly.
    private : bool
        Whether a new file is readable by its owner only.
    """
    name = os.fspath(path)
    if name == "-":
        target = _standard_output()
        yield target.stream
        target.stream.flush()
    elif os.path.exists(name) and not os.path.isfile(name):
        with open_in_place(name) as device, _compressed_stream(device, name) as stream:
            yield stream
    else:
        with replacing(name, private=private) as file, _compressed_stream(file, name) as stream:
            yield stream


def _validated(items: Iterable[Item], queries: bool) -> Iterator[Item]:
    """Yield the items; raise ValueError at an item that no reader would accept."""
    for count, given in enumerate(items, 1):
        item = _without_sets(given)
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


def _without_sets(item: Item) -> Item:
    """Return an item with a value for each word of a set, which gives the same features."""
    values: Mapping[str, object] = item.features
    if not any(isinstance(value, (list, tuple, set, frozenset)) for value in values.values()):
        return item
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, (list, tuple, set, frozenset)):
            found |= {f"{name}={word}": 1.0 for word in sorted(value)}
        else:
            found[name] = value
    return replace(item, features=found)


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


def _replace_together(
    main: Replacement, name: str, side_files: dict[str, bytes | None], private: bool
) -> None:
    """Replace a file and its side files, after all of them are complete."""
    with ExitStack() as stack:
        complete = []
        for suffix, contents in side_files.items():
            if contents is not None:
                side_file = stack.enter_context(Replacement(f"{name}{suffix}", private=private))
                side_file.file.write(contents)
                complete.append(side_file)
        # The main file is replaced last: once it is new, its side files are new as well.
        complete.append(main)
        for each in complete:
            each.complete()
        for suffix, contents in side_files.items():
            if contents is None and os.path.lexists(f"{name}{suffix}"):
                os.unlink(f"{name}{suffix}")
        for each in complete:
            each.commit()
