"""Small words for reports: who is best, how often one beats another, by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import mean, median, stdev
from typing import Any

Figures = Mapping[Any, float]


def bold_least(values: Sequence[float], digits: int = 1) -> list[str]:
    """Return numbers as text, the least of them (as shown) in bold; NaN is a dash."""
    shown = [f"{value:.{digits}f}" for value in values]
    least = min((float(text) for text in shown if text != "nan"), default=None)
    return [
        "–" if text == "nan" else f"**{text}**" if float(text) == least else text for text in shown
    ]


def wins(better: Figures, worse: Figures) -> tuple[int, int]:
    """Return on how many common keys the first is strictly below the second, and of how many."""
    common = [key for key in better if key in worse]
    return sum(better[key] < worse[key] for key in common), len(common)


def holds(won: int, of: int) -> bool | None:
    """Return whether a claim holds: always, in fewer than half of the cases, or in between."""
    if of == 0:
        return None
    return True if won == of else False if 2 * won < of else None


def chain(figures: Sequence[Figures]) -> int:
    """Return on how many keys each mapping is strictly below the one before it."""
    keys = set(figures[0]).intersection(*figures)
    return sum(all(b[key] < a[key] for a, b in pairwise(figures)) for key in keys)


def typical(values: Sequence[float], digits: int = 1) -> str:
    """Return the median of some numbers, as text."""
    return f"{median(values):.{digits}f}"


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard error of repetitions."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean(values), error
