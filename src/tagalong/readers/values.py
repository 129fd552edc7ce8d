"""Single values of a file, as items want them."""

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

_SHOWN = 40


def short_repr(value: Any) -> str:
    """Return a value for a message, cut short."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, a deep list
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def finite_number(value: Any, place: str, name: str, *, least: float | None = None) -> float:
    """Return a number of JSON or Parquet as a float; ReadError if it is none, or not finite."""
    if isinstance(value, (int, float)):  # bool is an int
        try:
            found = float(value)
        except OverflowError:
            raise ReadError(place, f"{name} is too large a number") from None
        if isfinite(found) and (least is None or found >= least):
            return found
    wanted = "a finite number" if least is None else f"a finite number of at least {least:g}"
    raise ReadError(place, f"{name} must be {wanted}, not {short_repr(value)}")


def parse_number(text: str, place: str, name: str, *, least: float | None = None) -> float:
    """Return a number written as text, as `finite_number` does."""
    try:
        found = float(text)
    except ValueError:
        raise ReadError(place, f"{name} must be a number, not {short_repr(text)}") from None
    return finite_number(found, place, name, least=least)


def parse_label(label: Any, place: str) -> str:
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
    raise ReadError(place, f"a label must be a text or a number, not {short_repr(label)}")


def parse_labels(given: list[Any], place: str) -> tuple[str, ...]:
    """Return labels as texts, without repetitions, in their order."""
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
    """Return a text with every line end and run of blanks as a single blank."""
    return " ".join(text.split())


def describe_item(item: Item, number: int) -> str:
    """Return how to call an item that cannot be written."""
    origin = f" from {item.place}" if item.place else ""
    return f"item {number} ({short_repr(item.id)}{origin})"


def unlabelled_problem(item: Item, unlabelled: str) -> str:
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
