"""Convergence of the dual value for P4's Figs. 2 and 3: M3L's kernel solvers beside LIBSVM.

M3L is solved by the paper's Algorithm 1 (``solver="smo"``) and by our solver. Each point is a
separate run that stops at a tolerance; Algorithm 1 has no random choices, so its runs are the
beginnings of one run. All solvers train the same labels and take steps on pairs of variables, so
their iterations are comparable. LIBSVM's problem has a bias
and M3L's has none, so each dual value is divided by its own optimum, which the run with the
smallest tolerance bounds from below and above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments import plots
from experiments.experiment import Cell, Form, Result, Results, Settings, cell
from experiments.p4 import peers, sets
from experiments.p4.sets import Part

TOLERANCES = [1.9, 1.0, 0.5, 0.2, 0.1, 0.01, 0.001]
NEAR = 0.99
"""Share of the optimum that counts as close to it."""
PAPER, OURS, PEER = "Algorithm 1", "our solver", "LIBSVM"
SIDES = (PAPER, OURS, PEER)


def cells(form: Form) -> list[Cell]:
    return [
        cell(
            run,
            set=name,
            rows=form.pick(1_000, 6_000 if name == "rcv1" else 10_000),
            sample=form.pick(10, None),
            tol=tol,
        )
        for name in peers.GAMMA
        for tol in TOLERANCES
    ]


def covers(form: Form) -> str:
    return form.pick(
        "1,000 rows and 10 labels per data set",
        "10,000 rows per data set, 6,000 of RCV1; all labels",
    )


def run(settings: Settings) -> Result:
    """Return dual value, gap, iterations and seconds of both, and LIBSVM's per label."""
    name, tol = settings["set"], settings["tol"]
    part = peers.first_rows(sets.load(name).train, settings["rows"])
    labels = peers.spread_sample(part.Y, settings["sample"])
    part = Part(part.X, part.Y[:, labels])
    gamma = peers.GAMMA[name]
    each = [peers.libsvm(part, label, "rbf", gamma, tol) for label in range(len(labels))]
    return {
        "labels": len(labels),
        PAPER: _m3l(part, solver="smo", gamma=gamma, tol=tol),
        OURS: _m3l(part, gamma=gamma, tol=tol),
        PEER: {
            "dual": sum(found["dual"] for found in each),
            "gap": sum(found["gap"] * found["dual"] for found in each),
            "iterations": sum(found["iterations"] for found in each),
            "seconds": sum(found["seconds"] for found in each),
        },
        "one_by_one": {
            key: [found[key] for found in each] for key in ("dual", "iterations", "seconds")
        },
    }


def _m3l(part: Part, **settings: Any) -> dict[str, float]:
    seconds, model = peers.timed(lambda: peers.m3l(part, kernel="rbf", **settings))
    return {
        "dual": model.dual_objective_,
        "gap": model.duality_gap_,
        "iterations": model.n_iter_,
        "seconds": seconds,
    }


def curve(results: Results, name: str, side: str, axis: str) -> tuple[list[float], list[float]]:
    """Return the cost (iterations or seconds) and the share of the optimum per tolerance."""
    found = [result[side] for _, result in results.where(set=name)]
    optimum = max(each["dual"] for each in found)
    return [each[axis] for each in found], [each["dual"] / optimum for each in found]


def one_by_one(results: Results, name: str, axis: str) -> tuple[list[float], list[float]]:
    """Return LIBSVM's curve if labels are trained to the end, one after the other."""
    finest = results.where(set=name)[-1][1]["one_by_one"]
    dual = np.cumsum([0, *finest["dual"]])
    costs = np.cumsum([0, *finest[axis]])
    return [float(value) for value in costs], [float(value) for value in dual / dual[-1]]


def needed(costs: Sequence[float], reached: Sequence[float], share: float = NEAR) -> float:
    """Return the cost of a share of the optimum, interpolated between the runs around it."""
    after = next(place for place, value in enumerate(reached) if value >= share)
    before = max(after - 1, 0)
    return float(np.interp(share, reached[before : after + 1], costs[before : after + 1]))


def panels(
    results: Results, axis: str, x_label: str, sides: Sequence[str] = SIDES
) -> list[plots.Panel]:
    """Return one panel per data set: the share of the optimum by iterations or scaled seconds."""
    out = []
    for name in results.values("set"):
        drawn: list[plots.Line] = []
        unit = 1.0
        if axis == "seconds":
            unit = max(max(curve(results, name, side, axis)[0]) for side in sides)
        for side in sides:
            x, y = curve(results, name, side, axis)
            drawn.append(plots.Line(side, [v / unit for v in x], y, colour=SIDES.index(side)))
        x, y = one_by_one(results, name, axis)
        drawn.append(
            plots.Line(
                "LIBSVM, one label after the other",
                [v / unit for v in x],
                y,
                colour=SIDES.index(PEER),
                dashed=True,
                markers=False,
            )
        )
        out.append(plots.Panel(name, drawn, x_label, "dual, share of the optimum", from_zero=True))
    return out


def table_rows(results: Results, axis: str, shown: Callable[[float], str]) -> list[list[str]]:
    """Return one row per data set: the costs of 90%, 99% and 99.9% of the optimum."""
    rows = []
    for name in results.values("set"):
        own, result = results.where(set=name)[-1]
        line = [name, f"{own['rows']:,}", f"{result['labels']}"]
        for share in (0.9, 0.99, 0.999):
            line += [shown(needed(*curve(results, name, side, axis), share)) for side in SIDES]
        line += [f"{result[side]['gap'] / result[side]['dual']:.0e}" for side in SIDES]
        rows.append(line)
    return rows


HEAD = [
    *("data set", "rows", "labels"),
    *(f"{share}: {side}" for share in ("90%", "99%", "99.9%") for side in SIDES),
    *(f"final gap: {side}" for side in SIDES),
]
