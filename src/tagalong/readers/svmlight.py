"""Reader and writer of svmlight lines: ``label,label qid:query index:value # id``, one per item."""

from collections.abc import Iterable, Iterator
from operator import methodcaller
from typing import BinaryIO, Unpack

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.lines import LINE_OPTIONS, LineOptions, Lines, parse_lines
from tagalong.readers.side_files import encode_names, read_names
from tagalong.readers.spool import spool_items
from tagalong.readers.values import (
    describe_item,
    one_line,
    parse_number,
    short_repr,
    unique,
    unlabelled_problem,
)
from tagalong.streams.format import Format, ItemOrError, Option, Target

__all__ = ["FORMAT", "read_svmlight", "write_svmlight"]

_RESERVED = frozenset(",:#")
_SPLIT_AT_COLON = methodcaller("split", ":")
_UNLABELLED = Option(
    "unlabelled",
    "Meaning of a line without labels: there are none ('empty'), or they are 'unknown'.",
    "choice",
    "empty",
    ("empty", "unknown"),
)


def read_svmlight(
    stream: BinaryIO, name: str, *, unlabelled: str = "empty", **line_options: Unpack[LineOptions]
) -> Iterator[ItemOrError]:
    """Yield the items of svmlight lines, skipping blank lines and comments.

    Features and labels are named by their numbers, or by the names in the side files of
    `write_svmlight`, if these exist.
    """
    features, labels = read_names(f"{name}.features"), read_names(f"{name}.labels")
    no_labels = None if unlabelled == "unknown" else ()

    def parse(line: str, place: str) -> Item | None:
        item = _parse_line(line, place, no_labels)
        if item is None or not (features or labels):
            return item
        return _with_names(item, name, features, labels)

    return parse_lines(Lines(stream, name, **line_options), parse)


def _parse_line(line: str, place: str, unlabelled: tuple[str, ...] | None) -> Item | None:
    data, _, comment = line.partition("#")
    tokens = data.split()
    if not tokens:
        return None
    labels = unlabelled
    if not data[0].isspace() and ":" not in tokens[0]:
        found = tokens[0].split(",")
        if "" in found:
            raise ReadError(place, f"{short_repr(tokens[0])} has an empty label")
        labels = unique(found)
        del tokens[0]
    query = ""
    if tokens and tokens[0].startswith("qid:"):
        query = tokens.pop(0).removeprefix("qid:")
        if not query:
            raise ReadError(place, "'qid:' must be followed by a query")
    try:
        features: dict[str, FeatureValue] = {
            name: float(value) for name, value in map(_SPLIT_AT_COLON, tokens)
        }
    except ValueError:
        features = {}
    # An infinite sum, or an empty or repeated name, may be an error: check each pair.
    total = sum(features.values())  # type: ignore[arg-type]
    if total - total != 0.0 or len(features) != len(tokens) or "" in features or "qid" in features:
        _check_pairs(tokens, place)
    return Item(comment.strip(), "", features, labels, 1.0, place, query)


def _check_pairs(tokens: list[str], place: str) -> None:
    """Raise ReadError at the first invalid pair, if there is one."""
    seen = set()
    for token in tokens:
        pair = token.split(":")
        if pair[0] == "qid":
            raise ReadError(
                place, f"{short_repr(token)}: the query (qid) must come before the features"
            )
        if len(pair) != 2 or not pair[0]:
            raise ReadError(place, f"{short_repr(token)} must have the form feature:value")
        parse_number(pair[1], place, f"feature {pair[0]}")
        if pair[0] in seen:
            raise ReadError(place, f"feature {pair[0]} occurs twice")
        seen.add(pair[0])


def _with_names(item: Item, file: str, features: list[str], labels: list[str]) -> Item:
    def name(number: str, names: list[str], suffix: str) -> str:
        if not names:
            return number
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= len(names):
            raise ReadError(
                item.place,
                f"{short_repr(number)} has no name: it must be the number of a line of "
                f"{file}{suffix}, from 1 to {len(names)}",
            )
        return names[int(number) - 1]

    return Item(
        item.id,
        item.text,
        {name(key, features, ".features"): value for key, value in item.features.items()},
        item.labels and tuple(name(label, labels, ".labels") for label in item.labels),
        item.weight,
        item.place,
        item.query,
    )


def write_svmlight(items: Iterable[Item], target: Target, *, unlabelled: str = "empty") -> int:
    """Write one line per item.

    If the names of all features are numbers, they are written unchanged. Otherwise features are
    numbered from 1 in order of appearance, and their names go into a side file with the suffix
    ".features". A category becomes the feature ``name=category`` with the value 1. If svmlight
    cannot store a label, all labels are numbered in the same way (".labels"). The id becomes the
    comment. The query comes before the features.
    """
    features: dict[str, int] = {}
    labels: dict[str, int] = {}

    def collect_names(item: Item, number: int) -> None:
        _check(item, number, unlabelled)
        for name in _numeric_features(item):
            features.setdefault(name, len(features) + 1)
        for label in item.labels or ():
            labels.setdefault(label, len(labels) + 1)

    with spool_items(items, collect_names) as spooled:
        feature_names = _identity_mapping(features) if all(map(_is_index, features)) else None
        label_names = _identity_mapping(labels) if all(map(_is_label, labels)) else None
        numbered = {".features": (features, feature_names), ".labels": (labels, label_names)}
        for suffix, (numbers, literal) in numbered.items():
            target.side_files[suffix] = encode_names(numbers, target) if literal is None else None
        feature_names = feature_names or {name: str(n) for name, n in features.items()}
        label_names = label_names or {label: str(n) for label, n in labels.items()}
        count = 0
        for count, item in enumerate(spooled(), 1):  # noqa: B007
            pairs = (
                (feature_names[name], value) for name, value in _numeric_features(item).items()
            )
            ordered = sorted(pairs, key=lambda pair: int(pair[0]))
            parts = [",".join(label_names[label] for label in item.labels or ())]
            parts += [f"qid:{item.query}"] if item.query else []
            parts += [f"{index}:{value!r}" for index, value in ordered]
            parts += [f"# {one_line(item.id)}"] if item.id else []
            target.stream.write(" ".join(parts).encode() + b"\n")
    return count


def _check(item: Item, number: int, unlabelled: str) -> None:
    if item.text:
        raise ValueError(
            f"{describe_item(item, number)}: svmlight stores numbers, not text; convert the text "
            "to features first, or write jsonl, csv, fasttext or vw"
        )
    if item.weight != 1.0:
        raise ValueError(
            f"{describe_item(item, number)}: svmlight cannot store a weight, here {item.weight}"
        )
    if any(map(str.isspace, item.query)) or "#" in item.query:
        raise ValueError(
            f"{describe_item(item, number)}: svmlight cannot store the query {item.query!r}; a "
            "query must not contain white space or '#'"
        )
    if problem := unlabelled_problem(item, unlabelled):
        raise ValueError(f"{describe_item(item, number)}: {problem}")
    if not item.labels and not item.features:
        raise ValueError(
            f"{describe_item(item, number)}: svmlight cannot store an item with neither labels "
            "nor features"
        )


def _numeric_features(item: Item) -> dict[str, float]:
    return {
        f"{name}={value}" if isinstance(value, str) else name: (
            1.0 if isinstance(value, str) else float(value)
        )
        for name, value in item.features.items()
    }


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdigit() and str(int(name)) == name


def _is_label(label: str) -> bool:
    return bool(label) and not _RESERVED & set(label) and not any(map(str.isspace, label))


def _identity_mapping(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


FORMAT = Format(
    "svmlight",
    "svmlight or LIBSVM lines with comma-separated labels",
    read_svmlight,
    extensions=(".svm", ".svmlight", ".libsvm"),
    options=(
        _UNLABELLED,
        *LINE_OPTIONS,
    ),
    write=write_svmlight,
    write_options=(_UNLABELLED,),
)
