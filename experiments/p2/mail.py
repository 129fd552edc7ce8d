"""P2's experiments on mail (Section 9.2): percentage of mistakes in one pass, for each C.

``shared`` learners have one weight vector and the paper's class-dependent features
(`SharedLabelRanker`). ``multi`` learners have one weight vector per label (`LabelRanker`, as
published: no constant feature, no averaging, no scaling of rows).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from benchmarks.streams import Stream
from experiments import compare, streams
from experiments.experiment import Cell, Form, Result, Results, Settings, cell
from tagalong import LabelRanker, SharedLabelRanker
from tagalong.features import FolderAffinity

CURVE_POINTS = 40
"""Points of a curve of cumulative mistakes over a pass."""

SCHEMES = {
    "max": "MaxPA",
    "simperc": "SimPerc",
    "conproj": "ConProj",
    "simproj": "SimProj",
    "simopt": "SimOpt",
    "optimal": "OptSolv",
}
# The paper's users have 1,189 to 4,478 messages.
FULL_ROWS = 5000
QUICK_ROWS = 1000


SEVERAL_LABELS = ("debtags", "bibtex", "medical")
"""Streams whose texts may have several labels. The paper's messages have one folder each, so the
verdicts on its claims are about the other streams."""


READINGS = (None, "all")
"""A rare word is in less than 2% of the folder's messages (the usual reading), or of all."""


def mail_cells(
    form: Form, model: str, geometry: str, updates: list[str], seldom_of: str | None = None
) -> list[Cell]:
    """Return one cell per stream, update and margin; the full form has the paper's 11 C's.

    ``seldom_of`` is the reading of the paper's rule for rare words; None means the folder's. The
    quick form tries another one only on streams with one label per text.
    """
    shared = {
        "rows": form.pick(QUICK_ROWS, FULL_ROWS),
        "model": model,
        "geometry": geometry,
        "Cs": [2.0**power for power in range(-5, 6, form.pick(2, 1))],
    }
    # The paper gives no margin for the multiplicative form.
    margins = form.pick([0.003, 0.03], [0.001, 0.003, 0.01, 0.03, 0.1])
    if model == "shared":
        margins = form.pick([0.01, 0.1], [0.003, 0.01, 0.03, 0.1, 0.3])
    if geometry == "euclidean":
        margins = [1.0]
    if seldom_of is not None:
        shared["seldom_of"] = seldom_of
    names = streams.names()
    if seldom_of is not None and not form.full:
        names = [name for name in names if name not in SEVERAL_LABELS]
    return [
        cell(run, stream=stream, update=update, margin=margin, **shared)
        for stream in names
        for update in updates
        for margin in margins
    ]


def describe_cells(form: Form) -> str:
    """Return what the cells of a form cover."""
    return form.pick(
        f"the first {QUICK_ROWS:,} texts of each stream; 6 values of C",
        f"the first {FULL_ROWS:,} texts of each stream, more than any user of the paper has; the "
        "paper's 11 values of C",
    )


def describe_readings(form: Form) -> str:
    """Return on which streams both readings of the rule for rare words are tried."""
    where = form.pick(", on streams with one label per text", "")
    return f"both readings of the rule for rare words{where}"


def run(settings: Settings) -> Result:
    """Return the percentage of mistakes for each C, and the cumulative mistakes at the best C."""
    stream = streams.load(settings["stream"])
    stream = stream.head(settings["rows"])
    Cs = settings["Cs"]
    if is_free_of_C(settings["update"], settings["geometry"]):
        curves = [_curve(_learner(settings, Cs[0]), stream)] * len(Cs)
    else:
        curves = [_curve(_learner(settings, C), stream) for C in Cs]
    percent = [round(100.0 * curve[-1] / stream.rows, 3) for curve in curves]
    best = min(range(len(percent)), key=lambda place: percent[place])
    return {
        "percent": percent,
        "curve": curves[best],
        "rows": stream.rows,
        "labels": len(stream.labels),
    }


def is_free_of_C(update: str, geometry: str) -> bool:
    """Return whether mistakes do not depend on C.

    The weights of the additive SimPerc are multiples of C; for powers of two, to the last bit.
    """
    return update == "simperc" and geometry == "euclidean"


def _learner(settings: Settings, C: float) -> LabelRanker | SharedLabelRanker:
    own = {name: settings[name] for name in ("update", "geometry", "margin")}
    if settings["model"] == "shared":
        reading = settings.get("seldom_of")
        features = None if reading is None else FolderAffinity(seldom_of=reading)
        return SharedLabelRanker(features, C=C, **own)
    if own["update"] == "max":
        own["update"] = "single"
    return LabelRanker(C=C, average=False, constant=0.0, normalize=False, **own)


def _curve(learner: LabelRanker | SharedLabelRanker, stream: Stream) -> list[int]:
    """Learn a stream in parts; return the cumulative mistakes after each part."""
    classes = list(range(len(stream.labels)))
    found = []
    for start, end in pairwise(ends(stream.rows)):
        learner.partial_fit(stream.X[start:end], stream.Y[start:end], classes)
        found.append(int(learner.certificate_.mistakes))
    return found


def ends(rows: int) -> list[int]:
    """Return the boundaries of the parts of a pass."""
    parts = min(CURVE_POINTS, rows)
    return [rows * part // parts for part in range(parts + 1)]


def best(results: Results, **settings: Any) -> tuple[float, Settings, Result]:
    """Return the lowest percentage over C and margin, with the settings and result of its cell."""
    found = [
        (min(result["percent"]), place, own, result)
        for place, (own, result) in enumerate(results.where(**settings))
    ]
    percent, _, own, result = min(found, key=lambda one: one[:2])
    return percent, own, result


def best_percents(results: Results, **settings: Any) -> dict[str, float]:
    """Return a learner's lowest percentage on each stream."""
    return {
        name: best(results, stream=name, **settings)[0]
        for name in results.values("stream")
        if results.where(stream=name, **settings)
    }


def with_one_label(percents: Mapping[str, float]) -> dict[str, float]:
    """Return the percentages on streams with one label per text, like the paper's mail."""
    return {name: value for name, value in percents.items() if name not in SEVERAL_LABELS}


def wins(better: Mapping[str, float], worse: Mapping[str, float]) -> tuple[int, int, str]:
    """Return on how many streams with one label per text the first is lower, of how many.

    The text also says it for the other streams.
    """
    won, of = compare.wins(with_one_label(better), with_one_label(worse))
    rest = [name for name in better if name in SEVERAL_LABELS]
    text = f"{won} of {of} streams with one label per text"
    if rest:
        more, others = compare.wins({n: better[n] for n in rest}, {n: worse[n] for n in rest})
        text += f" ({more} of {others} with several)"
    return won, of, text


def over_C(results: Results, **settings: Any) -> dict[float, float]:
    """Return the percentage at each C, for the margin with the lowest percentage."""
    _, own, result = best(results, **settings)
    return dict(zip(own["Cs"], result["percent"], strict=True))
