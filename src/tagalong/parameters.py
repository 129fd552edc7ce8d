"""Validation of parameters.

Every function returns the value, or raises a ValueError that says what the parameter must be.
"""

import math
import numbers
from contextlib import suppress

import numpy as np

__all__ = ["choice", "flag", "integer", "positive", "real"]


def choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    """Return a string that must be one of the choices."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {options}, got {value!r}")
    return value


def real(value: object, name: str) -> float:
    """Return a number that must be finite."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        with suppress(OverflowError):  # an integer may be too large for a float
            if math.isfinite(number := float(value)):
                return number
    raise ValueError(f"{name} must be a finite number, got {value!r}")


def positive(value: object, name: str, most: float = math.inf) -> float:
    """Return a finite number that must be above 0 and at most ``most``."""
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    if number > most:
        raise ValueError(f"{name} must be at most {most:g}, got {value!r}")
    return number


def flag(value: object, name: str) -> bool:
    """Return a value that must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def integer(value: object, name: str, least: int, most: int | None = None) -> int:
    """Return an integer that must be at least ``least`` and at most ``most``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limits}, got {value!r}")
    return number
