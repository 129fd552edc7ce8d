"""Conversion of values for JSON."""

import math
from typing import Any

import numpy as np

__all__ = ["for_json"]


def for_json(value: object) -> Any:
    """Return a value with None in place of NaN and infinity, and without NumPy scalars.

    Parameters
    ----------
    value : object
        Nested dicts and lists of values.
    """
    if isinstance(value, dict):
        return {name: for_json(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [for_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
