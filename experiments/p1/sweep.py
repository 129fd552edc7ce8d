"""The runs of Table 1: three updates in two geometries, with many values of C and margin."""

from __future__ import annotations

from typing import Any

from benchmarks.streams import Stream
from experiments import streams
from experiments.experiment import Result, Results, Settings
from tagalong import LabelRanker

UPDATES = {"fixed": "I", "single": "II", "optimal": "III"}
GEOMETRIES = {"euclidean": "Euclidean", "entropic": "entropic"}
LEARNERS = [(update, geometry) for geometry in GEOMETRIES for update in UPDATES]


def run(settings: Settings) -> Result:
    """Return the percentage of mistakes in one pass, for each C."""
    stream = streams.load(settings["stream"])
    stream = stream.head(settings["rows"] or stream.rows)
    percents = [_mistakes(_learner(settings, C), stream) for C in settings["Cs"]]
    return {"percent": percents, **_size(stream)}


def iterations(settings: Settings) -> Result:
    """Return the iterations per round of the paper's interior point method, in both geometries."""
    stream = streams.load(settings["stream"])
    stream = stream.head(settings["rows"])
    found: dict[str, Any] = {}
    for geometry, margin in (("euclidean", 1.0), ("entropic", settings["margin"])):
        own = {"update": "optimal", "geometry": geometry, "margin": margin, "unit": False}
        learner = _learner(own, settings["C"], solver="interior-point")
        percent = _mistakes(learner, stream)
        most, average = learner.certificate_.solver_iterations
        found[geometry] = {"most": most, "mean": round(average, 2), "percent": percent}
    return {**found, **_size(stream)}


def _learner(settings: Settings, C: float, **more: Any) -> LabelRanker:
    """Return the learner as published: no constant feature, no averaging.

    Rows are scaled to unit length only if the setting ``unit`` is true.
    """
    return LabelRanker(
        update=settings["update"],
        geometry=settings["geometry"],
        C=C,
        margin=settings["margin"],
        normalize=settings["unit"],
        average=False,
        constant=0.0,
        **more,
    )


def _mistakes(learner: LabelRanker, stream: Stream) -> float:
    learner.fit(stream.X, stream.Y)
    certificate = learner.certificate_
    return round(100.0 * certificate.mistakes / certificate.rounds, 3)


def _size(stream: Stream) -> Result:
    return {"rows": stream.rows, "labels": len(stream.labels), "features": stream.features}


class Sweep:
    """Percentages of mistakes of one learner on one stream, by (C, margin)."""

    def __init__(self, results: Results, stream: str, update: str, geometry: str, unit: bool):
        found = results.where(stream=stream, update=update, geometry=geometry, unit=unit)
        self.percent = {
            (C, own["margin"]): value
            for own, result in found
            for C, value in zip(own["Cs"], result["percent"], strict=True)
        }

    @property
    def best(self) -> float:
        return float(min(self.percent.values()))

    @property
    def chosen(self) -> tuple[float, float]:
        return min(self.percent, key=lambda setting: self.percent[setting])

    def best_from(self, margin: float) -> float:
        """Return the best percentage among margins of at least ``margin``."""
        return float(min(value for (_, own), value in self.percent.items() if own >= margin))

    @property
    def worst(self) -> float:
        return float(max(self.percent.values()))

    @property
    def at_edge(self) -> bool:
        """Whether the best setting is at the edge of the sweep of either parameter."""
        grids = zip(*self.percent, strict=True)
        return any(
            len(set(grid)) > 1 and own in (min(grid), max(grid))
            for own, grid in zip(self.chosen, grids, strict=True)
        )

    def over_C(self) -> tuple[list[float], list[float]]:
        """Return the values of C and the percentage at each, for the best margin."""
        margin = self.chosen[1]
        pairs = sorted((C, value) for (C, own), value in self.percent.items() if own == margin)
        return [C for C, _ in pairs], [value for _, value in pairs]


Sweeps = dict[tuple[str, str, str], Sweep]
