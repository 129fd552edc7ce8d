"""Stream of items from files, folders, standard input and built-in streams."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, TypeAlias

from tagalong.learning.items import Item, ReadError
from tagalong.readers.archives import Archive
from tagalong.readers.byte_ranges import ByteRange
from tagalong.readers.limited_bytes import ByteLimit
from tagalong.readers.ordering import ORDERS, Order, by_date, shuffled
from tagalong.readers.registry import format_by_name, validate_defaults, validate_options
from tagalong.readers.sources import (
    DETECTION_BYTES,
    STDIN,
    ResolvedSource,
    detect_format,
    resolve_source,
)
from tagalong.streams.compression import decompress_stream, read_errors
from tagalong.streams.format import Format, ItemOrError, LeftOutError, OptionError, OptionValue

__all__ = ["Stream", "read"]

Source: TypeAlias = str | os.PathLike[str] | ByteRange

_MAX_ERRORS = 20


def read(
    sources: Source | Iterable[Source],
    format: str | None = None,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    order: Order = "file",
    seed: int = 0,
    defaults: Mapping[str, object] | None = None,
    limit: ByteLimit | None = None,
    **options: object,
) -> "Stream":
    """Return a stream of the items of one or more sources.

    Names, formats and options are checked at once. Each source is opened when the previous one is
    exhausted.

    Parameters
    ----------
    sources : str or path, or iterable of them
        Files, glob patterns ("data/*.jsonl"), folders of mail, "-" for standard input, "pydocs:"
        and "debtags:" for the built-in streams. Files may be compressed with gzip, xz, bz2 or zst,
        or be zip archives, whose files are sources one after the other. A `ByteRange` is a part of
        a file.
    format : str, optional
        A name from `FORMATS`. By default the format is detected from a file's extension, or else
        from its first bytes.
    on_error : str, default "stop"
        "stop" raises ReadError at the first item that cannot be read; "skip" counts the item and
        continues with the next.
    order : str, default "file"
        "file" is the order of the sources. "date" sorts the items of all sources by date: items
        with equal dates keep their order, and an item without a date stays behind the item before
        it. "shuffle" is random. "auto" means "date" if all sources are mail or the option date is
        given, and "file" otherwise. Except for "file", all items are read before the first one is
        returned; temporary files keep the memory bounded.
    seed : int, default 0
        Seed of the order "shuffle". The same seed gives the same order.
    defaults : mapping, optional
        Options for the formats that have them; other formats ignore them, and `options` take
        precedence. The key "format" names the format of sources whose format is not detected.
    limit : ByteLimit, optional
        Limit on the bytes of all files together after decompression.
    options : dict
        Options of the format, see its ``options``.

    Raises
    ------
    ReadError
        If a file does not exist or violates its format.
    OptionError
        If a format or option does not exist, or an option has an invalid value.
    TooManyBytesError
        While reading, if the files have more bytes than `limit` allows.

    Examples
    --------
    >>> with read("pydocs:") as stream:
    ...     item = next(stream)
    >>> any(label.startswith("kind:") for label in item.labels)
    True
    """
    if on_error not in ("stop", "skip"):
        raise OptionError(f"on_error must be 'stop' or 'skip', not {on_error!r}")
    if order not in ORDERS:
        raise OptionError(f"order must be one of {', '.join(map(repr, ORDERS))}, not {order!r}")
    if isinstance(sources, (str, os.PathLike, ByteRange)):
        sources = [sources]
    wanted = format_by_name(format) if format is not None else None
    choice = _OptionChoice(options, defaults or {})
    resolved = [each for source in sources for each in _resolved(source, wanted, choice.fallback)]
    if not resolved:
        raise OptionError("there is nothing to read: the list of sources is empty")
    known = [each.format for each in resolved if each.format is not None]
    validate_options(known, options)
    return Stream(
        resolved,
        choice,
        skip=on_error == "skip",
        order="file" if order == "auto" and not _is_dated(resolved, options) else order,
        seed=seed,
        limit=limit,
    )


def _resolved(
    source: Source, wanted: Format | None, fallback: Format | None
) -> Iterator[ResolvedSource]:
    if not isinstance(source, ByteRange):
        yield from resolve_source(os.fspath(source), wanted, fallback)
        return
    for each in resolve_source(source.path, wanted, fallback):
        if each.format is None or each.format.can_split is None:
            raise OptionError(f"{source.path}: a file of this format cannot be read in parts")
        yield replace(each, part=source)


def _is_dated(sources: list[ResolvedSource], options: Mapping[str, object]) -> bool:
    """Whether all sources are mail, or the user has named the dates."""
    readable = [each for each in sources if each.problem is None]
    is_mail = all(each.format is not None and each.format.is_dated for each in readable)
    return is_mail or options.get("date") is not None


class _OptionChoice:
    """Options that must apply to every source, and defaults that apply where they can."""

    def __init__(self, options: Mapping[str, object], defaults: Mapping[str, object]):
        self._options = options
        self._defaults = {name: value for name, value in defaults.items() if name != "format"}
        format = defaults.get("format")
        self.fallback = format_by_name(str(format)) if format is not None else None

    def of(self, found: Format) -> dict[str, OptionValue]:
        """Return the options of a format; raise OptionError if it lacks one that must apply."""
        given = validate_options([found], self._options)[found.name]
        return {**validate_defaults(found, self._defaults), **given}


class Stream:
    """Iterator over the items of one or more sources, and a context manager.

    Created by `read`. Files are closed after the last item, after an error, and by `close`.

    Attributes
    ----------
    skipped : int
        Number of items that could not be read, with ``on_error="skip"``.
    errors : list of str
        Messages of the first 20 errors.
    links : list of str
        Paths of symbolic links in folders of mail, which are not followed.
    on_read : callable or None
        Called with the number of items read so far for each item that is read before the first one
        is returned, if the items are sorted or shuffled.
    on_skip : callable or None
        Called with the message of each error, with ``on_error="skip"``.
    """

    def __init__(
        self,
        resolved: list[ResolvedSource],
        choice: _OptionChoice,
        *,
        skip: bool,
        order: Order,
        seed: int,
        limit: ByteLimit | None = None,
    ):
        self.skipped = 0
        self.errors: list[str] = []
        self.links: list[str] = []
        self.on_read: Callable[[int], None] | None = None
        self.on_skip: Callable[[str], None] | None = None
        self._sources = resolved
        self._choice = choice
        self._skip = skip
        self._limit = limit
        self._open = ExitStack()
        self._read = 0
        self._has_private_items = any(
            each.format is not None and each.format.is_private for each in resolved
        )
        sources: Iterator[Iterator[Item]] = map(self._next_source, resolved)
        if order != "file":
            sources = map(self._reported, sources)
        self._items: Iterator[Item]
        if order == "file":
            self._items = chain.from_iterable(sources)
        elif order == "shuffle":
            self._items = shuffled(chain.from_iterable(sources), seed)
        else:
            self._items = by_date(sources, need_dates=order == "date")

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> Item:
        try:
            return next(self._items)
        except BaseException:
            self.close()
            raise

    def _next_source(self, source: ResolvedSource) -> Iterator[Item]:
        """Close the open source, and return the items of the next one."""
        self._open.close()
        items = self._readable_items(source)
        self._open.callback(items.close)
        return items

    def _reported(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            self._read += 1
            if self.on_read is not None:
                self.on_read(self._read)
            yield item

    def _readable_items(self, source: ResolvedSource) -> Generator[Item, None, None]:
        """Yield the items of a source; raise the first error, or count the errors."""
        for found in self._items_and_errors(source):
            if isinstance(found, Item):
                yield found
                continue
            if isinstance(found, LeftOutError):
                self.links.append(found.place)
                continue
            if not self._skip:
                raise found
            self.skipped += 1
            if len(self.errors) < _MAX_ERRORS:
                self.errors.append(str(found))
            if self.on_skip is not None:
                self.on_skip(str(found))

    def _items_and_errors(self, source: ResolvedSource) -> Iterator[ItemOrError]:
        """Yield the items and errors of a source; an error that the reader raises comes last."""
        name = STDIN if source.source == "-" else source.source
        with ExitStack() as files:
            try:
                yield from self._reader(source, name, files)
            except ReadError as error:
                yield error
            except read_errors() as error:
                reason = getattr(error, "strerror", None) or error
                yield ReadError(name, f"cannot be read: {reason}")

    def _reader(self, source: ResolvedSource, name: str, files: ExitStack) -> Iterator[ItemOrError]:
        """Open a source, and return the reader of its format."""
        if source.problem is not None:
            raise source.problem
        found = source.format
        if found is not None and found.takes == "nothing":
            return found.read(**self._choice.of(found))
        if found is not None and found.takes == "folder":
            return found.read(Path(source.source), **self._choice.of(found))
        part: dict[str, int] = {}
        if source.part is None:
            stream = decompress_stream(_opened(source, files), name)
        else:
            stream = files.enter_context(source.part.open())
            part = {"lines_before": source.part.lines_before}
        if self._limit is not None:
            stream = self._limit.applied_to(stream)
        if found is None:
            found = detect_format(stream.peek(DETECTION_BYTES), name, self._choice.fallback)
            self._has_private_items |= found.is_private
        return found.read(stream, name, **part, **self._choice.of(found))

    @property
    def is_mail(self) -> bool:
        """Whether all sources are mail, which has dates."""
        return _is_dated(self._sources, {})

    @property
    def is_private(self) -> bool:
        """Whether a source is mail. The format of a pipe is known after its first item."""
        return self._has_private_items

    @property
    def formats(self) -> list[str]:
        """The formats of the sources, each once. That of a pipe is not known."""
        found = (each.format.name for each in self._sources if each.format is not None)
        return list(dict.fromkeys(found))

    def list_names(self) -> list[str]:
        """Return the names of the columns or keys of the first source that has such names.

        Standard input and pipes have none, because they can be read only once.
        """
        for source in self._sources:
            found = source.format
            is_file = source.member is not None or os.path.isfile(source.source)
            if found is None or found.list_names is None or not is_file:
                continue
            with ExitStack() as files, suppress(ValueError, *read_errors()):
                stream = decompress_stream(_opened_apart(source, files), source.source)
                return found.list_names(stream, source.source, **self._choice.of(found))
        return []

    def close(self) -> None:
        """Close the open source and end the iteration."""
        items, self._items = self._items, iter(())
        if isinstance(items, Generator):
            items.close()
        self._open.close()
        for source in self._sources:
            if source.member is not None:
                source.member.archive.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _opened(source: ResolvedSource, files: ExitStack) -> BinaryIO:
    if source.member is not None:
        return files.enter_context(source.member.open())
    if source.source == "-":
        return sys.stdin.buffer
    return files.enter_context(open(source.source, "rb"))


def _opened_apart(source: ResolvedSource, files: ExitStack) -> BinaryIO:
    """Open a source without using an archive that is being read."""
    if source.member is None:
        return _opened(source, files)
    archive = Archive(source.member.archive.path)
    files.callback(archive.close)
    return files.enter_context(archive.open(source.member))
