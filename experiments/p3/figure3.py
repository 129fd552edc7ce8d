"""P3, Fig. 3: the game on Mediamill."""

from __future__ import annotations

from experiments.experiment import Cell, Experiment, Form, Part, Results
from experiments.p3 import report as shared
from experiments.p3.sweep import TIME_PANEL_SLOTS, VARIANTS, Sweep, describe_cells, stream_cells


def cells(form: Form) -> list[Cell]:
    slots = form.pick([1, 2, 5, 10, 25, 60, 101], [1, 2, 3, 5, 10, 15, 20, 30, 40, 60, 80, 101])
    return stream_cells(form, "mediamill", 3_000, slots, VARIANTS)


def report(results: Results) -> list[Part]:
    sweep = Sweep(results)
    return [
        *shared.verdicts(sweep, exception=True),
        f"Mediamill, 120 features. {shared.describe_setup(sweep)}",
        shared.figure(
            "p3-figure3",
            sweep,
            "Three losses of learners with partial feedback beside OBR on Mediamill, over time and "
            "against S",
        ),
        shared.yardstick(sweep),
        shared.effect_of_widths(sweep),
        shared.cost_of_narrow_widths(sweep),
        *shared.tables(sweep),
        f"**Effect of the other open choices**, for S = {TIME_PANEL_SLOTS} and the square loss "
        "with the theory's widths and with 0.01 times these:",
        shared.variants(results),
    ]


def covers(form: Form) -> str:
    return describe_cells(form, 3_000)


EXPERIMENT = Experiment("p3/figure3", "P3, Fig. 3: the game on Mediamill", cells, report, covers)
