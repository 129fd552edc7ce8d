"""Scaling of M3L and partial feedback: ``python -m benchmarks.growth [--quick]``.

Processor time of M3L's training by rows and labels, and of a round with partial feedback by
features and labels: the best of several turns, and their range. M3L learns the streams of
``benchmarks.scaling``; games are drawn from a model. Exponents are slopes on logarithmic scales,
of the best times; their range is over the turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.markdown import table
from benchmarks.partial import EXPLORATION, SLOTS, synthetic_stream
from benchmarks.scaling import planted
from benchmarks.turns import take_turns, with_range
from tagalong import M3LClassifier, PartialFeedbackRanker

PLOT = Path(__file__).parents[1] / "docs" / "speed" / "growth.svg"
TOLERANCE = 0.1
ROUNDS = 300
Work = Callable[[], object]


@dataclass(frozen=True)
class Curve:
    """The time of one method as a function of one size."""

    method: str
    varied: str
    sizes: Sequence[int]
    work: Callable[[int], Work]
    """Prepares the data of a size and returns the work to time."""

    divisor: float = 1.0
    """Converts seconds of the work into ``unit``."""

    unit: str = "s"

    def exponent(self, seconds: Sequence[float]) -> float:
        """The slope of log(seconds) over log(size), by least squares."""
        return float(np.polyfit(np.log(self.sizes), np.log(seconds), 1)[0])


@dataclass(frozen=True)
class Measured:
    """A curve with its measured times, in its unit."""

    curve: Curve
    turns: Sequence[Sequence[float]]
    """One list per size, with one time per turn."""

    @property
    def best(self) -> list[float]:
        return [min(turns) for turns in self.turns]

    @property
    def exponent(self) -> str:
        """The exponent of the best times, with the range of the turns' exponents."""
        of_turns = [self.curve.exponent(turn) for turn in zip(*self.turns, strict=True)]
        return with_range(self.curve.exponent(self.best), of_turns, ".2f")

    def __str__(self) -> str:
        figures = [
            f"{size:,}: {with_range(min(turns), turns, '.3g')} {self.curve.unit}"
            for size, turns in zip(self.curve.sizes, self.turns, strict=True)
        ]
        return "; ".join(figures)


def m3l_training(rows: int, labels: int, **settings: Any) -> Work:
    stream = planted(rows, labels=labels)
    X, Y = stream.X, stream.Y.toarray()
    return lambda: M3LClassifier(tol=TOLERANCE, random_state=0, **settings).fit(X, Y)


def partial_game(features: int, labels: int, covariance: str) -> Work:
    X, Y = synthetic_stream(ROUNDS, features, labels)

    def play() -> None:
        ranker = PartialFeedbackRanker(
            covariance=covariance, exploration=EXPLORATION, max_labels=SLOTS, dtype="float32"
        )
        ranker.play(X, Y)

    return play


def curves(quick: bool) -> list[Curve]:
    def few(sizes: Sequence[int]) -> Sequence[int]:
        return sizes[:2] if quick else sizes

    rows, kernel_rows = few((1_000, 2_000, 4_000, 8_000, 16_000)), few((500, 1_000, 2_000, 4_000))
    labels = few((10, 30, 100, 300))
    features, arms = few((30, 60, 120, 240)), few((25, 50, 100, 200, 400))
    fixed_rows = 500 if quick else 4_000
    rbf: dict[str, Any] = {"kernel": "rbf", "gamma": 0.02}
    found = [
        Curve("linear", "rows", rows, partial(m3l_training, labels=100)),
        Curve("RBF", "rows", kernel_rows, partial(m3l_training, labels=20, **rbf)),
        Curve("linear", "labels", labels, partial(m3l_training, fixed_rows)),
        Curve(
            "with a prior",
            "labels",
            labels,
            partial(m3l_training, fixed_rows, prior="cooccurrence"),
        ),
        Curve("RBF", "labels", labels[:3], partial(m3l_training, fixed_rows // 4, **rbf)),
    ]
    for kind in ("full", "diagonal"):
        unit: dict[str, Any] = {"divisor": ROUNDS / 1e6, "unit": "µs per round"}
        found += [
            Curve(
                kind,
                "features",
                features,
                partial(partial_game, labels=100, covariance=kind),
                **unit,
            ),
            Curve(
                kind, "labels of a game", arms, partial(partial_game, 120, covariance=kind), **unit
            ),
        ]
    return found


def measure(curve: Curve, repeat: int) -> Measured:
    """Time all sizes of a curve, alternately."""
    works = {str(size): curve.work(size) for size in curve.sizes}
    found = take_turns(works, repeat, time.process_time)
    turns = [[seconds / curve.divisor for seconds in times.seconds] for times in found.values()]
    return Measured(curve, turns)


def plot(found: Sequence[Measured], path: Path) -> None:
    """Draw one panel per varied size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys(one.curve.varied for one in found))
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tagalong"}):
        figure, axes = plt.subplots(1, len(panels), figsize=(12, 3.4), layout="constrained")
        for axis, varied in zip(axes, panels, strict=True):
            here = [one for one in found if one.curve.varied == varied]
            for one in here:
                sizes, label = one.curve.sizes, f"{one.curve.method}: {one.exponent}"
                (line,) = axis.loglog(sizes, one.best, marker="o", markersize=3, label=label)
                slowest = [max(turns) for turns in one.turns]
                axis.fill_between(
                    sizes, one.best, slowest, color=line.get_color(), alpha=0.15, linewidth=0
                )
                axis.set_ylabel(one.curve.unit)
            sizes = sorted({size for one in here for size in one.curve.sizes})
            axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize="small", rotation=30)
            axis.set_xticks([], minor=True)
            axis.set_xlabel(varied)
            axis.grid(alpha=0.3)
            where = {"loc": "lower left", "bbox_to_anchor": (0, 1), "alignment": "left"}
            axis.legend(title="exponents", frameon=False, fontsize="small", **where)
        path.parent.mkdir(parents=True, exist_ok=True)
        dates = {"Date": None, "Creator": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=dates)
        plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, draw the plot."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument(
        "--repeat", type=int, default=3, help="turns; the best one counts (default 3)"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument(
        "--plot", type=Path, help=f"plot to write (default {PLOT.name}; none with --quick)"
    )
    options = parser.parse_args(arguments)
    found, rows = [], []
    with threadpool_limits(1):
        for curve in curves(options.quick):
            measured = measure(curve, 1 if options.quick else options.repeat)
            found.append(measured)
            rows.append([
                f"{'M3L' if curve.unit == 's' else 'partial feedback'}, {curve.method}",
                curve.varied,
                str(measured),
                measured.exponent,
            ])  # fmt: skip
            print(f"{curve.method}, {curve.varied}: {rows[-1][2]}", file=sys.stderr, flush=True)
    print(table(["method", "varied", "measured", "exponent"], rows))
    path = options.plot or (None if options.quick else PLOT)
    if path is not None:
        plot(found, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
