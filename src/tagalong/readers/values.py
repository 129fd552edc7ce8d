"""Conversion and validation of single values: numbers, labels, and their form in messages."""

from math import isfinite
from typing import Any

from tagalong.learning.items import Item, ReadError

__all__ = [
    "describe_item",
    "finite_number",
    "one_line",
    "parse_label",
    "parse_labels",
    "parse_number",
    "short_repr",
    "unique",
    "unlabelled_problem",
]

_MAX_REPR = 40


def short_repr(value: object) -> str:
    """Return the representation of a value for a message, truncated."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a deep list
        return f"a {type(value).__name__}"
    return text if len(text) <= _MAX_REPR else f"{text[:_MAX_REPR]}..."


def finite_number(value: object, place: str, name: str, *, least: float | None = None) -> float:
    """Return a number from JSON or Parquet as a float; raise ReadError unless it is finite."""
    if isinstance(value, (int, float)):  # bool is an int
        try:
            found = float(value)
        except OverflowError:
            raise ReadError(place, f"{name} is too large for a 64-bit float") from None
        if isfinite(found) and (least is None or found >= least):
            return found
    wanted = "a finite number" if least is None else f"a finite number of at least {least:g}"
    raise ReadError(place, f"{name} must be {wanted}, not {short_repr(value)}")


def parse_number(text: str, place: str, name: str, *, least: float | None = None) -> float:
    """Return the number that a text spells, with the checks of `finite_number`."""
    try:
        found = float(text)
    except ValueError:
        raise ReadError(place, f"{name} must be a number, not {short_repr(text)}") from None
    return finite_number(found, place, name, least=least)


def parse_label(label: object, place: str) -> str:
    """Return a label as a string; numbers are formatted."""
    if type(label) is str:
        if label.strip():
            return label
        raise ReadError(place, "a label must not be empty")
    if type(label) is int or (type(label) is float and isfinite(label)):
        try:
            return str(label)
        except ValueError:
            pass
    raise ReadError(place, f"a label must be a string or a number, not {short_repr(label)}")


def parse_labels(given: list[Any], place: str) -> tuple[str, ...]:
    """Return labels as strings, without repetitions, in their order."""
    for label in given:
        if type(label) is not str or not label or label.isspace():
            return unique([parse_label(label, place) for label in given])
    return unique(given)


def unique(labels: list[str]) -> tuple[str, ...]:
    """Return labels without repetitions, in their order."""
    if len(labels) < 2:
        return tuple(labels)
    return tuple(dict.fromkeys(labels))


def one_line(text: str) -> str:
    """Return a text with each run of white space replaced by one space."""
    return " ".join(text.split())


def describe_item(item: Item, number: int) -> str:
    """Return the description of an item in a message: its number, id and place."""
    origin = f" from {item.place}" if item.place else ""
    return f"item {number} ({short_repr(item.id)}{origin})"


def unlabelled_problem(item: Item, unlabelled: str) -> str:
    """Return why an item without labels cannot be written; "" if it can.

    Some formats cannot distinguish unknown labels from an empty set of labels. The option
    `unlabelled` says which of the two a file means.

    Parameters
    ----------
    item : Item
        Item to write.
    unlabelled : str
        Meaning of an item without labels: "unknown" or "empty".
    """
    meant = "unknown" if item.labels is None else "empty"
    if item.labels or meant == unlabelled:
        return ""
    return (
        f"the item's labels are {meant}, but an item without labels is read as {unlabelled!r}; "
        f"use unlabelled={meant!r} to change this"
    )
