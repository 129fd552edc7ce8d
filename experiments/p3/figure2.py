"""P3, Fig. 2: the game on TMC 2007, in place of Sony CSL Paris.

Sony CSL Paris (98 features, 632 labels, 16,452 rows) is not available. In its place are the 21,519
reports of TMC 2007 with 22 labels, whose words are hashed to 98 buckets. A table compares streams
by what lists can gain over showing nothing.
"""

from __future__ import annotations

from experiments.experiment import Cell, Experiment, Form, Part, Results, Table, cell
from experiments.p3 import report as shared
from experiments.p3.game import HASHED, candidate
from experiments.p3.sweep import TIME_PANEL_SLOTS, WIDTHS, Sweep, describe_cells, stream_cells

CANDIDATES = ("tmc2007", "debtags", "yeast", "medical")

VARIANTS = {
    "as in the panels": {},
    "hashed with signs": {"signed": True},
    "rows in another order": {"shuffled": True},
}


def cells(form: Form) -> list[Cell]:
    slots = form.pick([1, 2, 5, 10, 22], [1, 2, 3, 4, 5, 7, 10, 15, 22])
    return [
        *stream_cells(form, "tmc2007", 4_000, slots, VARIANTS),
        *(
            cell(candidate, stream=stream, rows=1_500, slots=10, widths=WIDTHS)
            for stream in CANDIDATES
        ),
    ]


def report(results: Results) -> list[Part]:
    sweep = Sweep(results)
    return [
        *shared.verdicts(sweep, exception=False),
        "The paper's Sony CSL Paris (98 features, 632 labels, 16,452 rows) is not available. In "
        f"its place are the reports of TMC 2007; their words are hashed to {HASHED} buckets, and "
        "the features are the counts per bucket. "
        f"{shared.describe_setup(sweep)}",
        "**Choice of the stream.** A stream is suitable only if lists can cost less than showing "
        "nothing. Hamming losses on the first 1,500 rows, with constant c and S = 10; words are "
        f"hashed to {HASHED} buckets:",
        _candidates(results),
        shared.figure(
            "p3-figure2",
            sweep,
            "Three losses of learners with partial feedback beside OBR on TMC 2007, over time "
            "and against S",
        ),
        shared.yardstick(sweep),
        shared.effect_of_widths(sweep),
        *shared.tables(sweep),
        f"**Effect of our own choices**, for S = {TIME_PANEL_SLOTS} and the square loss with the "
        "theory's widths and with 0.01 times these. Hashing with signs removes the constant part "
        "of the features; without that part, no label can be more likely than others on all rows.",
        shared.variants(results),
    ]


def _candidates(results: Results) -> Table:
    head = ["stream", "rows", "labels", "nothing", "OBR", "partial feedback, best width"]
    rows = [
        [
            own["stream"],
            f"{found['stream_rows']:,}",
            f"{found['labels']}",
            *(f"{value:.2f}" for value in (found["nothing"], found["obr"], min(found["partial"]))),
        ]
        for own, found in results.cells
        if "widths" in own
    ]
    return Table(head, rows)


def covers(form: Form) -> str:
    return (
        f"{describe_cells(form, 4_000)}; the choice of the stream on the first 1,500 rows of "
        "each, in both forms"
    )


EXPERIMENT = Experiment(
    "p3/figure2", "P3, Fig. 2: the game on TMC 2007, hashed to 98 features", cells, report, covers
)
