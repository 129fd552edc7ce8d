"""Supplements to Table 1: the effect of C and margin, iterations of the interior point method."""

from __future__ import annotations

from typing import Any

from experiments import compare, plots
from experiments.experiment import Part, Results, Table
from experiments.p1.sweep import GEOMETRIES, UPDATES, Sweep, Sweeps

PAPER_ITERATIONS = 15
"""Section 5: "the number of iterations required by the PDIP algorithm never exceeded 15"."""


def tuning(names: list[str], sweeps: Sweeps, unit: dict[tuple[str, str], Sweep]) -> list[Part]:
    """Report how much the results depend on the choice of C and margin."""
    same = {geometry: _same_setting(names, sweeps, geometry) for geometry in GEOMETRIES}
    ranges = [
        sweeps[name, "optimal", geometry].worst - sweeps[name, "optimal", geometry].best
        for name in names
        for geometry in GEOMETRIES
    ]
    gains = [
        abs(sweeps[name, "single", geometry].best - sweeps[name, "optimal", geometry].best)
        for name in names
        for geometry in GEOMETRIES
    ]
    switch = sum(
        sweeps[name, "optimal", "entropic"].worst > sweeps[name, "optimal", "euclidean"].best
        for name in names
    )
    units = [
        unit[name, "optimal"].best - sweeps[name, "optimal", "euclidean"].best for name in names
    ]
    edge = sum(
        sweeps[name, update, "entropic"].at_edge
        for name in names
        for update in ("single", "optimal")
    )
    text = (
        f"**Effect of tuning.** Over the sweep, the mistakes of Update III vary by "
        f"{compare.median_text(ranges)} points (median over streams and geometries), while III and "
        f"II at their best settings differ by {compare.median_text(gains)} points. At the same "
        f"setting, III beats II in {same['euclidean'][0]} of {same['euclidean'][1]} Euclidean and "
        f"{same['entropic'][0]} of {same['entropic'][1]} entropic cases. At its worst setting, "
        f"the entropic Update III loses to the best Euclidean one on {switch} of {len(names)} "
        f"streams. Rows of unit length, which the paper does not mention, change the Euclidean "
        f"Update III by "
        f"{min(units):+.1f} to {max(units):+.1f} points. "
        f"The best entropic setting lies at the edge of the sweep in {edge} of {2 * len(names)} "
        f"cases of Updates II and III."
    )
    head = [
        "stream, update",
        *("Euclidean best", "worst", "C", "unit rows, best"),
        *("entropic best", "worst", "C", "γ"),
    ]
    rows = []
    for name in names:
        for update, numeral in UPDATES.items():
            linear, curved = sweeps[name, update, "euclidean"], sweeps[name, update, "entropic"]
            is_fixed = update == "fixed"
            rows.append(
                [
                    f"{name}, {numeral}",
                    f"{linear.best:.1f}",
                    f"{linear.worst:.1f}",
                    "any" if is_fixed else f"{linear.chosen[0]:.3g}",
                    f"{unit[name, update].best:.1f}",
                    f"{curved.best:.1f}",
                    f"{curved.worst:.1f}",
                    f"{curved.chosen[0]:.3g}",
                    "any" if is_fixed else f"{curved.chosen[1]:g}",
                ]
            )
    return [text, Table(head, rows), *_margins_tried(names, sweeps)]


def _margins_tried(names: list[str], sweeps: Sweeps) -> list[Part]:
    """Report how the comparison of geometries depends on the margins tried."""
    example = sweeps[names[0], "optimal", "entropic"].percent
    margins = sorted({margin for _, margin in example})
    settings = len(sweeps[names[0], "optimal", "euclidean"].percent)
    rows = []
    for margin in reversed(margins):
        cells = []
        for update in ("single", "optimal"):
            entropic = {name: sweeps[name, update, "entropic"].best_from(margin) for name in names}
            euclidean = {name: sweeps[name, update, "euclidean"].best for name in names}
            won, of = compare.wins(entropic, euclidean)
            cells.append(f"{won} of {of}")
        rows.append([f"{margin:g}", *cells])
    text = (
        f"The entropic learner was tried at {len(example)} settings, the Euclidean one at "
        f"{settings}. The number of streams on which entropic beats Euclidean, each at its best "
        "setting, depends on the smallest margin that is tried:"
    )
    return [text, Table(["smallest margin tried", "Update II", "Update III"], rows)]


def _same_setting(names: list[str], sweeps: Sweeps, geometry: str) -> tuple[int, int]:
    """Return in how many cases III beats II at the same C and margin, and of how many."""
    counts = [
        compare.wins(
            sweeps[name, "optimal", geometry].percent, sweeps[name, "single", geometry].percent
        )
        for name in names
    ]
    return sum(won for won, _ in counts), sum(of for _, of in counts)


def interior_point(results: Results) -> list[Part]:
    found = [(own["stream"], result) for own, result in results.cells if "percent" not in result]
    over = sum(
        one[geometry]["most"] > PAPER_ITERATIONS for _, one in found for geometry in GEOMETRIES
    )
    text = (
        f"**The interior point method.** The paper needed at most {PAPER_ITERATIONS} iterations "
        'per round, to a tolerance that it does not state. `solver="interior-point"` stops at a '
        "duality gap of 1e-13 γC or after 100 iterations. It needs more iterations than the paper "
        f"in {over} of {2 * len(found)} cases (C = 1, γ = 1 and 0.03). All other figures on this "
        "page are from the exact solver."
    )
    head = ["stream", "texts", "Euclidean, most", "mean", "entropic, most", "mean"]
    rows = [
        [
            name,
            f"{one['rows']:,}",
            *(
                text
                for geometry in GEOMETRIES
                for text in (f"{one[geometry]['most']}", f"{one[geometry]['mean']:.1f}")
            ),
        ]
        for name, one in found
    ]
    return [text, Table(head, rows)]


def figure(names: list[str], sweeps: Sweeps) -> Any:
    panels = []
    for name in names:
        drawn = []
        for geometry, title in GEOMETRIES.items():
            for colour, (update, numeral) in enumerate(UPDATES.items()):
                sweep = sweeps[name, update, geometry]
                C, percent = sweep.over_C()
                if len(C) == 1:  # mistakes do not depend on C
                    C = sweeps[name, "single", geometry].over_C()[0]
                    percent = percent * len(C)
                dashed = geometry == "entropic"
                label = f"{numeral} {title}"
                drawn.append(plots.Line(label, C, percent, colour=colour, dashed=dashed))
        panels.append(plots.Panel(name, drawn, "C", "mistakes, %", log_x=True))
    return plots.lines(panels)
