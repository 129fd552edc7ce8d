"""The sources and reading options of a command line."""

import argparse
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Literal

from tagalong.learning.items import Item
from tagalong.readers.registry import FORMATS, format_of_file
from tagalong.readers.stream import Stream, read
from tagalong.streams.format import Format, Option

__all__ = ["Reading", "is_live_stream", "options_for", "reading_of"]


@dataclass(frozen=True)
class Reading:
    """The sources and the reading options; all fields are JSON values.

    Parameters
    ----------
    sources : list of str
        As on the command line.
    format : str, optional
        Name of the format; by default it is recognised for each file.
    options : dict of str to str
        Options of the format, as on the command line.
    limit : int, optional
        Maximum number of items.
    on_error : str
        "stop" or "skip".
    """

    sources: list[str]
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    limit: int | None = None
    on_error: Literal["stop", "skip"] = "stop"

    def open(self) -> Stream:
        """Return the stream of items, without the limit."""
        wanted = None if self.format is None else [FORMATS[self.format]]
        options = options_for(self.options, wanted or list(_known_formats(self.sources)))
        return read(self.sources, self.format, on_error=self.on_error, **options)

    def limited(self, stream: Stream) -> Iterator[Item]:
        """Return the items of a stream up to the limit."""
        return islice(stream, self.limit)

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return asdict(self)


def reading_of(args: argparse.Namespace) -> Reading:
    """Return the sources and reading options of a command line."""
    options = {
        name.removeprefix("option_"): value
        for name, value in vars(args).items()
        if name.startswith("option_") and value is not None
    }
    if getattr(args, "text", None) is not None:  # the flag of suggest and explain
        options["text"] = args.text
    on_error: Literal["stop", "skip"] = args.on_error or "stop"
    return Reading(list(args.sources), args.format, options, args.limit, on_error)


def options_for(
    texts: Mapping[str, str], formats: Iterable[Format], *, writing: bool = False
) -> dict[str, Any]:
    """Return the values of format options given on the command line.

    Parameters
    ----------
    texts : mapping of str to str
        The texts on the command line, by name of the option.
    formats : iterable of Format
        The formats whose definition of an option has priority. The reader checks later whether
        its format has the option at all.
    writing : bool
        Whether these are options for writing.
    """
    found: dict[str, Option] = {}
    for each in (*formats, *FORMATS.values()):
        for option in each.write_options if writing else each.options:
            found.setdefault(option.name, option)
    return {name: found[name].parse(text) for name, text in texts.items()}


def is_live_stream(source: str) -> bool:
    """Whether a source is a pipe or a terminal, whose items may arrive at any time.

    Parameters
    ----------
    source : str
        As on the command line.
    """
    try:
        mode = os.fstat(0).st_mode if source == "-" else os.stat(source).st_mode
    except OSError:  # a glob pattern or a built-in stream
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _known_formats(sources: list[str]) -> Iterator[Format]:
    for source in sources:
        known = FORMATS.get(source.removesuffix(":")) or format_of_file(source)
        if known is not None:
            yield known
