"""How M3L and partial feedback grow: ``python -m benchmarks.growth [--quick]``.

Seconds of the processor to train M3L against rows and labels, and of a round with partial feedback
against features and labels, the best of several turns and the range of all. Rows of M3L's curves
are those of ``benchmarks.scaling``, games are drawn from a model. Exponents are slopes on
logarithmic scales: of the best, and the range of those of each turn.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.markdown import table
from benchmarks.partial import EXPLORATION, SLOTS, drawn_stream
from benchmarks.scaling import planted
from benchmarks.turns import take_turns, with_range
from tagalong import M3LClassifier, PartialFeedbackRanker

PLOT = Path(__file__).parents[1] / "docs" / "speed" / "growth.svg"
TOLERANCE = 0.1
ROUNDS = 300
Work = Callable[[], object]


@dataclass(frozen=True)
class Curve:
    """Seconds of one way over one thing that varies."""

    way: str
    varied: str
    sizes: Sequence[int]
    work: Callable[[int], Work]
    """Makes the work of a size, its data included."""

    per: float = 1.0
    """Units of work in one go."""

    unit: str = "s"

    def exponent(self, seconds: Sequence[float]) -> float:
        """The slope of log(seconds) over log(size), by least squares."""
        return float(np.polyfit(np.log(self.sizes), np.log(seconds), 1)[0])


@dataclass(frozen=True)
class Measured:
    """A curve with its figures, in its unit."""

    curve: Curve
    turns: Sequence[Sequence[float]]
    """Of every size, the figures of its turns."""

    @property
    def best(self) -> list[float]:
        return [min(turns) for turns in self.turns]

    @property
    def exponent(self) -> str:
        """That of the best, with the range of the turns' exponents."""
        ranges = [self.curve.exponent(turn) for turn in zip(*self.turns, strict=True)]
        return with_range(self.curve.exponent(self.best), ranges, ".2f")

    def __str__(self) -> str:
        figures = [
            f"{size:,}: {with_range(min(turns), turns, '.3g')} {self.curve.unit}"
            for size, turns in zip(self.curve.sizes, self.turns, strict=True)
        ]
        return "; ".join(figures)


def m3l(rows: int, labels: int, **settings: object) -> Work:
    stream = planted(rows, labels=labels)
    X, Y = stream.X, stream.Y.toarray()
    return lambda: M3LClassifier(tol=TOLERANCE, random_state=0, **settings).fit(X, Y)


def game(features: int, labels: int, covariance: str) -> Work:
    X, Y = drawn_stream(ROUNDS, features, labels)

    def play() -> None:
        ranker = PartialFeedbackRanker(
            covariance=covariance, exploration=EXPLORATION, max_labels=SLOTS, dtype="float32"
        )
        ranker.play(X, Y)

    return play


def curves(quick: bool) -> list[Curve]:
    few = (lambda sizes: sizes[:2]) if quick else (lambda sizes: sizes)
    rows, kernel_rows = few((1_000, 2_000, 4_000, 8_000, 16_000)), few((500, 1_000, 2_000, 4_000))
    labels = few((10, 30, 100, 300))
    features, arms = few((30, 60, 120, 240)), few((25, 50, 100, 200, 400))
    some = 500 if quick else 4_000
    rbf = {"kernel": "rbf", "gamma": 0.02}
    found = [
        Curve("linear", "rows", rows, partial(m3l, labels=100)),
        Curve("RBF", "rows", kernel_rows, partial(m3l, labels=20, **rbf)),
        Curve("linear", "labels", labels, partial(m3l, some)),
        Curve("with a prior", "labels", labels, partial(m3l, some, prior="cooccurrence")),
        Curve("RBF", "labels", labels[:3], partial(m3l, some // 4, **rbf)),
    ]
    for kind in ("full", "diagonal"):
        per = {"per": ROUNDS / 1e6, "unit": "µs a round"}
        found += [
            Curve(kind, "features", features, lambda d, k=kind: game(d, 100, k), **per),
            Curve(kind, "labels of a game", arms, lambda K, k=kind: game(120, K, k), **per),
        ]
    return found


def measure(curve: Curve, repeat: int) -> Measured:
    """Every size, in several turns."""
    ways = {str(size): curve.work(size) for size in curve.sizes}
    found = take_turns(ways, repeat, time.process_time)
    return Measured(curve, [[one / curve.per for one in times.seconds] for times in found.values()])


def plot(found: Sequence[Measured], path: Path) -> None:
    """A panel for everything that varies."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys(one.curve.varied for one in found))
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tagalong"}):
        figure, axes = plt.subplots(1, len(panels), figsize=(12, 3.4), layout="constrained")
        for axis, varied in zip(axes, panels, strict=True):
            here = [one for one in found if one.curve.varied == varied]
            for one in here:
                sizes, label = one.curve.sizes, f"{one.curve.way}: {one.exponent}"
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
    parser.add_argument("--repeat", type=int, default=3, help="turns, the best counts (default 3)")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--plot", type=Path, help=f"file (default {PLOT.name}; --quick: none)")
    options = parser.parse_args(arguments)
    found, rows = [], []
    with threadpool_limits(1):
        for curve in curves(options.quick):
            measured = measure(curve, 1 if options.quick else options.repeat)
            found.append(measured)
            rows.append([
                f"{'M3L' if curve.unit == 's' else 'partial feedback'}, {curve.way}",
                curve.varied,
                str(measured),
                measured.exponent,
            ])  # fmt: skip
            print(f"{curve.way}, {curve.varied}: {rows[-1][2]}", file=sys.stderr, flush=True)
    print(table(["way", "against", "measured", "exponent"], rows))
    path = options.plot or (None if options.quick else PLOT)
    if path is not None:
        plot(found, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
