"""Reading items from files, folders, standard input and built-in streams."""

import glob
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, TypeAlias

from tagalong.learning.items import Item, ReadError
from tagalong.readers.registry import (
    FORMATS,
    checked_options,
    extensions,
    format_by_name,
    format_by_start,
    format_of_file,
)
from tagalong.streams.compression import broken, decompressed
from tagalong.streams.format import Format, Found, OptionError

__all__ = ["Stream", "read"]

Source: TypeAlias = str | os.PathLike[str]

_ERRORS_KEPT = 20
_START = 64


def read(
    sources: Source | Iterable[Source],
    format: str | None = None,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    **options: Any,
) -> "Stream":
    """Return the items of one or more sources, one after the other.

    Names, formats and options are checked at once; files are opened when their turn comes.

    Parameters
    ----------
    sources : str or path, or iterable of them
        Files, globs ("data/*.jsonl"), folders of mail, "-" for standard input, "pydocs:" and
        "debtags:" for the built-in streams. Files may be compressed: gzip, xz, bz2 or zst.
    format : str, optional
        A name from `FORMATS`; by default a file's extension tells, or else how it begins.
    on_error : str, default "stop"
        "stop" raises ReadError at the first item that cannot be read; "skip" counts it and goes
        on with the next.
    options : dict
        What the format takes, see its ``options``.

    Raises
    ------
    ReadError
        If there is no such file or a file is not as its format demands.
    OptionError
        If a format or option does not exist, or an option has a wrong value.

    Examples
    --------
    >>> with read("pydocs:") as stream:
    ...     item = next(stream)
    >>> any(label.startswith("kind:") for label in item.labels)
    True
    """
    if on_error not in ("stop", "skip"):
        raise OptionError(f"on_error is 'stop' or 'skip', not {on_error!r}")
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    wanted = format_by_name(format) if format is not None else None
    plans = [plan for source in sources for plan in _plans(os.fspath(source), wanted)]
    if not plans:
        raise OptionError("there is nothing to read: the list of sources is empty")
    known = [plan.format for plan in plans if plan.format is not None]
    checked_options(known, options)
    return Stream(plans, options, skip=on_error == "skip")


@dataclass(frozen=True)
class _Plan:
    """One source and its format; None where only the first bytes will tell."""

    source: str
    format: Format | None


def _plans(source: str, wanted: Format | None) -> Iterator[_Plan]:
    built_in = FORMATS.get(source.removesuffix(":")) if source.endswith(":") else None
    if built_in is not None and built_in.takes == "nothing":
        if wanted not in (None, built_in):
            raise OptionError(f"{source} is a built-in stream: leave format out")
        yield _Plan(source, built_in)
    elif wanted is not None and wanted.takes == "nothing":
        raise OptionError(f"{wanted.name} is a built-in stream: read it as {wanted.name + ':'!r}")
    elif source == "-":
        yield _Plan(source, wanted)
    elif os.path.isdir(source):
        if wanted is not None and wanted.takes != "folder":
            raise ReadError(
                source, f"a folder, and {wanted.name} is kept in files; give '{source}/*'"
            )
        yield _Plan(source, wanted or FORMATS["maildir"])
    elif os.path.exists(source):
        if wanted is not None and wanted.takes == "folder":
            raise ReadError(source, f"a file, and {wanted.name} is a folder")
        yield _Plan(source, wanted or format_of_file(source) or _format_by_looking(source))
    elif glob.has_magic(source):
        matches = sorted(glob.glob(source, recursive=True))
        if not matches:
            raise ReadError(source, "no file matches")
        for match in matches:
            yield from _plans(match, wanted)
    else:
        raise ReadError(source, _missing(source))


def _format_by_looking(source: str) -> Format | None:
    if not os.path.isfile(source):  # a pipe can be read only once
        return None
    try:
        with open(source, "rb") as file:
            return _recognised(decompressed(file, source).peek(_START), source)
    except broken() as error:
        raise ReadError(source, f"cannot be read: {error}") from error


def _recognised(start: bytes, name: str) -> Format:
    found = format_by_start(start.removeprefix(b"\xef\xbb\xbf").lstrip())
    if found is None:
        formats = ", ".join(each.name for each in FORMATS.values() if each.takes == "file")
        raise ReadError(
            name,
            f"neither the name nor the beginning tells the format; give format= one of {formats}, "
            f"or an extension that is known: {extensions()}",
        )
    return found


def _missing(source: str) -> str:
    if source.endswith(":"):
        names = [f"{found.name}:" for found in FORMATS.values() if found.takes == "nothing"]
        return f"no such built-in stream; there are {', '.join(names)}"
    folder = Path(source).parent
    if not folder.is_dir():
        return f"no such file, and no folder {folder}"
    return "no such file or folder"


class Stream:
    """Items from one or more sources; an iterator and a context manager.

    Made by `read`. Files are closed when the last item was read, at an error and by `close`.

    Attributes
    ----------
    skipped : int
        How many items could not be read, with ``on_error="skip"``.
    errors : list of str
        What was wrong with the first 20 of them.
    """

    def __init__(self, plans: list[_Plan], options: dict[str, Any], *, skip: bool):
        self.skipped = 0
        self.errors: list[str] = []
        self._plans = iter(plans)
        self._options = options
        self._skip = skip
        self._open = ExitStack()
        self._name = ""
        self._found: Iterator[Found] = iter(())

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> Item:
        found: Found | None
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
            except broken() as error:
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
            if len(self.errors) < _ERRORS_KEPT:
                self.errors.append(str(found))

    def _next_source(self) -> None:
        self._open.close()
        plan = next(self._plans)
        self._name = "<stdin>" if plan.source == "-" else plan.source
        found = plan.format
        if found is not None and found.takes == "nothing":
            self._found = found.read(**self._options_of(found))
        elif found is not None and found.takes == "folder":
            self._found = found.read(Path(plan.source), **self._options_of(found))
        else:
            stream = decompressed(self._opened(plan.source), self._name)
            if found is None:
                found = _recognised(stream.peek(_START), self._name)
            self._found = found.read(stream, self._name, **self._options_of(found))
        self._open.callback(getattr(self._found, "close", lambda: None))

    def _options_of(self, found: Format) -> dict[str, Any]:
        return checked_options([found], self._options)[found.name]

    def _opened(self, source: str) -> BinaryIO:
        if source == "-":
            return sys.stdin.buffer
        return self._open.enter_context(open(source, "rb"))

    def close(self) -> None:
        """Close what is open; no further item comes."""
        self._plans = iter(())
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
