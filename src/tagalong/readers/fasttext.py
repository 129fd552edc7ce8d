"""Reader and writer of fastText lines: ``__label__x __label__y the text``, one line per item."""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Unpack

from tagalong.learning.items import Item, ReadError
from tagalong.readers.column_choice import UNLABELLED
from tagalong.readers.lines import LINE_OPTIONS, LineOptions, Lines, parse_lines
from tagalong.readers.values import describe_item, one_line, unique, unlabelled_problem
from tagalong.streams.format import Format, ItemOrError, Option, OptionError, Target

__all__ = ["FORMAT", "read_fasttext", "write_fasttext"]

_TOKEN = re.compile(r"(\S+)\s*")
_PREFIX = Option("prefix", "Prefix of a label.", default="__label__")


def read_fasttext(
    stream: BinaryIO,
    name: str,
    *,
    prefix: str = "__label__",
    unlabelled: str = "unknown",
    **line_options: Unpack[LineOptions],
) -> Iterator[ItemOrError]:
    """Yield the items of fastText lines, skipping blank lines."""
    _check_prefix(prefix)

    def parse(line: str, place: str) -> Item | None:
        text = line.strip()
        if not text:
            return None
        labels: list[str] = []
        at = 0
        while text.startswith(prefix, at):
            token = _TOKEN.match(text, at)
            assert token is not None
            if token[1] == prefix:
                raise ReadError(place, f"the prefix {prefix} must be followed by a label")
            labels.append(token[1][len(prefix) :])
            at = token.end()
        known = labels or unlabelled == "empty"
        return Item("", text[at:], {}, unique(labels) if known else None, 1.0, place)

    return parse_lines(Lines(stream, name, **line_options), parse)


def _check_prefix(prefix: str) -> None:
    if not prefix or any(map(str.isspace, prefix)):
        raise OptionError(f"prefix must be a word without white space, not {prefix!r}")


def write_fasttext(
    items: Iterable[Item],
    target: Target,
    *,
    prefix: str = "__label__",
    unlabelled: str = "unknown",
) -> int:
    """Write one line per item: its labels, then its text with all fields joined.

    Each line end and each run of white space becomes one space. Ids are not written.
    """
    _check_prefix(prefix)
    count = 0
    for count, item in enumerate(items, 1):
        fields = [item.text] if isinstance(item.text, str) else item.text.values()
        text = one_line(" ".join(fields))
        _check(item, count, text, prefix, unlabelled)
        words = [prefix + label for label in item.labels or ()] + ([text] if text else [])
        target.stream.write(" ".join(words).encode() + b"\n")
    return count


def _check(item: Item, number: int, text: str, prefix: str, unlabelled: str) -> None:
    problem = ""
    for label in item.labels or ():
        if not label or any(map(str.isspace, label)):
            problem = (
                f"the label {label!r} cannot be written: labels in fastText must not be empty or "
                "contain white space"
            )
    if item.features:
        problem = f"fastText cannot store features such as {next(iter(item.features))!r}"
    elif item.weight != 1.0:
        problem = f"fastText cannot store a weight, here {item.weight}"
    elif not text and not item.labels:
        problem = "fastText cannot store an item with neither labels nor text"
    elif text.startswith(prefix):
        problem = f"the text begins with {prefix} and would be read as a label"
    problem = problem or unlabelled_problem(item, unlabelled)
    if problem:
        raise ValueError(f"{describe_item(item, number)}: {problem}")


FORMAT = Format(
    "fasttext",
    "fastText lines: labels as __label__x, then the text",
    read_fasttext,
    extensions=(".ft", ".fasttext"),
    options=(_PREFIX, UNLABELLED, *LINE_OPTIONS),
    write=write_fasttext,
    write_options=(_PREFIX, UNLABELLED),
    starts=(b"__label__",),
)
