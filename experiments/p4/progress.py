"""How the dual rises, for P4's Figs. 2 and 3: M3L's solver for kernels beside LIBSVM.

Each point is a run of its own, stopped at a tolerance, the same labels on both sides. Both take
steps on pairs of variables, so that iterations are of the same kind. LIBSVM's problem has a bias
and M3L's has none: each dual value is held against its own optimum, of which the finest run's
lower and upper bounds are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments import plots
from experiments.experiment import Cell, Form, Result, Results, Settings, cell
from experiments.p4 import peers, sets
from experiments.p4.sets import Part

TOLERANCES = [1.9, 1.0, 0.5, 0.2, 0.1, 0.01, 0.001]
NEAR = 0.99
"""The vicinity of the optimum."""
SIDES = ("M3L", "LIBSVM")


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


def run(settings: Settings) -> Result:
    """Dual value, steps, seconds and gap of both, summed over labels; LIBSVM's a label too."""
    name, tol = settings["set"], settings["tol"]
    part = peers.head(sets.load(name).train, settings["rows"])
    labels = peers.sample_of(part.Y, settings["sample"])
    part = Part(part.X, part.Y[:, labels])
    gamma = peers.GAMMA[name]
    seconds, model = peers.timed(lambda: peers.m3l(part, kernel="rbf", gamma=gamma, tol=tol))
    each = [peers.libsvm(part, label, "rbf", gamma, tol) for label in range(len(labels))]
    return {
        "labels": len(labels),
        "M3L": {
            "dual": model.dual_objective_,
            "gap": model.duality_gap_,
            "iterations": model.n_iter_,
            "seconds": seconds,
        },
        "LIBSVM": {
            "dual": sum(found["dual"] for found in each),
            "gap": sum(found["gap"] * found["dual"] for found in each),
            "iterations": sum(found["iterations"] for found in each),
            "seconds": sum(found["seconds"] for found in each),
        },
        "one_by_one": {
            key: [found[key] for found in each] for key in ("dual", "iterations", "seconds")
        },
    }


def curve(results: Results, name: str, side: str, axis: str) -> tuple[list[float], list[float]]:
    """Return what it took, and the share of the optimum that was reached, at each tolerance."""
    found = [result[side] for _, result in results.where(set=name)]
    optimum = max(each["dual"] for each in found)
    return [each[axis] for each in found], [each["dual"] / optimum for each in found]


def one_by_one(results: Results, name: str, axis: str) -> tuple[list[float], list[float]]:
    """Return LIBSVM's progress if labels are trained to the end, one after the other."""
    finest = results.where(set=name)[-1][1]["one_by_one"]
    dual = np.cumsum([0, *finest["dual"]])
    taken = np.cumsum([0, *finest[axis]])
    return [float(value) for value in taken], [float(value) for value in dual / dual[-1]]


def needed(taken: Sequence[float], reached: Sequence[float], share: float = NEAR) -> float:
    """Return what it took to come so near to the optimum, between the runs around that share."""
    after = next(place for place, value in enumerate(reached) if value >= share)
    before = max(after - 1, 0)
    return float(np.interp(share, reached[before : after + 1], taken[before : after + 1]))


def panels(results: Results, axis: str, below: str) -> list[plots.Panel]:
    """Return a panel a set: the share of the optimum against iterations or normalised seconds."""
    out = []
    for name in results.values("set"):
        drawn: list[plots.Line] = []
        unit = 1.0
        if axis == "seconds":
            unit = max(max(curve(results, name, side, axis)[0]) for side in SIDES)
        for colour, side in enumerate(SIDES):
            x, y = curve(results, name, side, axis)
            drawn.append(plots.Line(side, [v / unit for v in x], y, colour=colour))
        x, y = one_by_one(results, name, axis)
        drawn.append(
            plots.Line(
                "LIBSVM, label after label",
                [v / unit for v in x],
                y,
                colour=1,
                dashed=True,
                markers=False,
            )
        )
        out.append(plots.Panel(name, drawn, below, "dual, share of the optimum", from_zero=True))
    return out


def table_rows(results: Results, axis: str, shown: Any) -> list[list[str]]:
    """Return a row a set: what each needs for 90%, 99% and 99.9% of the optimum."""
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
    *("set", "rows", "labels", "90%: M3L", "LIBSVM", "99%: M3L", "LIBSVM"),
    *("99.9%: M3L", "LIBSVM", "last gap: M3L", "LIBSVM"),
]
