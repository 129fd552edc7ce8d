"""P2, Fig. 7: mistakes against the size of the blocks, on synthetic data."""

from __future__ import annotations

from typing import Any

from experiments import compare, plots
from experiments.experiment import Cell, Experiment, Figure, Form, Part, Results, Table, Verdict
from experiments.p2.curves import count_wins, describe_wins, means, panel, repetitions, table
from experiments.p2.synthetic import SCHEMES, ZEROS, describe_cells, synthetic_cells

# The paper gives neither the block sizes nor the probability of zeros: these are our choices.
ZEROS_TRIED = [0.0, ZEROS, 0.9, 0.98]


def cells(form: Form) -> list[Cell]:
    sizes = form.pick([2, 5, 10, 20], [2, 5, 10, 20, 30, 50])
    points: list[dict[str, Any]] = [{"block": size} for size in sizes]
    sizes = form.pick([5], [5, 20])
    points += [{"block": size, "zeros": zeros} for size in sizes for zeros in ZEROS_TRIED]
    found = synthetic_cells(form, points)
    return list({own.key: own for own in found}.values())


def report(results: Results) -> list[Part]:
    sizes = sorted(results.values("block"))
    found = means(results, "block", sizes, zeros=ZEROS)
    return [
        *_verdicts(results, sizes, found),
        "Entries are 0 with a probability that the paper does not give; here it is "
        f"{ZEROS:g}, and below it is varied. A mistake is a trial in which some row is "
        f"misclassified. {repetitions(results)}; each scheme has the C (and the margin, if "
        "multiplicative) that is best on average.",
        table(results, "block", sizes, "rows per block", zeros=ZEROS),
        Figure(
            "p2-figure7",
            lambda: plots.lines(
                [
                    panel(
                        results,
                        "Mistakes by block size",
                        "block",
                        sizes,
                        "rows per block",
                        log_x=True,
                        zeros=ZEROS,
                    )
                ]
            ),
            "Mistakes of nine schemes against the size of the blocks",
        ),
        *_effect_of_zeros(results),
    ]


def _verdicts(results: Results, sizes: list[int], found: dict[str, list[float]]) -> list[Part]:
    points = [{"block": size, "zeros": ZEROS} for size in sizes]
    pairs = [(f"SimProj.{form}", f"MaxPA.{form}") for form in ("A", "M")]
    counts = [count_wins(results, *pair, points) for pair in pairs]
    first = Verdict(
        "SimProj always makes fewer mistakes than the maximal update.",
        "; ".join(describe_wins(*pair, count) for pair, count in zip(pairs, counts, strict=True))
        + ".",
        compare.holds(sum(won for (won, _), _ in counts), sum(of for (_, of), _ in counts)),
    )
    growing = ["MaxPA.A", *(name for name in SCHEMES if name.endswith(".M"))]
    falling = ["SimProj.A", "SimOpt.A"]
    as_claimed = [name for name in growing if found[name][-1] > found[name][0]]
    as_claimed += [name for name in falling if found[name][-1] < found[name][0]]
    changes = ", ".join(
        f"{name} {found[name][0]:.0f} → {found[name][-1]:.0f}" for name in [*falling, *growing]
    )
    second = Verdict(
        "As blocks grow, MaxPA.A and the multiplicative schemes get worse, SimProj.A and SimOpt.A "
        "better.",
        f"this holds for {len(as_claimed)} of {len(growing + falling)} schemes; from blocks of "
        f"{sizes[0]} to blocks of {sizes[-1]}: {changes}.",
        compare.holds(len(as_claimed), len(growing + falling)),
    )
    return [first, second]


def _effect_of_zeros(results: Results) -> list[Part]:
    rows, wins = [], []
    sizes = [own["block"] for own, _ in results.where(zeros=ZEROS_TRIED[-1], repetition=0)]
    for size in sizes:
        found = means(results, "zeros", ZEROS_TRIED, block=size)
        for place, zeros in enumerate(ZEROS_TRIED):
            values = [found[scheme][place] for scheme in SCHEMES]
            rows.append([f"{zeros:g}, blocks of {size}", *compare.bold_minimum(values, digits=0)])
            wins.append(
                sum(
                    found[f"SimProj.{form}"][place] < found[f"MaxPA.{form}"][place]
                    for form in ("A", "M")
                )
            )
    text = (
        f"**Effect of the probability of zeros.** SimProj beats MaxPA in {sum(wins)} of "
        f"{2 * len(wins)} comparisons over these settings."
    )
    return [text, Table(["share of zeros", *SCHEMES], rows)]


def covers(form: Form) -> str:
    return f"{form.pick('4 block sizes', '6 block sizes')}; {describe_cells(form)}"


EXPERIMENT = Experiment("p2/figure7", "P2, Fig. 7: the size of the blocks", cells, report, covers)
