"""Reader and writer of Vowpal Wabbit's text format, one line per item.

A line is ``label,label weight 'tag |namespace feature:value``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from math import isfinite
from typing import BinaryIO, Unpack

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.column_choice import UNLABELLED
from tagalong.readers.lines import LINE_OPTIONS, LineOptions, Lines, parse_lines
from tagalong.readers.side_files import encode_names, read_names
from tagalong.readers.values import (
    describe_item,
    parse_number,
    short_repr,
    unique,
    unlabelled_problem,
)
from tagalong.streams.format import Format, ItemOrError, Option, Target

__all__ = ["FORMAT", "read_vw", "write_vw"]

_RESERVED = re.compile(r"[\s|:]")


def read_vw(
    stream: BinaryIO,
    name: str,
    *,
    unlabelled: str = "unknown",
    **line_options: Unpack[LineOptions],
) -> Iterator[ItemOrError]:
    """Yield the items of VW lines, skipping blank lines.

    If the side file of `write_vw` exists, it gives the names of numbered labels.
    """
    no_labels = None if unlabelled == "unknown" else ()
    names = dict(zip(map(str, count(0)), read_names(f"{name}.labels"), strict=False))

    def parse(line: str, place: str) -> Item | None:
        if line.isspace():
            return None
        item = _parse_line(line, place, no_labels)
        if names and item.labels:
            return replace(item, labels=tuple(names.get(label, label) for label in item.labels))
        return item

    return parse_lines(Lines(stream, name, **line_options), parse)


def _parse_line(line: str, place: str, unlabelled: tuple[str, ...] | None) -> Item:
    head, *namespaces = line.split("|")
    if not namespaces:
        raise ReadError(place, f"{short_repr(line.strip())} must contain a '|' before the features")
    tokens = head.split()
    tag = ""
    # The tag is the last word if no space separates it from the bar or if it begins with "'".
    if tokens and (not head[-1].isspace() or tokens[-1].startswith("'")):
        tag = tokens.pop().removeprefix("'")
    labels, weight = unlabelled, 1.0
    if tokens:
        found = tokens[0].split(",")
        if ":" in tokens[0]:
            raise ReadError(place, f"{short_repr(tokens[0])}: labels with costs are not supported")
        if "" in found:
            raise ReadError(place, f"{short_repr(tokens[0])} has an empty label")
        labels = unique(found)
    if len(tokens) > 1:
        weight = parse_number(tokens[1], place, "the importance weight", least=0.0)
    if len(tokens) > 3:
        raise ReadError(
            place,
            "only labels, weight, base and tag may come before the first '|', "
            f"not {short_repr(head)}",
        )
    features: dict[str, float] = {}
    for namespace in namespaces:
        _add_namespace(namespace, features, place)
    return Item(tag, "", features, labels, weight, place)


def _add_namespace(namespace: str, features: dict[str, float], place: str) -> None:
    """Add the features of one namespace; repeated features are summed, as in VW."""
    tokens = namespace.split()
    prefix, scale = "", 1.0
    if tokens and not namespace[0].isspace():
        prefix, colon, text = tokens.pop(0).partition(":")
        if colon:
            scale = parse_number(text, place, f"the weight of namespace {prefix!r}")
        prefix += "^"
    for token in tokens:
        feature, colon, text = token.partition(":")
        try:
            value = scale * float(text) if colon else scale
        except ValueError:
            value = parse_number(text, place, f"feature {feature!r}")
        name = prefix + feature
        if name in features:
            value += features[name]
        if not feature or not isfinite(value):
            raise ReadError(
                place,
                f"{short_repr(token)} must be a feature, or feature:value with a finite value",
            )
        features[name] = value


def write_vw(
    items: Iterable[Item],
    target: Target,
    *,
    unlabelled: str = "unknown",
    number_labels: bool = False,
) -> int:
    """Write one line per item.

    A feature ``namespace^name`` goes into its namespace. The words of plain text go into the
    namespace ``text``, the words of a field into a namespace with the field's name; "_" replaces
    bars and colons in words. A category becomes the feature ``name=category``.

    With `number_labels`, labels are numbered 0, 1, 2, ... and are in ascending order on each line,
    because VW's ``--multilabel_oaa`` ignores a label after a higher one. The names of the labels go
    into a side file with the suffix ".labels".
    """
    labels: dict[str, str] = {}
    written = 0
    for written, item in enumerate(items, 1):
        if number_labels:
            for label in item.labels or ():
                labels.setdefault(label, str(len(labels)))
        line = f"{_head(item, written, unlabelled, labels)}{_namespaces(item, written)}\n"
        target.stream.write(line.encode())
    target.side_files[".labels"] = encode_names(labels, target) if labels else None
    return written


def _head(item: Item, number: int, unlabelled: str, numbers: Mapping[str, str]) -> str:
    labels = [numbers.get(label, label) for label in item.labels or ()]
    if numbers:
        labels.sort(key=int)
    for label in labels:
        if not label or _RESERVED.search(label) or "," in label or label.startswith("'"):
            raise ValueError(
                f"{describe_item(item, number)}: the label {label!r} cannot be written: a label in "
                "VW must not contain white space, a comma, a colon or a bar, or begin with an "
                "apostrophe; the option number_labels writes labels as numbers"
            )
    if problem := unlabelled_problem(item, unlabelled):
        raise ValueError(f"{describe_item(item, number)}: {problem}")
    if not item.labels and item.weight != 1.0:
        raise ValueError(
            f"{describe_item(item, number)}: VW cannot store the weight {item.weight} of an item "
            "without labels"
        )
    weight = f" {float(item.weight)!r}" if item.weight != 1.0 else ""
    tag = f" '{_RESERVED.sub('_', item.id)}" if item.id else ""
    return f"{','.join(labels)}{weight}{tag} ".lstrip()


def _namespaces(item: Item, number: int) -> str:
    spaces: dict[str, list[str]] = {}
    texts: Mapping[str, str] = {"": item.text} if isinstance(item.text, str) else item.text
    for field, text in texts.items():
        if words := text.split():
            safe = [_RESERVED.sub("_", word) for word in words]
            spaces.setdefault(_RESERVED.sub("_", field) or "text", []).extend(safe)
    for name, value in item.features.items():
        space, feature = _split_namespace(name, item, number)
        spaces.setdefault(space, []).append(_token(feature, value, item, number))
    return "".join(f"|{space} {' '.join(tokens)} " for space, tokens in spaces.items()) or "| "


def _split_namespace(name: str, item: Item, number: int) -> tuple[str, str]:
    space, caret, feature = name.partition("^")
    if not caret:
        space, feature = "", name
    if not feature or (caret and not space) or _RESERVED.search(name):
        raise ValueError(
            f"{describe_item(item, number)}: the feature {name!r} cannot be written: a name in VW "
            "must not be empty or contain white space, a colon or a bar"
        )
    return space, feature


def _token(feature: str, value: FeatureValue, item: Item, number: int) -> str:
    if not isinstance(value, str):
        return feature if value == 1.0 else f"{feature}:{float(value)!r}"
    if _RESERVED.search(value):
        raise ValueError(
            f"{describe_item(item, number)}: the category {value!r} of feature {feature!r} cannot "
            "be written: a category in VW must not contain white space, a colon or a bar"
        )
    return f"{feature}={value}"


FORMAT = Format(
    "vw",
    "Vowpal Wabbit's text format with comma-separated labels",
    read_vw,
    extensions=(".vw",),
    options=(UNLABELLED, *LINE_OPTIONS),
    write=write_vw,
    write_options=(
        UNLABELLED,
        Option(
            "number_labels",
            "Write labels as numbers, and their names into a second file.",
            "flag",
            False,
        ),
    ),
)
