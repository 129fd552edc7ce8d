"""P2, Fig. 9: mistakes against label noise, on synthetic data."""

from __future__ import annotations

import numpy as np

from experiments import compare, plots
from experiments.experiment import Cell, Experiment, Figure, Form, Part, Results, Verdict
from experiments.p2.curves import count_wins, describe_wins, means, panel, repetitions, table
from experiments.p2.synthetic import describe_cells, synthetic_cells

SIZES = (5, 20)


def cells(form: Form) -> list[Cell]:
    rates = form.pick([0.0, 0.1, 0.2], [0.0, 0.05, 0.1, 0.15, 0.2])
    points = [{"block": size, "noise": rate} for size in SIZES for rate in rates]
    return synthetic_cells(form, points, smallest=-9)


def report(results: Results) -> list[Part]:
    rates = sorted(results.values("noise"))
    parts = _verdicts(results, rates)
    parts.append(
        f"{repetitions(results)}. Most contaminated blocks have a flipped sign, so at a rate of q "
        "about 1000·q trials are mistakes for any learner."
    )
    for size in SIZES:
        parts.append(f"Blocks of {size}:")
        parts.append(table(results, "noise", rates, "contaminated blocks", block=size))
    parts.append(
        Figure(
            "p2-figure9",
            lambda: plots.lines(
                [
                    panel(
                        results,
                        f"Blocks of {size}",
                        "noise",
                        rates,
                        "probability that a block is contaminated",
                        log_y=False,
                        block=size,
                    )
                    for size in SIZES
                ]
            ),
            "Mistakes of nine schemes against label noise",
        )
    )
    return parts


def _verdicts(results: Results, rates: list[float]) -> list[Part]:
    found = {size: means(results, "noise", rates, block=size) for size in SIZES}
    fits = []
    for size in SIZES:
        for scheme in ("SimProj.A", "SimProj.M"):
            values = found[size][scheme]
            residuals = np.subtract(values, np.polyval(np.polyfit(rates, values, 1), rates))
            fits.append(1 - np.var(residuals) / max(np.var(values), 1e-9))
    first = Verdict(
        "The mistakes of the SimProj variants grow linearly with the noise.",
        f"straight lines explain {min(fits):.1%} to {max(fits):.1%} of the variance of their four "
        "curves.",
        True if min(fits) > 0.98 else None if min(fits) > 0.9 else False,
    )
    points = [{"block": size, "noise": rate} for size in SIZES for rate in rates[1:]]
    pairs = [(f"SimProj.{form}", f"MaxPA.{form}") for form in ("A", "M")]
    counts = [count_wins(results, *pair, points) for pair in pairs]
    second = Verdict(
        "Under noise the simultaneous projections beat MaxPA.",
        "; ".join(describe_wins(*pair, count) for pair, count in zip(pairs, counts, strict=True))
        + ".",
        compare.holds(sum(won for (won, _), _ in counts), sum(of for (_, of), _ in counts)),
    )
    count = count_wins(results, "SimProj.A", "SimOpt.A", points)
    third = Verdict(
        "SimOpt does worse than SimProj under noise.",
        describe_wins("SimProj.A", "SimOpt.A", count) + ".",
        compare.holds(*count[0]),
    )
    small = found[SIZES[0]]
    bests = [min(small, key=lambda scheme: small[scheme][place]) for place in range(1, len(rates))]
    fourth = Verdict(
        "With small blocks SimProj.M is best.",
        f"with blocks of {SIZES[0]} the best schemes are {', '.join(bests)} as the noise grows.",
        compare.holds(bests.count("SimProj.M"), len(bests)),
    )
    return [first, second, third, fourth]


def covers(form: Form) -> str:
    return f"{form.pick('3', '5')} rates of noise; {describe_cells(form)}"


EXPERIMENT = Experiment("p2/figure9", "P2, Fig. 9: label noise", cells, report, covers)
