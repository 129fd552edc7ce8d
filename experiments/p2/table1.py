"""P2, Table 1: the additive schemes with one weight vector, beside MaxPA and the optimal step."""

from __future__ import annotations

from experiments import compare
from experiments.experiment import Cell, Experiment, Form, Part, Results, Verdict
from experiments.p2 import enron_table
from experiments.p2.mail import SCHEMES, best_percents, mail_cells

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
    return mail_cells(form, "shared", "euclidean", list(SCHEMES))


def report(results: Results) -> list[Part]:
    found = {update: best_percents(results, update=update) for update in SCHEMES}
    counts = {
        SCHEMES[update]: compare.wins(found[update], found["max"])
        for update in ("simproj", "simopt")
    }
    first = Verdict(
        "SimProj and SimOpt beat MaxPA.",
        "; ".join(f"{name} < MaxPA on {won} of {of} streams" for name, (won, of) in counts.items())
        + ".",
        compare.holds(sum(w for w, _ in counts.values()), sum(o for _, o in counts.values())),
    )
    gaps = [found["simproj"][name] - found["optimal"][name] for name in found["optimal"]]
    won, of = compare.wins(found["simproj"], found["optimal"])
    second = Verdict(
        "SimProj is on par with the optimal solver, and sometimes better.",
        f"SimProj has fewer mistakes on {won} of {of} streams; the difference is "
        f"{min(gaps):+.1f} to {max(gaps):+.1f} points.",
        True if won and max(gaps) < 2 else None if won else False,
    )
    won, of = compare.wins(found["simperc"], found["conproj"])
    third = Verdict(
        "Neither SimPerc nor ConProj is clearly better than the other.",
        f"SimPerc has fewer mistakes than ConProj on {won} of {of} streams.",
        0 < won < of,
    )
    return [
        first,
        second,
        third,
        enron_table.describe(results),
        enron_table.our_table(results, list(SCHEMES.values()), list(found.values()), PAPER),
        "Numbers of the paper:",
        enron_table.paper_table(list(SCHEMES.values()), PAPER),
    ]


EXPERIMENT = Experiment(
    "p2/table1", "P2, Table 1: additive schemes, one weight vector", cells, report
)
