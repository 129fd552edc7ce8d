"""Values of options: from text to number, list or pair."""

import argparse

__all__ = ["buckets", "names", "positive", "setting", "span", "whole"]


def whole(text: str) -> int:
    """Return a whole number that is not negative."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must not be negative: {text}")
    return number


def positive(text: str) -> float:
    """Return a number above zero."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be above 0: {text}")
    return number


def names(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError("must not be empty")
    return found


def span(text: str) -> tuple[int, int]:
    """Return the shortest and the longest of something, "1,2" or just "2"."""
    try:
        parts = [int(part) for part in text.split(",")]
        shortest, longest = (parts[0], parts[0]) if len(parts) == 1 else parts
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be the shortest and the longest, such as 1,2, not {text!r}"
        ) from None
    return shortest, longest


def buckets(text: str) -> int | None:
    """Return a number of hash buckets, None for a vocabulary that grows."""
    if text == "grow":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or 'grow', not {text!r}") from None


def setting(text: str) -> tuple[str, str]:
    """Return name and value of "name=value"."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"must look like name=value, not {text!r}")
    return name.strip(), value.strip()
