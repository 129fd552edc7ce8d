"""Single values of a file, as items want them."""

from math import isfinite
from typing import Any

from tagalong.learning.items import Item, ReadError

__all__ = [
    "called",
    "label_text",
    "labels_of",
    "listed",
    "number",
    "one_line",
    "parsed",
    "unique",
    "wrongly_unlabelled",
]

_SHOWN = 40


def listed(value: Any) -> str:
    """Return a value for a message, cut short."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, a deep list
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def number(value: Any, place: str, name: str, *, least: float | None = None) -> float:
    """Return a number of JSON or Parquet as a float; ReadError if it is none, or not finite."""
    if isinstance(value, (int, float)):  # bool is an int
        try:
            found = float(value)
        except OverflowError:
            raise ReadError(place, f"{name} is too large a number") from None
        if isfinite(found) and (least is None or found >= least):
            return found
    wanted = "a finite number" if least is None else f"a finite number of at least {least:g}"
    raise ReadError(place, f"{name} must be {wanted}, not {listed(value)}")


def parsed(text: str, place: str, name: str, *, least: float | None = None) -> float:
    """Return a number written as text, as `number` does."""
    try:
        found = float(text)
    except ValueError:
        raise ReadError(place, f"{name} must be a number, not {listed(text)}") from None
    return number(found, place, name, least=least)


def label_text(label: Any, place: str) -> str:
    """Return a label as a text; numbers are written out."""
    if type(label) is str:
        if label.strip():
            return label
        raise ReadError(place, "a label must not be empty")
    if type(label) is int or (type(label) is float and isfinite(label)):
        try:
            return str(label)
        except ValueError:
            pass
    raise ReadError(place, f"a label must be a text or a number, not {listed(label)}")


def labels_of(given: list[Any], place: str) -> tuple[str, ...]:
    """Return labels as texts, without repetitions, in their order."""
    for label in given:
        if type(label) is not str or not label or label.isspace():
            return unique([label_text(label, place) for label in given])
    return unique(given)


def unique(labels: list[str]) -> tuple[str, ...]:
    """Return labels without repetitions, in their order."""
    if len(labels) < 2:
        return tuple(labels)
    return tuple(dict.fromkeys(labels))


def one_line(text: str) -> str:
    """Return a text with every line end and run of blanks as a single blank."""
    return " ".join(text.split())


def called(item: Item, number: int) -> str:
    """Return how to call an item that cannot be written."""
    origin = f" from {item.place}" if item.place else ""
    return f"item {number} ({listed(item.id)}{origin})"


def wrongly_unlabelled(item: Item, unlabelled: str) -> str:
    """Return why a format that has one sign for no labels cannot say what an item means by it.

    Parameters
    ----------
    item : Item
        What is to be written.
    unlabelled : str
        What the sign means: "unknown" or "empty".
    """
    meant = "unknown" if item.labels is None else "empty"
    if item.labels or meant == unlabelled:
        return ""
    known = "unknown" if item.labels is None else "known to be none"
    return (
        f"its labels are {known}, but where none are written that means {unlabelled!r}; "
        f"unlabelled={meant!r} lets it mean the other"
    )
