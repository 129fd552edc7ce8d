"""P2's synthetic streams (Section 9.1), and the mistakes of all schemes on them.

Each of the 500 entries of a row is 0 with probability ``zeros``, which the paper does not give, and
otherwise ±1. The classifier w* has ``relevant`` entries from [0, 1], scaled to sum 1. The margin γ
is the 75% quantile of abs(w*·x); rows inside the margin are rejected. A block is contaminated with
probability ``noise``; each sign of a contaminated block is flipped with probability 0.4. A mistake
is a trial in which some row is misclassified, as in the paper's theorems.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from experiments.experiment import Cell, Form, Result, Results, Settings, cell
from tagalong import BlockProjection

FEATURES = 500
MARGIN_QUANTILE = 0.75
FLIP_PROBABILITY = 0.4
SAMPLE = 20_000
"""Rows from which the margin is estimated; also the rows drawn at a time."""
ZEROS = 0.5
"""Probability that an entry is 0, unless an experiment varies it."""

ADDITIVE = {
    "max": "MaxPA.A",
    "simperc": "SimPerc.A",
    "conproj": "ConProj.A",
    "simproj": "SimProj.A",
    "simopt": "SimOpt.A",
}
MULTIPLICATIVE = {
    "max": "MaxPA.M",
    "simperc": "SimPerc.M",
    "conproj": "ConProj.M",
    "simproj": "SimProj.M",
}
SCHEMES = {
    **{name: ("euclidean", update) for update, name in ADDITIVE.items()},
    **{name: ("entropic", update) for update, name in MULTIPLICATIVE.items()},
}

Rows = npt.NDArray[np.float32]
Signs = npt.NDArray[np.float64]


def synthetic_cells(form: Form, points: list[Settings], smallest: int = -5) -> list[Cell]:
    """Return one cell per point and repetition; C ranges from 2^smallest to 2^3."""
    step = form.pick((3 - smallest) // 4, 1)
    shared = {
        "trials": 1000,
        "Cs": [2.0**power for power in range(smallest, 4, step)],
        "margins": form.pick([0.5, 1.0, 2.0], [0.5, 0.75, 1.0, 1.5, 2.0]),
    }
    defaults = {"relevant": 50, "noise": 0.0, "zeros": ZEROS}
    return [
        cell(run, **{**defaults, **point}, **shared, repetition=repetition)
        for point in points
        for repetition in range(form.pick(3, 10))
    ]


def describe_cells(form: Form) -> str:
    """Return what the cells of a form cover."""
    return form.pick(
        "5 values of C, 3 margins, 3 repetitions", "all values of C, 5 margins, 10 repetitions"
    )


def run(settings: Settings) -> Result:
    """Return the mistakes of each scheme: one list per margin, with one count per C."""
    rows, y, margin = generate(settings)
    X = sp.csr_matrix(rows)
    sizes = np.full(settings["trials"], settings["block"])
    found: dict[str, Any] = {}
    for name, (geometry, update) in SCHEMES.items():
        margins = [1.0] if geometry == "euclidean" else [margin * m for m in settings["margins"]]
        Cs = settings["Cs"]
        # The weights of the additive SimPerc are multiples of C: its mistakes do not depend on C.
        tried = Cs[:1] if name == ADDITIVE["simperc"] else Cs
        counts = [
            [_mistakes(X, y, sizes, update, geometry, C, own) for C in tried] for own in margins
        ]
        found[name] = [each * (len(Cs) // len(tried)) for each in counts]
    return {"mistakes": found, "margin": round(margin, 5)}


def _mistakes(
    X: sp.csr_matrix, y: Signs, sizes: Any, update: str, geometry: str, C: float, margin: float
) -> int:
    learner = BlockProjection(update, geometry, C=C, margin=margin)
    learner.learn_blocks(X, y, sizes)
    return int(learner.certificate_.mistakes)


def generate(settings: Settings) -> tuple[Rows, Signs, float]:
    """Return the rows and signs of all trials, and the margin of the data."""
    rng = np.random.default_rng([settings["repetition"], settings["relevant"], settings["block"]])
    truth = np.zeros(FEATURES, dtype=np.float32)
    places = rng.choice(FEATURES, settings["relevant"], replace=False)
    truth[places] = rng.random(settings["relevant"])
    truth /= truth.sum()
    zeros = settings["zeros"]
    margin = float(np.quantile(np.abs(_draw(rng, SAMPLE, zeros) @ truth), MARGIN_QUANTILE))
    wanted = settings["trials"] * settings["block"]
    kept: list[Rows] = []
    while sum(map(len, kept)) < wanted:
        rows = _draw(rng, SAMPLE, zeros)
        kept.append(rows[np.abs(rows @ truth) >= margin])
    X = np.concatenate(kept)[:wanted]
    y = np.sign(X @ truth).astype(np.float64)
    contaminated = rng.random(settings["trials"]) < settings["noise"]
    flipped = np.repeat(contaminated, settings["block"]) & (rng.random(wanted) < FLIP_PROBABILITY)
    return X, np.where(flipped, -y, y), margin


def _draw(rng: np.random.Generator, rows: int, zeros: float) -> Rows:
    drawn = rng.random((rows, FEATURES), dtype=np.float32)
    # An entry is 0 below ``zeros``; the rest of [0, 1] is divided equally between -1 and 1.
    boundary = np.float32(zeros + (1 - zeros) / 2)
    return np.where(drawn < zeros, 0, np.where(drawn < boundary, -1, 1)).astype(np.float32)


def best(results: Results, scheme: str, **point: Any) -> list[int]:
    """Return a scheme's mistakes per repetition, at the setting that is best on average."""
    found = np.array([r["mistakes"][scheme] for _, r in results.where(**point)])
    place = np.unravel_index(found.mean(axis=0).argmin(), found.shape[1:])
    return [int(count) for count in found[:, place[0], place[1]]]
