"""P3, Fig. 2: the game on Debian tags, in place of Sony CSL Paris.

Sony CSL Paris (98 features, 632 labels) is not available. In its place are Debian packages with 380
tags, whose words are hashed to 98 buckets.
"""

from __future__ import annotations

from experiments.experiment import Cell, Experiment, Form, Part, Results
from experiments.p3 import report as shared
from experiments.p3.game import HASHED
from experiments.p3.sweep import TIME_PANEL_SLOTS, Sweep, stream_cells

VARIANTS = {
    "as in the panels": {},
    "hashed with signs": {"signed": True},
    "rows in another order": {"shuffled": True},
}


def cells(form: Form) -> list[Cell]:
    return stream_cells(form, "debtags", 2_000, [0.003], VARIANTS)


def report(results: Results) -> list[Part]:
    sweep = Sweep(results)
    return [
        *shared.verdicts(sweep, exception=False),
        "The paper's Sony CSL Paris (98 features, 632 labels) is not available. In its place are "
        f"Debian packages with tags; their words are hashed to {HASHED} buckets, and the features "
        f"are the counts per bucket. {shared.describe_setup(sweep)}",
        shared.figure(
            "p3-figure2",
            sweep,
            "Three losses of learners with partial feedback beside OBR on Debian tags, over time "
            "and against S",
        ),
        shared.effect_of_widths(sweep),
        *shared.tables(sweep),
        "**The ranking loss with a = 1/2:**",
        shared.ranking_with_half_a(sweep),
        f"**Effect of our own choices**, for S = {TIME_PANEL_SLOTS} and the square loss with the "
        "theory's widths and with 0.01 times these. Hashing with signs removes the constant part "
        "of the features; without that part, no label can be more likely than others on all rows.",
        shared.variants(results),
    ]


EXPERIMENT = Experiment(
    "p3/figure2", "P3, Fig. 2: the game on Debian tags, hashed to 98 features", cells, report
)
