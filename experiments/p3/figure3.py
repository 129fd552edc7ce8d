"""P3, Fig. 3: the game on Mediamill."""

from __future__ import annotations

from experiments.experiment import Cell, Experiment, Form, Part, Results
from experiments.p3 import report as shared
from experiments.p3.sweep import LEFT, VARIANTS, Sweep, stream_cells


def cells(form: Form) -> list[Cell]:
    return stream_cells(form, "mediamill", 3_000, [0.01, 0.003], VARIANTS)


def report(results: Results) -> list[Part]:
    sweep = Sweep(results)
    return [
        *shared.verdicts(sweep, exception=True),
        f"Mediamill, 120 features. {shared.opening(sweep)}",
        shared.figure(
            "p3-figure3",
            sweep,
            "Three losses of learners with partial feedback beside OBR on Mediamill, over time and "
            "against S",
        ),
        shared.what_is_shown(sweep),
        shared.what_is_lost(sweep),
        *shared.tables(sweep),
        "**If a = 1/2 is taken at its word**, lists end where a further label is not worth its "
        "cost, and the ranking loss counts what is missing:",
        shared.literal_ranking(sweep),
        f"**What depends on the other open choices**, S = {LEFT}, the square loss with the "
        "theory's widths and with 0.01 of them:",
        shared.variants(results),
    ]


EXPERIMENT = Experiment("p3/figure3", "P3, Fig. 3: the game on Mediamill", cells, report)
