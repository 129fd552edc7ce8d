"""P5, Fig. 1 (b): NDCG loss by number of documents per query, after 30 queries."""

from __future__ import annotations

from itertools import pairwise
from math import isnan, nan
from statistics import mean

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


def cells(form: Form) -> list[Cell]:
    sizes = form.pick([5, 10, 20, 40], [5, 10, 15, 20, 30, 40, 50])
    return [
        cell(
            learn,
            layout=layout,
            sigma=sigma,
            ties=ties,
            documents=size,
            features=FEATURES,
            queries=QUERIES,
            ends=[QUERIES],
            positions=list(POSITIONS),
            repetition=repetition,
        )
        for layout in LAYOUTS
        for sigma, ties in [*((sigma, "score") for sigma in SIGMAS), (SIGMA, "index")]
        for size in sizes
        for repetition in range(form.pick(5, 20))
    ]


def report(results: Results) -> list[Part]:
    sizes = sorted(results.values("documents"))
    return [
        *_verdicts(results, sizes),
        f"{describe_open_choices()}; {QUERIES} training queries as in the paper, {FEATURES} "
        f"features, η = 1; means of {len(results.values('repetition'))} repetitions, tested on "
        f"{TESTED} queries. The panels have σ = {SIGMA:g}. With more documents there are more "
        "grades, and the gain doubles from one grade to the next, so NDCG depends on the first few "
        "positions.",
        Figure(
            "p5-figure1b",
            lambda: plots.lines([_panel(results, layout, sizes) for layout in LAYOUTS]),
            "NDCG loss against documents per query for four position functions, in three layouts",
        ),
        _table(results, sizes),
    ]


def _losses(
    results: Results, f: str, layout: str, sigma: float, size: int, ties: str = "score"
) -> list[float]:
    found = losses(results, f, layout=layout, sigma=sigma, documents=size, ties=ties)
    return [value for (value,) in found if value is not None]


def _mean(
    results: Results, f: str, layout: str, sigma: float, size: int, ties: str = "score"
) -> float:
    """Return the mean over repetitions; NaN if no repetition has a relevant document."""
    found = _losses(results, f, layout, sigma, size, ties)
    return mean(found) if found else nan


def _verdicts(results: Results, sizes: list[int]) -> list[Part]:
    grown = {
        ties: [
            later > earlier
            for layout in LAYOUTS
            for f in ("1/i", *STEEP)
            for earlier, later in pairwise(
                _mean(results, f, layout, SIGMA, size, ties) for size in sizes
            )
        ]
        for ties in ("score", "index")
    }
    counts = [(sum(found), len(found)) for found in grown.values()]
    further, texts = 0, []
    for layout in LAYOUTS:
        reach = {}
        for f in POSITIONS:
            found = [_mean(results, f, layout, SIGMA, size) for size in sizes]
            low = [size for size, value in zip(sizes, found, strict=True) if value < ZERO]
            reach[f] = max(low, default=0)
        further += all(reach[f] > reach["1/i"] for f in STEEP)
        texts.append(
            f"{layout}, " + ", ".join(f"{POSITIONS[f]}: {reach[f] or 'none'}" for f in reach)
        )
    settings = [(layout, sigma, size) for layout in LAYOUTS for sigma in SIGMAS for size in sizes]
    compared = [
        (_mean(results, f, *own), _mean(results, "1/i", *own)) for f in STEEP for own in settings
    ]
    wins = [steep < flat for steep, flat in compared if not isnan(flat)]
    return [
        Verdict(
            "The loss grows with the number of documents, for every position function.",
            f"from one size to the next it grows in {counts[0][0]} of {counts[0][1]} steps if "
            f"tied grades are sorted by score, and in {counts[1][0]} of {counts[1][1]} if they are "
            "sorted by index.",
            compare.holds(*map(sum, zip(*counts, strict=True))),
        ),
        Verdict(
            "f₂ and f₃ keep the loss at zero up to more documents than f₁.",
            f"this holds in {further} of {len(LAYOUTS)} layouts. The largest number of documents, "
            f"up to {sizes[-1]}, with a loss below {ZERO:g}: {'; '.join(texts)}. Over all layouts, "
            f"σ and sizes, f₂ and f₃ have a lower loss than f₁ in {sum(wins)} of {len(wins)} "
            "cases.",
            compare.holds(further, len(LAYOUTS)),
        ),
    ]


def _panel(results: Results, layout: str, sizes: list[int]) -> plots.Panel:
    drawn = []
    for colour, (f, label) in enumerate(POSITIONS.items()):
        found = [compare.mean_and_error(_losses(results, f, layout, SIGMA, size)) for size in sizes]
        middle, errors = zip(*found, strict=True)
        drawn.append(plots.Line(label, sizes, middle, errors, colour=colour))
    heading = LAYOUTS[layout].capitalize()
    return plots.Panel(
        heading, drawn, "documents per query", "NDCG loss, test", from_zero=True, ticks=sizes
    )


def _table(results: Results, sizes: list[int]) -> Table:
    rows = []
    for layout in LAYOUTS:
        for sigma in SIGMAS:
            for size in (sizes[0], sizes[-1]):
                values = [_mean(results, f, layout, sigma, size) for f in POSITIONS]
                label = f"{layout}, σ = {sigma:g}, {size} documents"
                rows.append([label, *compare.bold_minimum(values, digits=4)])
    return Table(["means", *POSITIONS.values()], rows)


EXPERIMENT = Experiment(
    "p5/figure1b", "P5, Fig. 1 (b): position functions and documents", cells, report
)
