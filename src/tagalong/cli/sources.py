"""The sources and reading options of a command line."""

import argparse
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Literal

from tagalong.cli.errors import UsageError
from tagalong.learning.items import Item
from tagalong.readers.option_texts import options_from_texts
from tagalong.readers.ordering import Order
from tagalong.readers.registry import FORMATS, format_of_file
from tagalong.readers.stream import Stream, read
from tagalong.streams.format import Format
from tagalong.tagger import Tagger

__all__ = [
    "OPTIONAL_COLUMNS",
    "READING_NOTE",
    "Reading",
    "is_live_stream",
    "reading_of",
]


READING_NOTE = "reading"
"""The key of the remembered reading options in a tagger's notes."""

OPTIONAL_COLUMNS = ("text", "labels", "id", "features", "weight", "date")
"""Options whose columns may be missing if the options are only remembered."""


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
    order : str
        Order of the items, as for `read`.
    seed : int
        Seed of a random order.
    remembered : dict
        Reading options of the model, for the formats that have them: "format", "options" as on the
        command line, and "formats", the formats they were given for.
    optional : list of str
        Remembered options whose columns may be missing.
    """

    sources: list[str]
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    limit: int | None = None
    on_error: Literal["stop", "skip"] = "stop"
    order: Order = "file"
    seed: int = 0
    remembered: dict[str, Any] = field(default_factory=dict)
    optional: list[str] = field(default_factory=list)

    def open(self) -> Stream:
        """Return the stream of items, without the limit."""
        given = self.arguments()
        options: Mapping[str, Any] = given.pop("options")
        return read(self.sources, order=self.order, seed=self.seed, **given, **options)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `read` but the sources and their order; options are apart."""
        return {
            "format": self.format,
            "on_error": self.on_error,
            "defaults": self._defaults(),
            "options": options_from_texts(self.options, self._formats()),
        }

    def limited(self, stream: Stream) -> Iterator[Item]:
        """Return the items of a stream up to the limit."""
        return islice(stream, self.limit)

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return asdict(self)

    def save_to_notes(self, tagger: Tagger) -> None:
        """Store the format and the options in a tagger's notes, to be used with new items."""
        before = self.remembered
        options = {**before.get("options", {}), **self.options}
        format = self.format or before.get("format")
        if options or format:
            formats = [found.name for found in self._formats()]
            tagger.notes[READING_NOTE] = {
                "format": format,
                "options": options,
                "formats": list(dict.fromkeys([*formats, *before.get("formats", ())])),
            }

    def _formats(self) -> list[Format]:
        return list(_known_formats(self.sources)) if self.format is None else [FORMATS[self.format]]

    def _defaults(self) -> dict[str, Any]:
        """Return the remembered options that are not given, as values."""
        remembered = {
            name: text
            for name, text in self.remembered.get("options", {}).items()
            if name not in self.options
        }
        given_for = [FORMATS[name] for name in self.remembered.get("formats", ())]
        found = options_from_texts(remembered, given_for)
        if optional := [name for name in self.optional if name in remembered]:
            found["optional"] = tuple(optional)
        return {**found, "format": self.remembered.get("format")}


def reading_of(
    args: argparse.Namespace, tagger: Tagger | None = None, *, optional: Sequence[str] = ()
) -> Reading:
    """Return the sources and reading options of a command line.

    Parameters
    ----------
    args : Namespace
        The parsed command line.
    tagger : Tagger, optional
        The model. Reading options with which it was taught are used if they are not given.
    optional : sequence of str
        Options whose columns may be missing if the options come from the model.
    """
    options = {
        name.removeprefix("option_"): value
        for name, value in vars(args).items()
        if name.startswith("option_") and value is not None
    }
    if getattr(args, "text", None) is not None:  # the flag of suggest and explain
        options["text"] = args.text
    on_error: Literal["stop", "skip"] = args.on_error or "stop"
    sources = list(args.sources)
    return Reading(
        sources,
        args.format,
        options,
        args.limit,
        on_error,
        _order(args, sources),
        args.shuffle or 0,
        {} if tagger is None else _remembered(tagger),
        list(optional),
    )


def _remembered(tagger: Tagger) -> dict[str, Any]:
    """Return the reading options in a tagger's notes; none if they are not what was written."""
    note = tagger.notes.get(READING_NOTE)
    if not isinstance(note, dict) or not isinstance(note.get("options"), dict):
        return {}
    known = {option.name for found in FORMATS.values() for option in found.options}
    return {
        "format": note.get("format") if note.get("format") in FORMATS else None,
        "options": {name: str(text) for name, text in note["options"].items() if name in known},
        "formats": [name for name in note.get("formats", ()) if name in FORMATS],
    }


def _order(args: argparse.Namespace, sources: list[str]) -> Order:
    """Return the order that the command line asks for; UsageError if the sources cannot have it."""
    live = next(filter(is_live_stream, sources), None)
    if args.shuffle is None and args.order is None:
        default: Order = "file" if live is not None else args.default_order
        return default
    order: Order = args.order if args.shuffle is None else "shuffle"
    if live is not None and order != "file":
        flag = f"--order {args.order}" if args.shuffle is None else "--shuffle"
        name = "standard input" if live == "-" else live
        raise UsageError(
            f"{flag}: {name} is a pipe, whose items are used as they arrive; write them to a file "
            "first, and give the file"
        )
    return order


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
