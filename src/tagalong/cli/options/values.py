"""Parsers of option values: numbers, lists and pairs."""

import argparse

__all__ = [
    "at_least_one",
    "buckets",
    "grades",
    "names",
    "positive",
    "precision",
    "race",
    "seconds",
    "setting",
    "size",
    "span",
    "whole",
]


MOST_GRADES = 1000


def whole(text: str) -> int:
    """Return a non-negative integer."""
    number = _integer(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, got {text}")
    return number


def at_least_one(text: str) -> int:
    """Return a positive integer."""
    number = _integer(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number


def size(text: str) -> int:
    """Return a positive number of bytes, which may be given in k, M or G."""
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    unit = units.get(text[-1:].lower())
    return at_least_one(text[:-1] if unit else text) * (unit or 1)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def positive(text: str) -> float:
    """Return a positive number."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return number


def seconds(text: str) -> float:
    """Return a number of seconds, 0 or more."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, got {text!r}") from None
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more seconds, got {text}")
    return number


def precision(text: str) -> float:
    """Return a share that can be required: above 0 and at most 1."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number such as 0.95, got {text!r}") from None
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, got {text}")
    return number


def names(text: str) -> list[str]:
    """Return the parts of a comma-separated list."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError("must not be empty")
    return found


def grades(text: str) -> list[str]:
    """Return the grades of a comma-separated list, or of a range of whole numbers such as 1..5."""
    first, dots, last = text.partition("..")
    if not dots:
        found = names(text)
    else:
        lowest, highest = _integer(first), _integer(last)
        if lowest > highest:
            raise argparse.ArgumentTypeError(
                f"must go from the lowest to the highest grade, got {text}"
            )
        if highest - lowest >= MOST_GRADES:
            raise argparse.ArgumentTypeError(f"must be at most {MOST_GRADES:,} grades, got {text}")
        found = [str(number) for number in range(lowest, highest + 1)]
    for number, grade in enumerate(found):
        if grade in found[:number]:
            raise argparse.ArgumentTypeError(f"grade {grade!r} appears twice in {text!r}")
    if len(found) < 2:
        raise argparse.ArgumentTypeError(f"must be at least two grades, got {text!r}")
    return found


def race(text: str) -> str | list[str] | None:
    """Return "auto", None for 'none', or the names of contestants."""
    if text == "none":
        return None
    return text if text == "auto" else names(text)


def span(text: str) -> tuple[int, int]:
    """Return the pair (shortest, longest) of "1,2", or of "2", which means "2,2"."""
    try:
        parts = [int(part) for part in text.split(",")]
        shortest, longest = (parts[0], parts[0]) if len(parts) == 1 else parts
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be the shortest and the longest length, such as 1,2, got {text!r}"
        ) from None
    return shortest, longest


def buckets(text: str) -> int | None:
    """Return a number of hash buckets, or None for 'grow'."""
    if text == "grow":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or 'grow', got {text!r}") from None


def setting(text: str) -> tuple[str, str]:
    """Return the name and the value of "name=value"."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"must look like name=value, got {text!r}")
    return name.strip(), value.strip()
