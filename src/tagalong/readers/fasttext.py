"""The text of fastText: ``__label__x __label__y the text``, a line an item."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from tagalong.learning.items import Item, ReadError
from tagalong.readers.column_choice import UNLABELLED
from tagalong.readers.lines import LINE_OPTIONS, Lines, parse_lines
from tagalong.readers.values import describe_item, one_line, unique, unlabelled_problem
from tagalong.streams.format import Format, ItemOrError, Option, OptionError, Target

__all__ = ["FORMAT", "read_fasttext", "write_fasttext"]

_TOKEN = re.compile(r"(\S+)\s*")
_PREFIX = Option("prefix", "What a label begins with.", default="__label__")


def read_fasttext(
    stream: BinaryIO,
    name: str,
    *,
    prefix: str = "__label__",
    unlabelled: str = "unknown",
    **line_options: Any,
) -> Iterator[ItemOrError]:
    """Yield the items of fastText lines; blank lines are passed over."""
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
                raise ReadError(place, f"{prefix} without a label after it")
            labels.append(token[1][len(prefix) :])
            at = token.end()
        known = labels or unlabelled == "empty"
        return Item("", text[at:], {}, unique(labels) if known else None, 1.0, place)

    return parse_lines(Lines(stream, name, **line_options), parse)


def _check_prefix(prefix: str) -> None:
    if not prefix or any(map(str.isspace, prefix)):
        raise OptionError(f"prefix must be a word without blanks, not {prefix!r}")


def write_fasttext(
    items: Iterable[Item],
    target: Target,
    *,
    prefix: str = "__label__",
    unlabelled: str = "unknown",
) -> int:
    """Write a line an item: its labels and its text, fields one after the other.

    Line ends and runs of blanks become single blanks; ids are left out.
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
            problem = f"the label {label!r} cannot be written: fastText's labels have no blanks"
    if item.features:
        problem = f"fastText holds text, not features such as {next(iter(item.features))!r}"
    elif item.weight != 1.0:
        problem = "fastText has no place for a weight"
    elif not text and not item.labels:
        problem = "neither labels nor text: fastText has no line for it"
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
