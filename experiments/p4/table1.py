"""P4, Table 1: training times of M3L (R = I), LIBLINEAR and LIBSVM by number of rows.

The paper gives neither C nor tolerances nor the kernel's width; here the duality gaps are shown
with the seconds.
"""

from __future__ import annotations

from typing import Any

from experiments import compare, plots
from experiments.experiment import (
    Cell,
    Experiment,
    Figure,
    Form,
    Part,
    Result,
    Results,
    Settings,
    Table,
    Verdict,
    cell,
)
from experiments.p4 import peers, sets

PROBLEMS = {
    "linear": "linear: LIBLINEAR, LM3L",
    "products": "linear: LIBSVM, KM3L",
    "rbf": "RBF: LIBSVM, KM3L",
}
PAPER = {
    ("animals", 2_000): [(3, 7), (234, 15), (250, 20)],
    ("animals", 10_000): [(48, 51), (5438, 245), (6208, 501)],
    ("animals", 15_000): [(68, 74), (11990, 500), (13875, 922)],
    ("animals", 24_292): [(102, 104), (29328, 1087), (34770, 3016)],
    ("rcv1", 2_000): [(7, 4), (54, 6), (139, 11)],
    ("rcv1", 10_000): [(23, 27), (743, 110), (1589, 177)],
    ("rcv1", 15_000): [(33, 43), (1407, 230), (2893, 369)],
    ("rcv1", 23_149): [(45, 57), (2839, 513), (5600, 817)],
    ("tmc2007", 2_000): [(1, 1), (27, 5), (43, 7)],
    ("tmc2007", 10_000): [(2, 2), (527, 126), (775, 185)],
    ("tmc2007", 15_000): [(3, 3), (1118, 288), (1610, 422)],
    ("tmc2007", 21_519): [(5, 5), (2191, 598), (3095, 878)],
    ("mediamill", 2_000): [(2, 2), (11, 2), (15, 6)],
    ("mediamill", 10_000): [(18, 19), (456, 57), (505, 123)],
    ("mediamill", 15_000): [(35, 37), (1014, 124), (1107, 275)],
    ("mediamill", 25_000): [(62, 75), (2662, 337), (2902, 761)],
    ("mediamill", 30_993): [(84, 97), (4168, 527), (4484, 1162)],
}
"""The paper's seconds by set and rows: the peer and M3L, for each of the problems."""
FULL = {
    "animals": [2_000, 10_000, 15_000, 24_292],
    "rcv1": [2_000, 4_000, 6_000],
    "tmc2007": [2_000, 10_000, 15_000, 21_519],
    "mediamill": [2_000, 10_000, 15_000, 25_000, 30_993],
}
QUICK = [500, 2_000]
COMPARABLE = 2.0
"""Times within this factor count as comparable."""


def cells(form: Form) -> list[Cell]:
    return [
        cell(run, set=name, rows=rows, problem=problem, sample=form.pick(3, 20))
        for name in FULL
        for rows in form.pick(QUICK, FULL[name])
        for problem in PROBLEMS
    ]


def run(settings: Settings) -> Result:
    """Return seconds and gaps of the peer (scaled up from a sample of labels) and of M3L."""
    name, problem = settings["set"], settings["problem"]
    part = peers.first_rows(sets.load(name).train, settings["rows"])
    labels = peers.spread_sample(part.Y, settings["sample"])
    own: dict[str, Any]
    if problem == "linear":
        seconds, gap = peers.liblinear(part, labels)
        own = {}
    else:
        kernel, gamma = ("rbf", peers.GAMMA[name]) if problem == "rbf" else ("linear", 1.0)
        each = [peers.libsvm(part, label, kernel, gamma, peers.LIBSVM_EPS) for label in labels]
        seconds = sum(found["seconds"] for found in each)
        duals = sum(found["dual"] for found in each)
        gap = sum(found["gap"] * found["dual"] for found in each) / duals
        # A polynomial kernel of degree 1 is a linear kernel that the kernel solver handles.
        own = {"kernel": "rbf" if problem == "rbf" else "poly", "gamma": gamma, "degree": 1}
    ours, ours_gap, tol = peers.fit_to_gap(part, gap, **own)
    return {
        "labels": part.Y.shape[1],
        "sampled": len(labels),
        "peer": seconds * part.Y.shape[1] / len(labels),
        "peer_gap": gap,
        "ours": ours,
        "ours_gap": ours_gap,
        "tol": tol,
    }


def report(results: Results) -> list[Part]:
    names = results.values("set")
    sampled = max(result["sampled"] for _, result in results.cells)
    return [
        *_verdicts(results),
        f"{sets.describe(names)} R = I, C = {peers.C:g}; labels without rows are left out. Seconds "
        "are processor time of one thread. LIBLINEAR and LIBSVM are called through scikit-learn, "
        "whose share of the time counts; LIBLINEAR has no bias. Both have their default tolerances "
        f"and train {sampled} labels of all frequencies; their seconds are scaled up to all "
        "labels. Gaps are relative duality gaps; M3L trains all labels until its gap is not larger "
        "than the peer's. The paper used another machine, so only its ratios can be compared. It "
        "gives neither C, nor tolerances, nor the width of the RBF kernel; here γ is "
        + ", ".join(f"{peers.GAMMA[name]:g} on {name}" for name in names)
        + ", with rows of unit length.",
        _table(results),
        Figure(
            "p4-table1",
            lambda: _figure(results),
            "Training times against rows, M3L beside LIBLINEAR and LIBSVM, by data set",
        ),
    ]


def _ratio(result: Result) -> float:
    """The speed of M3L as a multiple of the peer's; times below 1 ms count as 1 ms."""
    return float(max(result["peer"], 1e-3) / max(result["ours"], 1e-3))


def _verdicts(results: Results) -> list[Part]:
    linear = [_ratio(result) for _, result in results.where(problem="linear")]
    comparable = sum(1 / COMPARABLE <= ratio <= COMPARABLE for ratio in linear)
    slower = sum(ratio < 1 for ratio in linear)
    kernels = {
        problem: [_ratio(result) for _, result in results.where(problem=problem)]
        for problem in ("products", "rbf")
    }
    both = kernels["products"] + kernels["rbf"]
    faster = sum(ratio > 1 for ratio in both)
    growth = sum(
        _ratio(results.where(set=name, problem=problem)[-1][1])
        > _ratio(results.where(set=name, problem=problem)[0][1])
        for name in results.values("set")
        for problem in kernels
    )
    return [
        Verdict(
            "Linear M3L and LIBLINEAR take about the same time; LIBLINEAR is slightly faster.",
            f"LIBLINEAR is faster in {slower} of {len(linear)} cases, and within a factor of "
            f"{COMPARABLE:g} of M3L in {comparable}; M3L is {min(linear):.1f} to "
            f"{max(linear):.1f} times as fast (median {compare.median_text(linear)}).",
            compare.holds(sum(1 / COMPARABLE <= ratio < 1 for ratio in linear), len(linear)),
        ),
        Verdict(
            "Kernelised M3L is significantly faster than LIBSVM, up to 30 times.",
            f"it is faster in {faster} of {len(both)} cases: "
            + ", ".join(
                f"{min(found):.1f} to {max(found):.1f} times with the {name} (median "
                f"{compare.median_text(found)})"
                for name, found in (
                    ("linear kernel", kernels["products"]),
                    ("RBF kernel", kernels["rbf"]),
                )
            )
            + f". The factor grows from the fewest rows to the most in {growth} of "
            f"{2 * len(results.values('set'))} cases.",
            compare.holds(faster, len(both)),
        ),
    ]


def _table(results: Results) -> Table:
    head = ["data set, labels", "rows", "kernel: peer, M3L", "peer s", "gap", "M3L s", "gap"]
    head += ["times as fast"]
    rows = []
    for own, result in results.cells:
        name, count, problem = own["set"], own["rows"], own["problem"]
        line = [f"{name}, {result['labels']}", f"{count:,}", PROBLEMS[problem]]
        line += [f"{result['peer']:.2f}", f"{result['peer_gap']:.1e}"]
        line += [f"{result['ours']:.2f}", f"{result['ours_gap']:.1e}", f"{_ratio(result):.1f}"]
        printed = PAPER.get((name, count))
        if printed is None:
            line += ["–", "–", "–"]
        else:
            peer, ours = printed[list(PROBLEMS).index(problem)]
            line += [f"{peer:,}", f"{ours:,}", f"{peer / ours:.1f}"]
        rows.append(line)
    return Table([*head, "paper: peer s", "M3L s", "times as fast"], rows)


def _figure(results: Results) -> Any:
    panels = []
    for name in results.values("set"):
        lines = []
        for colour, problem in enumerate(PROBLEMS):
            kernel, _, both = PROBLEMS[problem].partition(": ")
            found = results.where(set=name, problem=problem)
            for side, label in zip(("peer", "ours"), both.split(", "), strict=True):
                lines.append(
                    plots.Line(
                        f"{label}, {kernel}",
                        [own["rows"] for own, _ in found],
                        [max(result[side], 1e-3) for _, result in found],
                        colour=colour,
                        dashed=side == "peer",
                    )
                )
        ticks = sorted({own["rows"] for own, _ in results.where(set=name)})
        panels.append(
            plots.Panel(name, lines, "rows", "seconds", log_x=True, log_y=True, ticks=ticks)
        )
    return plots.lines(panels)


def covers(form: Form) -> str:
    rows = form.pick(
        "500 and 2,000 rows per data set",
        "2,000 rows to the whole training set; of RCV1 6,000 of the paper's 23,149 rows",
    )
    return (
        f"{rows}; LIBLINEAR and LIBSVM on a sample of {form.pick(3, 20)} labels, scaled up to all"
    )


EXPERIMENT = Experiment("p4/table1", "P4, Table 1: training times", cells, report, covers)
