"""Items and suggestions as JSON values, as the API has them."""

import json
import math
import numbers
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from tagalong.client.address import checked_unicode
from tagalong.learning.items import Item
from tagalong.tagger.suggestions import Explanation, Suggestion, Suggestions

__all__ = [
    "AnyText",
    "date_text",
    "explanation_from_json",
    "item_from_json",
    "item_to_json",
    "label_list",
    "suggestions_from_json",
    "to_bytes",
]

AnyText: TypeAlias = Item | str | Mapping[str, Any]
"""The forms of an item: an `Item`, a text, or a mapping of feature names to values."""


def item_to_json(item: AnyText) -> dict[str, Any]:
    """Return the content of an item as JSON values; ValueError if it cannot be sent.

    Parameters
    ----------
    item : Item, str or mapping
        The item, without its id and its labels.
    """
    if isinstance(item, str):
        return {"text": checked_unicode(item, "the text")}
    if isinstance(item, Mapping):
        return {"values": _values(item)}
    if not isinstance(item, Item):
        raise ValueError(
            "an item must be a text, a mapping of feature names to values, or an Item, got "
            f"{type(item).__name__}"
        )
    found: dict[str, Any] = {}
    if isinstance(item.text, str):
        found["text"] = checked_unicode(item.text, "the text")
    else:
        found["fields"] = {
            checked_unicode(name, "the name of a field"): checked_unicode(text, f"field {name!r}")
            for name, text in item.text.items()
        }
    if item.features:
        found["values"] = _values(item.features)
    if item.weight != 1:
        found["weight"] = float(item.weight)
    if item.date is not None:
        found["date"] = item.date.isoformat()
    return found


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(name, str):
            raise ValueError(f"the name of a feature must be a text, got {name!r}")
        if value is None:  # a missing value
            continue
        found[checked_unicode(name, "the name of a feature")] = _value(value, f"feature {name!r}")
    return found


def _value(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return checked_unicode(value, name)
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{name} is {value!r}; values must be finite")
        return number
    is_collection = isinstance(value, (list, tuple, set, frozenset))
    if is_collection and all(isinstance(each, str) for each in value):
        return [checked_unicode(each, name) for each in sorted(set(value))]
    raise ValueError(
        f"{name} must be a number, a text or a collection of texts, got {type(value).__name__}"
    )


def label_list(labels: object, name: str = "labels") -> list[str]:
    """Return labels as a list of texts; ValueError if they are none.

    Parameters
    ----------
    labels : label or collection of labels
        The labels; a single text is one label.
    name : str
        Their meaning, for the message.
    """
    given = [labels] if isinstance(labels, str) else labels
    if not isinstance(given, Collection) or isinstance(given, (bytes, Mapping)):
        raise ValueError(f"{name} must be a label or a collection of labels, got {labels!r}")
    for label in given:
        if not isinstance(label, str):
            raise ValueError(f"{name} must be texts, got {label!r}")
        checked_unicode(label, f"the label {label!r}")
    return list(given)


def date_text(date: str | datetime) -> str:
    """Return a date as it is sent; ValueError if it has no time zone.

    Parameters
    ----------
    date : str or datetime
        A datetime with a time zone, or a text (RFC 3339).
    """
    if isinstance(date, datetime):
        if date.utcoffset() is None:
            raise ValueError(f"the date must have a time zone, got {date!r}")
        return date.isoformat()
    return checked_unicode(date, "the date")


def item_from_json(found: Mapping[str, Any]) -> Item:
    """Return an item of the server.

    Parameters
    ----------
    found : mapping
        The item as JSON values; without a text if the workspace stores no texts.
    """
    labels = found.get("labels")
    return Item(
        id=str(found["id"]),
        text=found["fields"] if found.get("fields") is not None else found.get("text") or "",
        features=found.get("values") or {},
        labels=None if labels is None else tuple(labels),
        weight=float(found.get("weight", 1.0)),
    )


def suggestions_from_json(found: Mapping[str, Any]) -> Suggestions:
    """Return the suggestions in an answer, with the facts about the whole item.

    Parameters
    ----------
    found : mapping
        The answer.
    """
    return Suggestions(
        [
            Suggestion(
                label=each["label"],
                score=float(each["score"]),
                probability=float(each["probability"]),
                chosen=bool(each["chosen"]),
                sure=bool(each["sure"]),
                explores=bool(each.get("explores", False)),
            )
            for each in found["suggestions"]
        ],
        whole=float(found.get("whole", 0.0)),
        known=int(found.get("known", 0)),
        in_runs=bool(found.get("in_runs", False)),
        audited=bool(found.get("audited", False)),
    )


def explanation_from_json(found: Mapping[str, Any]) -> Explanation:
    """Return an explanation of the server.

    Parameters
    ----------
    found : mapping
        The explanation as JSON values.
    """
    parts = tuple((str(part["name"]), float(part["value"])) for part in found["parts"])
    return Explanation(found["label"], float(found["score"]), float(found["base"]), parts)


def to_bytes(value: object) -> bytes:
    """Return JSON values as the body of a request.

    Parameters
    ----------
    value : object
        JSON values without NaN and infinity, whose texts are valid Unicode.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
