"""Shared by Figs. 7 to 9: tables and plots of mistakes of all schemes over one quantity."""

from __future__ import annotations

from statistics import mean
from typing import Any

from experiments import compare, plots
from experiments.experiment import Results, Table
from experiments.p2.synthetic import ADDITIVE, MULTIPLICATIVE, SCHEMES, best

COLOURS = {
    name: place for names in (ADDITIVE, MULTIPLICATIVE) for place, name in enumerate(names.values())
}


def means(results: Results, over: str, values: list[Any], **point: Any) -> dict[str, list[float]]:
    """Return the mean mistakes of each scheme at each value of the setting ``over``."""
    return {
        scheme: [mean(best(results, scheme, **point, **{over: value})) for value in values]
        for scheme in SCHEMES
    }


def count_wins(
    results: Results, better: str, worse: str, points: list[dict[str, Any]]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how often a scheme has fewer mistakes than another: in means, in repetitions."""
    runs = [(best(results, better, **point), best(results, worse, **point)) for point in points]
    on_average = sum(mean(ours) < mean(theirs) for ours, theirs in runs)
    single = [a < b for ours, theirs in runs for a, b in zip(ours, theirs, strict=True)]
    return (on_average, len(runs)), (sum(single), len(single))


def describe_wins(better: str, worse: str, counts: tuple[tuple[int, int], tuple[int, int]]) -> str:
    """Return the result of ``count_wins`` as text."""
    (won, of), (singly, runs) = counts
    return f"{better} < {worse} in {won} of {of} means and {singly} of {runs} single repetitions"


def panel(
    results: Results,
    heading: str,
    over: str,
    values: list[Any],
    x_label: str,
    left_out: tuple[str, ...] = (),
    log_x: bool = False,
    log_y: bool = True,
    **point: Any,
) -> plots.Panel:
    """Return a panel with one line per scheme and standard errors as error bars."""
    drawn = []
    for scheme, (geometry, _) in SCHEMES.items():
        if scheme in left_out:
            continue
        spreads = [
            compare.mean_and_error(best(results, scheme, **point, **{over: value}))
            for value in values
        ]
        middle, errors = zip(*spreads, strict=True)
        drawn.append(
            plots.Line(
                scheme,
                values,
                middle,
                errors,
                colour=COLOURS[scheme],
                dashed=geometry == "entropic",
            )
        )
    return plots.Panel(
        heading,
        drawn,
        x_label,
        "mistakes in 1,000 trials",
        log_x=log_x,
        log_y=log_y,
        from_zero=not log_y,
        ticks=values,
    )


def table(results: Results, over: str, values: list[Any], title: str, **point: Any) -> Table:
    """Return mean mistakes and standard errors, with the lowest of each row in bold."""
    rows = []
    for value in values:
        found = [
            compare.mean_and_error(best(results, scheme, **point, **{over: value}))
            for scheme in SCHEMES
        ]
        least = compare.bold_minimum([middle for middle, _ in found], digits=0)
        shown = [f"{text} ± {error:.0f}" for text, (_, error) in zip(least, found, strict=True)]
        rows.append([f"{value:g}", *shown])
    return Table([title, *SCHEMES], rows)


def repetitions(results: Results) -> str:
    """Return the text on the number of repetitions."""
    return f"Means and standard errors of {len(results.values('repetition'))} repetitions"
