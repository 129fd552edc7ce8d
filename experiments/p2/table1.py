"""P2, Table 1: the additive schemes with one weight vector, beside MaxPA and the optimal step."""

from __future__ import annotations

from experiments import compare
from experiments.experiment import Cell, Experiment, Form, Part, Results, Verdict
from experiments.p2 import enron_table
from experiments.p2.mail import (
    READINGS,
    SCHEMES,
    best_percents,
    describe_cells,
    describe_readings,
    mail_cells,
    wins,
    with_one_label,
)

Percents = dict[str, dict[str, float]]

# Table 1 of the paper: Max-SP, SimPerc, ConProj, SimProj, SimOpt, OptSolv, percent of mistakes.
PAPER = {
    "beck-s": [48.2, 48.4, 48.8, 43.4, 46.9, 45.5],
    "farmer-d": [25.8, 28.8, 28.4, 25.0, 24.2, 27.5],
    "kaminski-v": [48.0, 47.2, 47.6, 46.0, 44.4, 44.0],
    "kitchen-l": [42.5, 45.1, 43.8, 41.4, 42.4, 40.3],
    "lokay-m": [20.8, 24.1, 23.9, 18.6, 20.6, 20.3],
    "sanders-r": [18.6, 20.9, 22.2, 17.7, 19.3, 18.2],
    "williams-w3": [2.8, 3.5, 3.4, 2.7, 2.8, 2.6],
}


def cells(form: Form) -> list[Cell]:
    return [
        own
        for reading in READINGS
        for own in mail_cells(form, "shared", "euclidean", list(SCHEMES), reading)
    ]


def report(results: Results) -> list[Part]:
    found, other = (
        {update: best_percents(results, update=update, seldom_of=reading) for update in SCHEMES}
        for reading in READINGS
    )
    counts, texts = _against_max(found)
    gaps = _gaps(found)
    more, more_gaps = "", ""
    if all(other.values()):
        more = f" With the other reading of the rule for rare words: {_against_max(other)[1]}."
        more_gaps = (
            f" (with the other reading {min(_gaps(other)):+.1f} to {max(_gaps(other)):+.1f})"
        )
    first = Verdict("SimProj and SimOpt beat MaxPA.", f"{texts}.{more}", compare.holds(*counts))
    won, of, where = wins(found["simproj"], found["optimal"])
    second = Verdict(
        "SimProj is on par with the optimal solver, and sometimes better.",
        f"SimProj has fewer mistakes on {where}; with one label per text the difference is "
        f"{min(gaps):+.1f} to {max(gaps):+.1f} points{more_gaps}.",
        True if won and max(gaps) < 2 else None if won else False,
    )
    won, of, where = wins(found["simperc"], found["conproj"])
    third = Verdict(
        "Neither SimPerc nor ConProj is clearly better than the other.",
        f"SimPerc has fewer mistakes than ConProj on {where}.",
        0 < won < of,
    )
    return [
        first,
        second,
        third,
        enron_table.describe(results),
        enron_table.our_table(results, list(SCHEMES.values()), list(found.values()), PAPER),
        *enron_table.other_reading(results, list(SCHEMES.values()), other),
        "Numbers of the paper:",
        enron_table.paper_table(list(SCHEMES.values()), PAPER),
    ]


def _against_max(found: Percents) -> tuple[tuple[int, int], str]:
    """Return how often SimProj and SimOpt beat MaxPA, of how many cases, and the text."""
    counts = {SCHEMES[own]: wins(found[own], found["max"]) for own in ("simproj", "simopt")}
    text = "; ".join(f"{name} < MaxPA on {where}" for name, (_, _, where) in counts.items())
    return (
        sum(won for won, _, _ in counts.values()),
        sum(of for _, of, _ in counts.values()),
    ), text


def _gaps(found: Percents) -> list[float]:
    """Return SimProj's percentages minus those of the optimal solver, with one label per text."""
    best = with_one_label(found["optimal"])
    return [found["simproj"][name] - best[name] for name in best]


def covers(form: Form) -> str:
    return f"{describe_cells(form)}; {describe_readings(form)}"


EXPERIMENT = Experiment(
    "p2/table1", "P2, Table 1: additive schemes, one weight vector", cells, report, covers
)
