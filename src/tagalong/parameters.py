"""Checks of parameters: a wrong one is named, with its value and what would be right."""

import math
import numbers
from contextlib import suppress
from typing import Any

import numpy as np

__all__ = ["choice", "flag", "integer", "positive", "real"]


def choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return a value that must be one of a few names."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {options}, got {value!r}")
    return value


def real(value: Any, name: str) -> float:
    """Return a finite number."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        with suppress(OverflowError):  # of an integer beyond all floats
            if math.isfinite(number := float(value)):
                return number
    raise ValueError(f"{name} must be a finite number, got {value!r}")


def positive(value: Any, name: str, most: float = math.inf) -> float:
    """Return a finite number above zero, and not above a limit."""
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    if number > most:
        raise ValueError(f"{name} must be at most {most:g}, got {value!r}")
    return number


def flag(value: Any, name: str) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return an integer within limits."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limits}, got {value!r}")
    return number
