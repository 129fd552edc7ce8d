"""Checks of parameters: a wrong one is named, with its value and what would be right."""

import math
import numbers
from typing import Any

__all__ = ["choice", "integer", "positive", "real"]


def choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return a value that must be one of a few names."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {options}, got {value!r}")
    return value


def real(value: Any, name: str) -> float:
    """Return a finite number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def positive(value: Any, name: str) -> float:
    """Return a finite number above zero."""
    if real(value, name) <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return float(value)


def integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return an integer within limits."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limits}, got {value!r}")
    return number
