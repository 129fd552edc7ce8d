"""Arguments for reading and writing: the format, and the options of all formats."""

import argparse
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from tagalong.cli.command_parser import ArgumentGroup
from tagalong.cli.options.values import whole

if TYPE_CHECKING:
    from tagalong.streams.format import Option

__all__ = ["add_order", "add_reading", "add_writing"]

USUAL_FLAGS: Mapping[str, str | None] = MappingProxyType({})
Parser = argparse.ArgumentParser


def add_reading(parser: Parser, renamed: Mapping[str, str | None] = USUAL_FLAGS) -> None:
    """Add the reading options: format, error handling, limit, and the options of all formats.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the command.
    renamed : mapping of str to str or None
        Flags of the format options whose usual flag has another meaning in this command. None
        means that the command adds the usual flag itself.
    """
    formats = import_module("tagalong.readers.registry").FORMATS
    group = parser.add_argument_group("reading")
    readable = [name for name, found in formats.items() if found.takes != "nothing"]
    group.add_argument(
        "--format",
        choices=readable,
        metavar="FORMAT",
        help=f"format of the sources: {', '.join(readable)} (default: recognised from the file "
        "name or the first bytes)",
    )
    group.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        help="at an item that cannot be read, stop (the default), or skip it and report the "
        "number of skipped items at the end",
    )
    group.add_argument("--limit", type=whole, metavar="N", help="read at most N items")
    flags = _add_options(
        parser.add_argument_group("format options"),
        ((name, found.options) for name, found in formats.items()),
        prefix="option_",
        flags=renamed,
    )
    flags |= {"format": "--format", "on_error": "--on-error", "order": "--order"}
    parser.set_defaults(reading_flags=flags, order=None, shuffle=None, default_order="file")


def add_order(parser: Parser, default: Literal["auto", "file"]) -> None:
    """Add the options for the order of the items, after the reading options.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the command.
    default : str
        The default order: that of the sources ("file"), or by date for mail ("auto").
    """
    group = parser.add_argument_group("order").add_mutually_exclusive_group()
    by_default = (
        "(default: date for mail and with --date, otherwise file)"
        if default == "auto"
        else "(default: file)"
    )
    group.add_argument(
        "--order",
        choices=("file", "date"),
        help="read the items in the order of the sources (file), or all of them sorted by date, "
        f"the oldest first (date) {by_default}",
    )
    group.add_argument(
        "--shuffle",
        nargs="?",
        type=whole,
        const=0,
        metavar="SEED",
        help="read the items in random order; the same SEED, a whole number, gives the same order "
        "(default: 0). With --limit this is a random sample",
    )
    parser.set_defaults(default_order=default)


def add_writing(parser: Parser) -> None:
    """Add ``--to`` and, as ``--out-...``, the options of all formats that can be written."""
    formats = import_module("tagalong.readers.registry").FORMATS
    writable = [name for name, found in formats.items() if found.write is not None]
    parser.add_argument(
        "--to",
        choices=writable,
        metavar="FORMAT",
        help=f"format to write: {', '.join(writable)} (default: recognised from the name of OUT)",
    )
    found = [(name, formats[name].write_options) for name in writable]
    renamed = {each.name: f"--out-{each.name}" for _, options in found for each in options}
    group = parser.add_argument_group("output format options")
    flags = _add_options(group, found, prefix="out_", flags=renamed)
    parser.set_defaults(writing_flags={**flags, "format": "--to"})


def _add_options(
    group: ArgumentGroup,
    formats: Iterable[tuple[str, tuple["Option", ...]]],
    prefix: str,
    flags: Mapping[str, str | None],
) -> dict[str, str]:
    """Add a flag for each option, with one help text per meaning it has in the formats.

    Returns the flag of each option.
    """
    meanings: dict[str, dict[str, list[str]]] = {}
    for name, options in formats:
        for option in options:
            meanings.setdefault(option.name, {}).setdefault(option.help, []).append(name)
    used: dict[str, str] = {}
    for key, helps in meanings.items():
        flag = flags.get(key, f"--{key}")
        used[key] = (flag or f"--{key}").replace("_", "-")
        if flag is None:
            continue
        group.add_argument(
            used[key],
            dest=prefix + key,
            metavar="VALUE",
            help=" ".join(f"{', '.join(users)}: {help}" for help, users in helps.items()),
        )
    return used
