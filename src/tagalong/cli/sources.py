"""Reading the sources that a command line names."""

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
    """What to read and how, in terms of JSON.

    Parameters
    ----------
    sources : list of str
        As on the command line.
    format : str, optional
        Its name; if left out, each file tells.
    options : dict of str to str
        Of the format, as on the command line.
    limit : int, optional
        How many items to read at most.
    on_error : str
        "stop" or "skip".
    """

    sources: list[str]
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    limit: int | None = None
    on_error: Literal["stop", "skip"] = "stop"

    def open(self) -> Stream:
        """Return the items; the limit is not looked at."""
        wanted = None if self.format is None else [FORMATS[self.format]]
        options = options_for(self.options, wanted or list(_known_formats(self.sources)))
        return read(self.sources, self.format, on_error=self.on_error, **options)

    def limited(self, stream: Stream) -> Iterator[Item]:
        """Return the items of a stream up to the limit."""
        return islice(stream, self.limit)

    def to_json(self) -> dict[str, Any]:
        """Return all of it, to be made again by ``Reading(**...)``."""
        return asdict(self)


def reading_of(args: argparse.Namespace) -> Reading:
    """Return what a command line says about reading."""
    options = {
        name.removeprefix("option_"): value
        for name, value in vars(args).items()
        if name.startswith("option_") and value is not None
    }
    if getattr(args, "text", None) is not None:  # beside a source it is no text to file
        options["text"] = args.text
    on_error: Literal["stop", "skip"] = args.on_error or "stop"
    return Reading(list(args.sources), args.format, options, args.limit, on_error)


def options_for(
    texts: Mapping[str, str], formats: Iterable[Format], *, writing: bool = False
) -> dict[str, Any]:
    """Return the values of options from the command line.

    Parameters
    ----------
    texts : mapping of str to str
        As on the command line.
    formats : iterable of Format
        Where to look first: a name can mean different things in different formats. Whether the
        format has the option at all is for the reader to check.
    writing : bool
        Whether it is about writing.
    """
    found: dict[str, Option] = {}
    for each in (*formats, *FORMATS.values()):
        for option in each.write_options if writing else each.options:
            found.setdefault(option.name, option)
    return {name: found[name].parse(text) for name, text in texts.items()}


def is_live_stream(source: str) -> bool:
    """Whether a source is a pipe or a terminal, whose items may come at any time.

    Parameters
    ----------
    source : str
        As on the command line.
    """
    try:
        mode = os.fstat(0).st_mode if source == "-" else os.stat(source).st_mode
    except OSError:  # a pattern of names, a built-in stream
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _known_formats(sources: list[str]) -> Iterator[Format]:
    for source in sources:
        known = FORMATS.get(source.removesuffix(":")) or format_of_file(source)
        if known is not None:
            yield known
