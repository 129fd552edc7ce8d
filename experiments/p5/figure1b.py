"""P5, Fig. 1 (b): NDCG loss by number of documents per query, after 30 queries."""

from __future__ import annotations

from itertools import pairwise
from math import isnan, nan
from statistics import mean
from typing import NamedTuple

from experiments import compare, plots
from experiments.experiment import (
    Cell,
    Experiment,
    Figure,
    Form,
    Part,
    Results,
    Table,
    Verdict,
    cell,
)
from experiments.p5.curves import (
    POSITIONS,
    SIGMA,
    SIGMAS,
    STEEP,
    ZERO,
    describe_open_choices,
    losses,
)
from experiments.p5.figure1a import FEATURES
from experiments.p5.generator import LAYOUTS, TESTED, learn

QUERIES = 30
VARIED = [
    *((sigma, ties, FEATURES) for ties in ("score", "index") for sigma in SIGMAS),
    *((SIGMA, "score", features) for features in (10, 100)),
]
"""σ, the order of tied grades in σ_y, and the number of features; for each layout of the means."""


class Generator(NamedTuple):
    """The choices that the paper leaves open about its simulations."""

    layout: str
    sigma: float
    ties: str
    features: int

    def __str__(self) -> str:
        return f"{self.layout}, σ = {self.sigma:g}, ties by {self.ties}, {self.features} features"


def cells(form: Form) -> list[Cell]:
    sizes = form.pick([5, 10, 20, 40], [5, 10, 15, 20, 30, 40, 50])
    return [
        cell(
            learn,
            layout=layout,
            sigma=sigma,
            ties=ties,
            documents=size,
            features=features,
            queries=QUERIES,
            ends=[QUERIES],
            positions=list(POSITIONS),
            repetition=repetition,
        )
        for layout in LAYOUTS
        for sigma, ties, features in VARIED
        for size in sizes
        for repetition in range(form.pick(5, 20))
    ]


def report(results: Results) -> list[Part]:
    sizes = sorted(results.values("documents"))
    tried = generators(results)
    return [
        *_verdicts(results, sizes, tried),
        f"{describe_open_choices()}; {QUERIES} training queries as in the paper, η = 1; means of "
        f"{len(results.values('repetition'))} repetitions, tested on {TESTED} queries. "
        f"**{len(tried)} generators were tried**: {len(results.values('layout'))} layouts of the "
        f"means, each with {_variations(tried)}. None was left out. The panels have σ = {SIGMA:g}, "
        f"tied grades sorted by score and {FEATURES} features. With more documents there are more "
        "grades, and the gain doubles from one grade to the next, so NDCG depends on the first few "
        "positions.",
        Figure(
            "p5-figure1b",
            lambda: plots.lines([_panel(results, layout, sizes) for layout in LAYOUTS]),
            "NDCG loss against documents per query for four position functions, in three layouts",
        ),
        _table(results, sizes, tried),
    ]


def generators(results: Results) -> list[Generator]:
    """Return the generators of the results."""
    found = (Generator(*(own[name] for name in Generator._fields)) for own, _ in results.cells)
    return list(dict.fromkeys(found))


def _variations(tried: list[Generator]) -> str:
    points = list(dict.fromkeys(own[1:] for own in tried))
    return "; ".join(
        f"σ = {sigma:g}, ties by {ties}, {features} features" for sigma, ties, features in points
    )


def _losses(results: Results, f: str, own: Generator, size: int) -> list[float]:
    found = losses(results, f, **own._asdict(), documents=size)
    return [value for (value,) in found if value is not None]


def _mean(results: Results, f: str, own: Generator, size: int) -> float:
    """Return the mean over repetitions; NaN if no repetition has a relevant document."""
    found = _losses(results, f, own, size)
    return mean(found) if found else nan


def _verdicts(results: Results, sizes: list[int], tried: list[Generator]) -> list[Part]:
    functions = ("1/i", *STEEP)
    curves = {
        (own, f): [_mean(results, f, own, size) for size in sizes]
        for own in tried
        for f in functions
    }
    steps = [later > earlier for curve in curves.values() for earlier, later in pairwise(curve)]
    grown = {own: all(curves[own, f][-1] > curves[own, f][0] for f in functions) for own in tried}
    reach = {key: _reach(sizes, curve) for key, curve in curves.items()}
    # Where all functions reach equally far, up to the last size or to none, nothing can be said.
    told = [own for own in tried if len({reach[own, f] for f in functions}) > 1]
    further = {own: all(reach[own, f] > reach[own, "1/i"] for f in STEEP) for own in told}
    compared = [
        (steep, flat)
        for own in tried
        for f in STEEP
        for steep, flat in zip(curves[own, f], curves[own, "1/i"], strict=True)
        if not isnan(flat)
    ]
    wins = sum(steep < flat for steep, flat in compared)
    return [
        Verdict(
            "The loss grows with the number of documents, for every position function.",
            f"from {sizes[0]} to {sizes[-1]} documents it grows for all three functions with "
            f"{sum(grown.values())} of {len(tried)} generators{_which(grown)}. From one size to "
            f"the next it grows in {sum(steps)} of {len(steps)} steps over all generators and "
            "functions.",
            compare.holds(sum(grown.values()), len(tried)),
        ),
        Verdict(
            "f₂ and f₃ keep the loss at zero up to more documents than f₁.",
            f"this holds with {sum(further.values())} of {len(further)} generators"
            f"{_which(further)}, if a loss below {ZERO:g} counts as zero. With the other "
            f"{len(tried) - len(told)} generators all three have it up to the same number of "
            "documents, or nowhere. Over all generators and sizes, f₂ and f₃ have a lower loss "
            f"than f₁ in {wins} of {len(compared)} cases.",
            compare.holds(sum(further.values()), len(further)) if told else "not tested",
        ),
    ]


def _reach(sizes: list[int], curve: list[float]) -> int:
    """Return the largest number of documents with a loss of almost 0."""
    low = [size for size, value in zip(sizes, curve, strict=True) if value < ZERO]
    return max(low, default=0)


def _which(found: dict[Generator, bool]) -> str:
    """Return the generators for which a claim holds, as text, if they are few."""
    names = [str(own) for own, holds in found.items() if holds]
    return f" ({'; '.join(names)})" if 0 < len(names) <= len(found) // 3 else ""


def _panel(results: Results, layout: str, sizes: list[int]) -> plots.Panel:
    drawn = []
    for colour, (f, label) in enumerate(POSITIONS.items()):
        own = Generator(layout, SIGMA, "score", FEATURES)
        found = [compare.mean_and_error(_losses(results, f, own, size)) for size in sizes]
        middle, errors = zip(*found, strict=True)
        drawn.append(plots.Line(label, sizes, middle, errors, colour=colour))
    heading = LAYOUTS[layout].capitalize()
    return plots.Panel(
        heading, drawn, "documents per query", "NDCG loss, test", from_zero=True, ticks=sizes
    )


def _table(results: Results, sizes: list[int], tried: list[Generator]) -> Table:
    rows = []
    for own in tried:
        for size in (sizes[0], sizes[-1]):
            values = [_mean(results, f, own, size) for f in POSITIONS]
            rows.append([f"{own}, {size} documents", *compare.bold_minimum(values, digits=4)])
    return Table(["generator", *POSITIONS.values()], rows)


def covers(form: Form) -> str:
    sizes = form.pick("4 sizes up to 40, 5 repetitions", "7 sizes up to 50, 20 repetitions")
    return f"{len(LAYOUTS) * len(VARIED)} generators, {sizes}"


EXPERIMENT = Experiment(
    "p5/figure1b", "P5, Fig. 1 (b): position functions and documents", cells, report, covers
)
