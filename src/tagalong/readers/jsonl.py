"""Reader and writer of JSON lines, and reader of JSON arrays: one object per item."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from math import isfinite
from typing import Any, BinaryIO, Unpack

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.dates import date_text, parse_date, parse_date_or_none
from tagalong.readers.json_values import JsonValues, check_unicode
from tagalong.readers.lines import (
    ENCODING,
    LINE_OPTIONS,
    MAX_LINE,
    LineOptions,
    Lines,
    has_plain_line_ends,
    parse_lines,
    validate_encoding,
)
from tagalong.readers.values import finite_number, parse_labels, short_repr
from tagalong.streams.compression import read_errors
from tagalong.streams.format import Format, ItemOrError, Option, Target

__all__ = [
    "FORMAT",
    "can_split",
    "item_as_json",
    "item_from_json",
    "list_keys",
    "read_jsonl",
    "write_jsonl",
]


@dataclass(frozen=True)
class _Keys:
    """Keys of a JSON object that hold the parts of an item."""

    id: str = "id"
    text: tuple[str, ...] = ("text",)
    features: str = "features"
    labels: tuple[str, ...] = ("labels",)
    weight: str = "weight"
    date: str | None = None

    @cached_property
    def are_plain(self) -> bool:
        """Whether every part has a single key that is not a path into nested objects."""
        single = len(self.text) == len(self.labels) == 1
        names = (self.id, *self.text, self.features, *self.labels, self.weight, self.date or "")
        return single and not any("." in name for name in names)


_DEFAULT_KEYS = _Keys()
_START = 64  # bytes that tell whether there is one value per line
_NOT_ONE_PER_LINE = re.compile(r"\ufeff?\s*(?:\[|\{[ \t\r]*\n)")
_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def read_jsonl(
    stream: BinaryIO,
    name: str,
    *,
    text: tuple[str, ...] = ("text",),
    labels: tuple[str, ...] = ("labels",),
    id: str = "id",
    features: str = "features",
    weight: str = "weight",
    date: str | None = None,
    lines_before: int | None = None,
    **line_options: Unpack[LineOptions],
) -> Iterator[ItemOrError]:
    """Yield the items of JSON lines, or of JSON values that are not one per line.

    If the number of lines before the stream is given, the stream consists of lines of a file that
    `can_split`.
    """
    keys = _Keys(id, text, features, labels, weight, date)
    if lines_before is not None or _is_one_per_line(stream, _encoding(line_options)):
        return parse_lines(
            Lines(stream, name, lines_before=lines_before or 0, **line_options),
            lambda line, place: (
                None if line.isspace() else item_from_json(_load_json(line, place), place, keys)
            ),
        )
    return _items_of_values(JsonValues(stream, name, **line_options), keys)


def can_split(stream: BinaryIO, **options: Any) -> bool:
    """Whether a stream has one value per line, and lines can be found without decoding it."""
    encoding = _encoding(options)
    return has_plain_line_ends(encoding) and _is_one_per_line(stream, encoding)


def _encoding(options: Mapping[str, Any]) -> str:
    return str(options.get("encoding", ENCODING.default))


def list_keys(stream: BinaryIO, name: str, **options: Any) -> list[str]:
    """Return the keys of the first object; a dot precedes nested keys."""
    encoding, max_line = options.get("encoding", "utf-8"), options.get("max_line", MAX_LINE)
    for record, _ in JsonValues(stream, name, encoding, max_line):
        return _keys_of(record) if isinstance(record, dict) else []
    return []


def _keys_of(record: Mapping[str, object]) -> list[str]:
    found = []
    for key, value in record.items():
        found += [f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key]
    return found


def _is_one_per_line(stream: BinaryIO, encoding: str) -> bool:
    """Whether a stream holds neither an array nor an object that begins with a line end."""
    peek: Callable[[int], bytes] | None = getattr(stream, "peek", None)
    if peek is None:
        return True
    plain = validate_encoding(encoding)
    try:
        start = peek(_START).decode(plain, "ignore")
    except read_errors():  # the reader of lines meets it again and reports it
        return True
    except UnicodeError:
        return True
    return _NOT_ONE_PER_LINE.match(start) is None


def _items_of_values(values: JsonValues, keys: _Keys) -> Iterator[ItemOrError]:
    while True:
        try:
            for record, place in values:
                yield item_from_json(record, place, keys)
        except ReadError as error:
            yield error
        else:
            return


def _load_json(line: str, place: str) -> object:
    indented = line.rstrip()
    line = indented.lstrip()
    try:
        try:
            record, end = _SCAN(line, 0)  # json.loads without its search for white space
        except StopIteration:
            end = -1
        if end != len(line):
            record = json.loads(line)
        check_unicode(record, line, place)
        return record
    except ReadError:
        raise
    except RecursionError:
        raise ReadError(place, "the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        column = len(indented) - len(line) + error.pos + 1
        raise ReadError(place, f"not JSON: {error.msg} at column {column}") from None
    except ValueError as error:
        raise ReadError(place, f"not JSON: {error}") from None


def item_from_json(record: object, place: str, keys: _Keys = _DEFAULT_KEYS) -> Item:
    """Return the item of a JSON object."""
    if type(record) is not dict:
        raise ReadError(place, f"an item must be an object {{...}}, not {short_repr(record)}")
    if keys.are_plain:
        find = record.get
        text, labels = find(keys.text[0]), find(keys.labels[0])
    else:
        find = partial(_value_at, record)
        text, labels = _joined_texts(find, keys.text), _joined_labels(find, keys.labels)
    features, weight, id = find(keys.features), find(keys.weight), find(keys.id)
    date = find(keys.date or "date")
    if date is not None:
        date = _parse_date(date, place, keys)
    if text is None and features is None:
        raise ReadError(
            place,
            f"the object has neither {' nor '.join(map(repr, keys.text))} nor {keys.features!r}; "
            f"its keys are {', '.join(map(repr, record)) or 'none'}; name the key of the text "
            "with the option text",
        )
    if labels is not None:
        labels = parse_labels(labels if type(labels) is list else [labels], place)
    return Item(
        id if type(id) is str else _parse_id(id, place),
        text if type(text) is str else _parse_text(text, place),
        {} if features is None else _parse_features(features, place),
        labels,
        1.0 if weight is None else finite_number(weight, place, "weight", least=0.0),
        place,
        date=date,
    )


def _parse_date(given: object, place: str, keys: _Keys) -> datetime | None:
    if keys.date is None:
        return parse_date_or_none(given)
    return parse_date(given, place, f"key {keys.date!r}")


def _value_at(record: Mapping[str, object], key: str) -> object:
    """Return the value of a key, which may be a path with dots; None if there is no such key."""
    if key in record or "." not in key:
        return record.get(key)
    found: object = record
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found


def _joined_texts(find: Callable[[str], object], keys: tuple[str, ...]) -> object:
    """Return the text, or one field per key; None if the object has none of the keys."""
    if len(keys) == 1:
        return find(keys[0])
    parts = {key: find(key) for key in keys}
    return None if all(part is None for part in parts.values()) else parts


def _joined_labels(find: Callable[[str], object], keys: tuple[str, ...]) -> list[object] | None:
    """Return the labels of all keys; None if the object has none of the keys."""
    given = [each for each in map(find, keys) if each is not None]
    if not given:
        return None
    return [label for each in given for label in (each if type(each) is list else [each])]


def _parse_text(given: object, place: str) -> str | dict[str, str]:
    if given is None:
        return ""
    if type(given) is not dict:
        raise ReadError(
            place, f"the text must be a string or an object of strings, not {short_repr(given)}"
        )
    for field, text in given.items():
        if text is not None and type(text) is not str:
            raise ReadError(
                place, f"the text field {field!r} must be a string, not {short_repr(text)}"
            )
    return {field: text for field, text in given.items() if text is not None}


def _parse_id(value: object, place: str) -> str:
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) in (int, float):
        return str(value)
    raise ReadError(place, f"the id must be a string or a number, not {short_repr(value)}")


def _parse_features(given: object, place: str) -> dict[str, FeatureValue]:
    if type(given) is not dict:
        raise ReadError(
            place, f"features must be an object of numbers and strings, not {short_repr(given)}"
        )
    found: dict[str, FeatureValue] = {}
    for name, value in given.items():
        if type(value) is str or (type(value) is float and isfinite(value)):
            found[name] = value
        elif type(value) is list:
            for category in value:
                if type(category) is not str:
                    raise ReadError(
                        place,
                        f"feature {name!r}: a list must hold strings (categories), "
                        f"not {short_repr(category)}",
                    )
                found[f"{name}={category}"] = 1.0
        elif value is not None:
            found[name] = finite_number(value, place, f"feature {name!r}")
    return found


def item_as_json(item: Item) -> dict[str, object]:
    """Return an item as a JSON object, without parts that are empty or unknown."""
    record: dict[str, object] = {"id": item.id} if item.id else {}
    if item.text != "" or not item.features:
        record["text"] = item.text if isinstance(item.text, str) else dict(item.text)
    if item.features:
        record["features"] = dict(item.features)
    if item.labels is not None:
        record["labels"] = list(item.labels)
    if item.weight != 1.0:
        record["weight"] = item.weight
    if item.date is not None:
        record["date"] = date_text(item.date)
    return record


def write_jsonl(items: Iterable[Item], target: Target) -> int:
    """Write one object per line."""
    count = 0
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for count, item in enumerate(items, 1):  # noqa: B007
        target.stream.write(encode(item_as_json(item)).encode() + b"\n")
    return count


FORMAT = Format(
    "jsonl",
    "JSON lines or a JSON array: objects with id, text, features, labels, weight, date",
    read_jsonl,
    extensions=(".jsonl", ".ndjson", ".json"),
    options=(
        Option(
            "text",
            "Key of the text; several keys become one field each. A dot selects a nested key.",
            "names",
            ("text",),
        ),
        Option(
            "labels",
            "Key of the labels; the labels of several keys are combined.",
            "names",
            ("labels",),
        ),
        Option("id", "Key of the id.", default="id"),
        Option("features", "Key of the features.", default="features"),
        Option("weight", "Key of the weight.", default="weight"),
        Option("date", "Key of the date. By default the key date, if its value is a date."),
        *LINE_OPTIONS,
    ),
    write=write_jsonl,
    starts=(b"{", b"["),
    list_names=list_keys,
    can_split=can_split,
)
