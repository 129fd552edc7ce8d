"""P2, Fig. 10: mistakes over time, minus those of the optimal solver."""

from __future__ import annotations

from typing import Any

from experiments import plots
from experiments.experiment import Cell, Experiment, Figure, Form, Part, Results, Verdict
from experiments.p2 import table1
from experiments.p2.mail import SCHEMES, SEVERAL_LABELS, best, describe_cells, ends

OTHERS = [update for update in SCHEMES if update != "optimal"]


def cells(form: Form) -> list[Cell]:
    return [own for own in table1.cells(form) if "seldom_of" not in own.settings]


def report(results: Results) -> list[Part]:
    names = results.values("stream")
    curves = {
        (name, update): best(results, stream=name, update=update)[2]["curve"]
        for name in names
        for update in SCHEMES
    }
    below_max, of = {"simproj": 0, "simopt": 0}, 0
    leads = 0
    for name in names:
        if name in SEVERAL_LABELS:
            continue
        half = len(curves[name, "max"]) // 2
        for place in range(half, len(curves[name, "max"])):
            of += 1
            for update in below_max:
                below_max[update] += curves[name, update][place] < curves[name, "max"][place]
            mistakes = {update: curves[name, update][place] for update in OTHERS}
            leads += min(mistakes.values()) == mistakes["simproj"]
    shares = [below_max[update] / of for update in below_max]
    first = Verdict(
        "Over time, SimProj and SimOpt stay better than MaxPA, and SimProj is often the best.",
        "in the second half of the streams with one label per text SimProj has fewer mistakes than "
        f"MaxPA at {shares[0]:.0%} of the points, SimOpt at {shares[1]:.0%}; SimProj is the "
        f"best of the five schemes at {leads / of:.0%}.",
        True if min(shares) == 1 and 2 * leads > of else False if max(shares) < 0.5 else None,
    )
    return [
        first,
        "Cumulative mistakes minus those of the optimal solver; each scheme at its best C for the "
        "whole stream. Values below 0 are better than the optimal solver.",
        Figure(
            "p2-figure10",
            lambda: _figure(results, names, curves),
            "Cumulative mistakes of five schemes minus those of the optimal solver, by stream",
        ),
    ]


def _figure(results: Results, names: list[str], curves: dict[tuple[str, str], list[int]]) -> Any:
    panels = []
    for name in names:
        rows = results.where(stream=name)[0][1]["rows"]
        drawn = [
            plots.Line(
                SCHEMES[update],
                ends(rows),
                [
                    0,
                    *(
                        a - b
                        for a, b in zip(curves[name, update], curves[name, "optimal"], strict=True)
                    ),
                ],
                colour=colour,
                markers=False,
            )
            for colour, update in enumerate(OTHERS)
        ]
        panels.append(plots.Panel(name, drawn, "texts", "mistakes minus OptSolv's", zero_line=True))
    return plots.lines(panels)


def covers(form: Form) -> str:
    return describe_cells(form)


EXPERIMENT = Experiment("p2/figure10", "P2, Fig. 10: mistakes over time", cells, report, covers)
