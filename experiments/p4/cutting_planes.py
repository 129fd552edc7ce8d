"""P4, Section 7.1: cutting planes on the exponential problem, beside M3L on the linear one."""

from __future__ import annotations

import numpy as np

from experiments import compare
from experiments.experiment import (
    Cell,
    Experiment,
    Form,
    Part,
    Result,
    Results,
    Settings,
    Table,
    Verdict,
    cell,
)
from experiments.p4 import one_slack, peers, sets
from tagalong.batch.m3l.priors import cooccurrence_prior

# Rows of Media Mill: seconds of M3L, of SVM-struct.
PAPER = {10_000: (19, 1995), 15_000: (37, 2998), 20_000: (55, 7198)}
GAP = 1e-3


def cells(form: Form) -> list[Cell]:
    return [
        cell(run, set=name, rows=rows, prior=prior)
        for name in ("mediamill", "yeast")
        for rows in form.pick([100, 200], [200, 500, 1_000])
        for prior in ("I", "cooccurrence")
    ]


def run(settings: Settings) -> Result:
    """Return seconds and bounds of both solvers, at the same relative gap."""
    part = peers.first_rows(sets.load(settings["set"]).train, settings["rows"])
    count = part.Y.shape[1]
    R = np.eye(count) if settings["prior"] == "I" else cooccurrence_prior(part.Y.T @ part.Y)
    seconds, found = peers.timed(lambda: one_slack.solve(part.X, part.Y, R, peers.C, GAP))
    prior = None if settings["prior"] == "I" else R
    ours, _, tol = peers.fit_to_gap(part, GAP, prior=prior, max_iter=5000)
    model = peers.m3l(part, prior=prior, tol=tol, max_iter=5000)
    return {
        "labels": count,
        "cuts": found.cuts,
        "lower": found.lower,
        "upper": found.upper,
        "seconds": seconds,
        "ours": ours,
        "ours_lower": model.dual_objective_,
        "ours_upper": model.dual_objective_ + model.duality_gap_,
    }


def report(results: Results) -> list[Part]:
    found = [result for _, result in results.cells]
    same = sum(
        max(each["lower"], each["ours_lower"]) <= min(each["upper"], each["ours_upper"])
        for each in found
    )
    closed = sum(each["upper"] - each["lower"] <= GAP * each["upper"] for each in found)
    ratios = [each["seconds"] / max(each["ours"], 1e-3) for each in found]
    rows = []
    for own, each in results.cells:
        rows.append(
            [
                f"{own['set']}, {each['labels']}",
                f"{own['rows']:,}",
                own["prior"],
                f"{each['lower']:.2f} – {each['upper']:.2f}",
                f"{each['ours_lower']:.2f} – {each['ours_upper']:.2f}",
                f"{each['cuts']}",
                f"{each['seconds']:.2f}",
                f"{each['ours']:.3f}",
                f"{each['seconds'] / max(each['ours'], 1e-3):.0f}",
            ]
        )
    return [
        Verdict(
            "The problem with a linear number of constraints has the optimum of the exponential "
            "one.",
            f"the two certified intervals overlap in {same} of {len(found)} cases; cutting planes "
            f"reached a relative gap of {GAP:g} in {closed}.",
            compare.holds(same, len(found)),
        ),
        Verdict(
            "M3L is nearly a hundred times as fast as cutting planes.",
            f"it is {min(ratios):.0f} to {max(ratios):.0f} times as fast (median "
            f"{compare.median_text(ratios, 0)}), and at least 100 times as fast in "
            f"{sum(ratio >= 100 for ratio in ratios)} of {len(ratios)} cases.",
            compare.holds(sum(ratio >= 100 for ratio in ratios), len(ratios)),
        ),
        "SVM-struct itself is not measured. The cutting planes are a reference implementation of "
        "its one-slack method in NumPy, `experiments/p4/one_slack.py`, on the first rows of a data "
        "set; the ratios depend on that implementation, too. "
        "Both solvers reach the same relative gap; C = 1. Lower and upper bounds of the optimum:",
        Table(
            [
                *("data set, labels", "rows", "R", "cutting planes: bounds", "M3L: bounds"),
                *("cuts", "s", "M3L s", "times as fast"),
            ],
            rows,
        ),
        "Numbers of the paper, for Media Mill: "
        + "; ".join(
            f"{rows:,} rows, {ours} s for M3L and {peer:,} s for SVM-struct "
            f"({peer / ours:.0f} times as fast)"
            for rows, (ours, peer) in PAPER.items()
        )
        + ".",
    ]


def covers(form: Form) -> str:
    return f"the first {form.pick('100 and 200', '200, 500 and 1,000')} rows of each data set"


EXPERIMENT = Experiment(
    "p4/cutting_planes",
    "P4, Section 7.1: cutting planes on the exponential problem",
    cells,
    report,
    covers,
)
