"""P2, Fig. 8: mistakes against the number of relevant features, on synthetic data."""

from __future__ import annotations

from experiments import plots
from experiments.experiment import Cell, Experiment, Figure, Form, Part, Results, Verdict
from experiments.p2.curves import means, panel, repetitions, table
from experiments.p2.synthetic import SCHEMES, describe_cells, synthetic_cells

SIZES = (5, 20)


def cells(form: Form) -> list[Cell]:
    counts = form.pick([50, 150, 250], [50, 100, 150, 200, 250])
    points = [{"block": size, "relevant": count} for size in SIZES for count in counts]
    return synthetic_cells(form, points)


def report(results: Results) -> list[Part]:
    counts = sorted(results.values("relevant"))
    parts = _verdicts(results, counts)
    parts.append(f"{repetitions(results)}. As in the paper, MaxPA.A is not in the plot.")
    for size in SIZES:
        parts.append(f"Blocks of {size}:")
        parts.append(table(results, "relevant", counts, "relevant features", block=size))
    parts.append(
        Figure(
            "p2-figure8",
            lambda: plots.lines(
                [
                    panel(
                        results,
                        f"Blocks of {size}",
                        "relevant",
                        counts,
                        "relevant features of 500",
                        left_out=("MaxPA.A",),
                        block=size,
                    )
                    for size in SIZES
                ]
            ),
            "Mistakes of eight schemes against the number of relevant features",
        )
    )
    return parts


def _verdicts(results: Results, counts: list[int]) -> list[Part]:
    found = {size: means(results, "relevant", counts, block=size) for size in SIZES}
    ranges = {
        (size, scheme): (max(values) - min(values)) / (sum(values) / len(values))
        for size, schemes in found.items()
        for scheme, values in schemes.items()
    }
    additive = [share for (_, scheme), share in ranges.items() if scheme.endswith(".A")]
    multiplicative = [share for (_, scheme), share in ranges.items() if scheme.endswith(".M")]
    first = Verdict(
        "The sparsity of the classifier hardly affects the additive schemes, but it does affect "
        "the multiplicative ones.",
        f"from {counts[0]} to {counts[-1]} relevant features, the mistakes of additive schemes "
        f"vary by {min(additive):.0%} to {max(additive):.0%} of their mean, those of "
        f"multiplicative ones by {min(multiplicative):.0%} to {max(multiplicative):.0%}.",
        True
        if max(additive) < min(multiplicative)
        else None
        if sum(additive) / len(additive) < sum(multiplicative) / len(multiplicative)
        else False,
    )
    middle = counts.index(150)
    humps = [
        (size, scheme)
        for size in SIZES
        for scheme in SCHEMES
        if scheme.endswith(".M")
        and found[size][scheme][0] < found[size][scheme][middle] > found[size][scheme][-1]
    ]
    of = len(SIZES) * sum(scheme.endswith(".M") for scheme in SCHEMES)
    second = Verdict(
        "Multiplicative schemes get worse up to 30% of relevant features, then better.",
        f"{len(humps)} of {of} curves rise from {counts[0]} to 150 relevant features and then fall "
        f"to {counts[-1]}.",
        True if len(humps) == of else False if 2 * len(humps) < of else None,
    )
    return [first, second]


def covers(form: Form) -> str:
    return f"{form.pick('3', '5')} numbers of relevant features; {describe_cells(form)}"


EXPERIMENT = Experiment("p2/figure8", "P2, Fig. 8: sparsity", cells, report, covers)
