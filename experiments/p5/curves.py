"""Shared by Fig. 1 (a) and (b): losses of the position functions, as means and in single runs."""

from __future__ import annotations

from math import nan
from statistics import mean
from typing import Any

from experiments import plots
from experiments.experiment import Results
from experiments.p5.generator import LAYOUTS

POSITIONS = {"1/i": "f₁ = 1/i", "-i^1.1": "f₂ = −i^1.1", "-i^2": "f₃ = −i²", "-i": "f = −i"}
STEEP = ("-i^1.1", "-i^2")
"""The functions that the paper finds better than 1/i."""

ZERO = 0.01
"""A smaller loss counts as almost 0."""

SIGMAS = [0.05, 0.2, 1.0]
SIGMA = 0.2
FLOOR = 1e-5
"""Smaller losses are drawn at this value, because the scale is logarithmic."""


def losses(results: Results, method: str, **point: Any) -> list[list[Any]]:
    """Return a method's losses, one list per repetition; None if no document is relevant."""
    return [
        result["loss"][method] for _, result in results.where(**point) if method in result["loss"]
    ]


def mean_losses(results: Results, method: str, **point: Any) -> list[float]:
    """Return the means over repetitions; NaN if no repetition has a relevant document."""
    found = [
        [value for value in values if value is not None]
        for values in zip(*losses(results, method, **point), strict=True)
    ]
    return [mean(values) if values else nan for values in found]


def line(
    results: Results, method: str, label: str, ends: list[int], colour: int, **point: Any
) -> plots.Line:
    return plots.Line(
        label,
        ends,
        [max(FLOOR, value) for value in mean_losses(results, method, **point)],
        colour=colour,
        dashed=method not in POSITIONS,
    )


def pairs(results: Results, better: str, **point: Any) -> tuple[int, int]:
    """Return how often a function beats 1/i in single runs, and the number of runs without ties."""
    ours, theirs = losses(results, better, **point), losses(results, "1/i", **point)
    both = [
        (a, b)
        for mine, other in zip(ours, theirs, strict=True)
        for a, b in zip(mine, other, strict=True)
        if None not in (a, b) and a != b
    ]
    return sum(a < b for a, b in both), len(both)


def describe_open_choices() -> str:
    layouts = "; ".join(f"*{name}*: {text}" for name, text in LAYOUTS.items())
    return (
        "The paper does not give the means of the documents, their standard deviation σ, w*, the "
        "number of features, the order of tied grades in σ_y, or the number of test queries. Here "
        f"w* is a random unit vector, and the means are varied ({layouts})"
    )
