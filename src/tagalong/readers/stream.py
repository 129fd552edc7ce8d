"""Stream of items from files, folders, standard input and built-in streams."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, TypeAlias

from tagalong.learning.items import Item, ReadError
from tagalong.readers.registry import format_by_name, validate_options
from tagalong.readers.sources import DETECTION_BYTES, ResolvedSource, detect_format, resolve_source
from tagalong.streams.compression import decompress_stream, read_errors
from tagalong.streams.format import Format, ItemOrError, OptionError, OptionValue

__all__ = ["Stream", "read"]

Source: TypeAlias = str | os.PathLike[str]

_MAX_ERRORS = 20


def read(
    sources: Source | Iterable[Source],
    format: str | None = None,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    **options: object,
) -> "Stream":
    """Return a stream of the items of one or more sources.

    Names, formats and options are checked at once. Each source is opened when the previous one is
    exhausted.

    Parameters
    ----------
    sources : str or path, or iterable of them
        Files, glob patterns ("data/*.jsonl"), folders of mail, "-" for standard input, "pydocs:"
        and "debtags:" for the built-in streams. Files may be compressed with gzip, xz, bz2 or zst.
    format : str, optional
        A name from `FORMATS`. By default the format is detected from a file's extension, or else
        from its first bytes.
    on_error : str, default "stop"
        "stop" raises ReadError at the first item that cannot be read; "skip" counts the item and
        continues with the next.
    options : dict
        Options of the format, see its ``options``.

    Raises
    ------
    ReadError
        If a file does not exist or violates its format.
    OptionError
        If a format or option does not exist, or an option has an invalid value.

    Examples
    --------
    >>> with read("pydocs:") as stream:
    ...     item = next(stream)
    >>> any(label.startswith("kind:") for label in item.labels)
    True
    """
    if on_error not in ("stop", "skip"):
        raise OptionError(f"on_error must be 'stop' or 'skip', not {on_error!r}")
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    wanted = format_by_name(format) if format is not None else None
    resolved = [each for source in sources for each in resolve_source(os.fspath(source), wanted)]
    if not resolved:
        raise OptionError("there is nothing to read: the list of sources is empty")
    known = [each.format for each in resolved if each.format is not None]
    validate_options(known, options)
    return Stream(resolved, options, skip=on_error == "skip")


class Stream:
    """Iterator over the items of one or more sources, and a context manager.

    Created by `read`. Files are closed after the last item, after an error, and by `close`.

    Attributes
    ----------
    skipped : int
        Number of items that could not be read, with ``on_error="skip"``.
    errors : list of str
        Messages of the first 20 errors.
    """

    def __init__(self, resolved: list[ResolvedSource], options: dict[str, object], *, skip: bool):
        self.skipped = 0
        self.errors: list[str] = []
        self._sources = iter(resolved)
        self._options = options
        self._skip = skip
        self._open = ExitStack()
        self._name = ""
        self._found: Iterator[ItemOrError] = iter(())

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> Item:
        found: ItemOrError | None
        while True:
            try:
                found = next(self._found, None)
                if found is None:
                    self._next_source()
                    continue
            except ReadError as error:
                self._open.close()
                self._found = iter(())
                found = error
            except read_errors() as error:
                self._open.close()
                self._found = iter(())
                reason = getattr(error, "strerror", None) or error
                found = ReadError(self._name, f"cannot be read: {reason}")
            except BaseException:
                self.close()
                raise
            if isinstance(found, Item):
                return found
            if not self._skip:
                self.close()
                raise found
            self.skipped += 1
            if len(self.errors) < _MAX_ERRORS:
                self.errors.append(str(found))

    def _next_source(self) -> None:
        self._open.close()
        source = next(self._sources)
        self._name = "<stdin>" if source.source == "-" else source.source
        found = source.format
        if found is not None and found.takes == "nothing":
            self._found = found.read(**self._options_of(found))
        elif found is not None and found.takes == "folder":
            self._found = found.read(Path(source.source), **self._options_of(found))
        else:
            stream = decompress_stream(self._opened(source.source), self._name)
            if found is None:
                found = detect_format(stream.peek(DETECTION_BYTES), self._name)
            self._found = found.read(stream, self._name, **self._options_of(found))
        self._open.callback(getattr(self._found, "close", lambda: None))

    def _options_of(self, found: Format) -> dict[str, OptionValue]:
        return validate_options([found], self._options)[found.name]

    def _opened(self, source: str) -> BinaryIO:
        if source == "-":
            return sys.stdin.buffer
        return self._open.enter_context(open(source, "rb"))

    def close(self) -> None:
        """Close the open source and end the iteration."""
        self._sources = iter(())
        self._found = iter(())
        self._open.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
