"""Helpers for reports: best values in bold, counts of wins, verdicts, means and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median, stdev
from typing import Any

Figures = Mapping[Any, float]


def bold_minimum(values: Sequence[float], digits: int = 1) -> list[str]:
    """Return rounded numbers as text, with the smallest in bold; NaN becomes a dash."""
    shown = [f"{value:.{digits}f}" for value in values]
    smallest = min((float(text) for text in shown if text != "nan"), default=None)
    return [
        "–" if text == "nan" else f"**{text}**" if float(text) == smallest else text
        for text in shown
    ]


def wins(better: Figures, worse: Figures) -> tuple[int, int]:
    """Return the number of common keys where the first is strictly lower, and their total."""
    common = [key for key in better if key in worse]
    return sum(better[key] < worse[key] for key in common), len(common)


def holds(won: int, of: int) -> bool | None:
    """Return True if all cases agree with a claim, False if fewer than half do, otherwise None."""
    if of == 0:
        return None
    return True if won == of else False if 2 * won < of else None


def median_text(values: Sequence[float], digits: int = 1) -> str:
    """Return the median of some numbers as text."""
    return f"{median(values):.{digits}f}"


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of repetitions and its standard error."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean(values), error
