"""Arguments of reading and writing: the format, and the options of all formats."""

import argparse
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from tagalong.cli.options.values import whole

__all__ = ["add_reading", "add_writing"]

NOTHING: Mapping[str, str | None] = MappingProxyType({})
Parser = argparse.ArgumentParser


def add_reading(parser: Parser, renamed: Mapping[str, str | None] = NOTHING) -> None:
    """Add how sources are read: format, errors, limit, and the options of all formats.

    Parameters
    ----------
    parser : ArgumentParser
        Of the command.
    renamed : mapping of str to str or None
        Flags for options whose usual ones mean something else in this command; None for no flag.
    """
    formats = import_module("tagalong.readers.registry").FORMATS
    group = parser.add_argument_group("reading")
    readable = [name for name, found in formats.items() if found.takes != "nothing"]
    group.add_argument(
        "--format",
        choices=readable,
        metavar="FORMAT",
        help=f"by default the file's name or beginning tells: {', '.join(readable)}",
    )
    group.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        help="at an item that cannot be read stop (the default), or skip it and count",
    )
    group.add_argument("--limit", type=whole, metavar="N", help="read at most N items")
    _add_options(
        parser.add_argument_group("options of formats"),
        ((name, found.options) for name, found in formats.items()),
        prefix="option_",
        flags=renamed,
    )


def add_writing(parser: Parser) -> None:
    """Add the options of all formats that can be written, as ``--out-...``."""
    formats = import_module("tagalong.readers.registry").FORMATS
    writable = [name for name, found in formats.items() if found.write is not None]
    parser.add_argument(
        "--to",
        choices=writable,
        metavar="FORMAT",
        help=f"the format to write, by default as the name says: {', '.join(writable)}",
    )
    found = [(name, formats[name].write_options) for name in writable]
    flags = {each.name: f"--out-{each.name}" for _, options in found for each in options}
    group = parser.add_argument_group("options of the written format")
    _add_options(group, found, prefix="out_", flags=flags)


def _add_options(
    group: Any,
    formats: Iterable[tuple[str, tuple[Any, ...]]],
    prefix: str,
    flags: Mapping[str, str | None],
) -> None:
    """Add a flag for each option; what formats understand by it may differ."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for name, options in formats:
        for option in options:
            meanings.setdefault(option.name, {}).setdefault(option.help, []).append(name)
    for option, helps in meanings.items():
        flag = flags.get(option, f"--{option}")
        if flag is None:
            continue
        group.add_argument(
            flag.replace("_", "-"),
            dest=prefix + option,
            metavar="VALUE",
            help=" ".join(f"{help} ({', '.join(having)})" for help, having in helps.items()),
        )
