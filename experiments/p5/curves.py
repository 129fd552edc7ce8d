"""What Fig. 1 (a) and (b) share: losses of the position functions, in means and single runs."""

from __future__ import annotations

from math import nan
from statistics import mean
from typing import Any

from experiments import plots
from experiments.experiment import Results
from experiments.p5.generator import LAYOUTS

POSITIONS = {"1/i": "f₁ = 1/i", "-i^1.1": "f₂ = −i^1.1", "-i^2": "f₃ = −i²", "-i": "f = −i"}
STEEP = ("-i^1.1", "-i^2")
"""Those that the paper finds better than 1/i."""

ZERO = 0.01
"""A smaller loss counts as almost none."""

SIGMAS = [0.05, 0.2, 1.0]
SIGMA = 0.2
FLOOR = 1e-5
"""Where a loss of nothing is drawn, on a logarithmic scale."""


def losses(results: Results, method: str, **point: Any) -> list[list[Any]]:
    """Return a method's losses, a list a repetition; None where no document was relevant."""
    return [
        result["loss"][method] for _, result in results.where(**point) if method in result["loss"]
    ]


def middle(results: Results, method: str, **point: Any) -> list[float]:
    """Return the means over the repetitions; NaN if no document was relevant in any."""
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
        [max(FLOOR, value) for value in middle(results, method, **point)],
        colour=colour,
        dashed=method not in POSITIONS,
    )


def pairs(results: Results, better: str, **point: Any) -> tuple[int, int]:
    """Return how often a function beats 1/i in single runs, ties left out, and of how many."""
    ours, theirs = losses(results, better, **point), losses(results, "1/i", **point)
    both = [
        (a, b)
        for mine, other in zip(ours, theirs, strict=True)
        for a, b in zip(mine, other, strict=True)
        if None not in (a, b) and a != b
    ]
    return sum(a < b for a, b in both), len(both)


def open_choices() -> str:
    layouts = "; ".join(f"*{name}*: {text}" for name, text in LAYOUTS.items())
    return (
        "The paper does not say where the means of the documents lie, how far they scatter (σ), "
        "what w* is, how many features there are, how ties of grades are broken in σ_y, or how "
        f"many queries were tested. Here w* is a random unit vector, and the means are varied "
        f"({layouts})"
    )
