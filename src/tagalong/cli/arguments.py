"""Arguments that several commands share."""

import argparse
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES, PREDTRON_UPDATES

__all__ = [
    "ALL_UPDATES",
    "AVERAGES",
    "GEOMETRIES",
    "PROBLEMS",
    "UPDATES",
    "UPDATES_IN_WORDS",
    "WEIGHTINGS",
    "add_features",
    "add_figures",
    "add_learner",
    "add_model",
    "add_output",
    "add_reading",
    "add_sources",
    "add_writing",
    "names",
    "whole",
]

# Of the label-ranker, and of all learners: names that several have are there once.
UPDATES = tuple(LABEL_RULES)
ALL_UPDATES = tuple(dict.fromkeys((*LABEL_RULES, *BLOCK_RULES, *PREDTRON_UPDATES)))
_DESCRIPTIONS = {
    **{name: update.description for name, update in PREDTRON_UPDATES.items()},
    **{name: rule.description for name, rule in BLOCK_RULES.items()},
    **{name: rule.description for name, rule in LABEL_RULES.items()},
}
UPDATES_IN_WORDS = "; ".join(f"{name} {_DESCRIPTIONS[name]}" for name in ALL_UPDATES)
# As in tagalong.online.label_ranker.learner and tagalong.text.features, which take long to import.
# Of tagalong.problems; levels that appear one by one have no order.
PROBLEMS = ("binary", "multiclass", "multilabel", "label-ranking", "subset-ranking")
GEOMETRIES = ("euclidean", "entropic", "adaptive")
WEIGHTINGS = ("binary", "count", "log", "tfidf")
AVERAGES = {"auto": "auto", "yes": True, "no": False}

NOTHING: Mapping[str, str | None] = MappingProxyType({})
Parser = argparse.ArgumentParser


def whole(text: str) -> int:
    """Return a whole number that is not negative."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must not be negative: {text}")
    return number


def positive(text: str) -> float:
    """Return a number above zero."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be above 0: {text}")
    return number


def names(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError("must not be empty")
    return found


def span(text: str) -> tuple[int, int]:
    """Return the shortest and the longest of something, "1,2" or just "2"."""
    try:
        parts = [int(part) for part in text.split(",")]
        shortest, longest = (parts[0], parts[0]) if len(parts) == 1 else parts
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be the shortest and the longest, such as 1,2, not {text!r}"
        ) from None
    return shortest, longest


def buckets(text: str) -> int | None:
    """Return a number of hash buckets, None for a vocabulary that grows."""
    if text == "grow":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or 'grow', not {text!r}") from None


def setting(text: str) -> tuple[str, str]:
    """Return name and value of "name=value"."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"must look like name=value, not {text!r}")
    return name.strip(), value.strip()


def add_output(parser: Parser) -> None:
    """Add what every command takes."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", action="store_true", help="write JSON to standard output, and nothing else"
    )
    group.add_argument(
        "--quiet", "-q", action="store_true", help="say nothing but results and errors"
    )


def add_model(parser: Parser, help: str = "a model file that learn has written") -> None:
    """Add the model that a command asks."""
    model = parser.add_argument("--model", "-m", metavar="MODEL", required=True, help=help)
    model.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


def add_sources(parser: Parser, nargs: str = "+") -> None:
    """Add the sources that a command reads."""
    sources = parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs=nargs,
        help="a file, a glob in quotes, a folder of mail, - for standard input, or a built-in "
        "stream such as pydocs:; files may be compressed",
    )
    sources.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


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


def add_learner(parser: Parser) -> Any:
    """Add the settings of a learner, and return their group."""
    group = parser.add_argument_group("learner")
    group.add_argument("--margin", type=float, metavar="M", help="by how much to rank apart")
    group.add_argument("--average", choices=tuple(AVERAGES), help="predict with averaged weights")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="any other setting of the learner, such as temperature=0.1; may be repeated",
    )
    return group


def add_features(parser: Parser) -> None:
    """Add how texts become features."""
    group = parser.add_argument_group("features")
    group.add_argument(
        "--words", type=span, metavar="A,B", help="runs of words from A to B; 1,1 by default"
    )
    group.add_argument(
        "--chars", type=span, metavar="A,B", help="character n-grams of words; none by default"
    )
    group.add_argument("--weighting", choices=WEIGHTINGS, help="log by default")
    group.add_argument(
        "--buckets",
        type=buckets,
        default=argparse.SUPPRESS,
        metavar="N|grow",
        help="hash features into N numbers (2**20 by default), or let a vocabulary grow",
    )


def add_figures(parser: Parser) -> None:
    """Add what is measured and how often it is shown."""
    group = parser.add_argument_group("figures")
    group.add_argument(
        "--at", type=whole, default=5, metavar="K", help="K of precision@K and NDCG@K; 5 by default"
    )
    group.add_argument(
        "--window",
        type=whole,
        default=1000,
        metavar="N",
        help="how many of the last items the recent figures look at; 1000 by default",
    )
    group.add_argument(
        "--every",
        type=positive,
        metavar="SECONDS",
        help="how often to show figures; by default 5, on a terminal 0.2",
    )
