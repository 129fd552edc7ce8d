"""Scaling of speed and memory with labels, features and nonzeros: ``python -m benchmarks.scaling``.

Streams are generated: labels are drawn from a Zipf distribution, and each puts some of its own
words into the item; the other words are drawn from another Zipf distribution. Times are processor
time of learning in batches. The first pass meets new features and allocates memory for them; the
second pass, over the same rows, knows all features. Before each turn as much memory is touched, so
that no time is spent on memory that the host of a virtual machine has reclaimed. Tables show the
best of several turns and the range of all. Exponents are slopes of log(items/s) and log(bytes) over
log(size), of the best rates; their range is over the turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks import ours
from benchmarks.contest import chunks
from benchmarks.streams import Stream
from benchmarks.turns import prepare_turn, with_range

SETTINGS = ("euclidean single", "euclidean optimal", ours.DEFAULT)
BATCH = 500
LABEL_WORDS = 30
"""Words that belong to each label."""

WORDS_PER_LABEL = 5
"""Words that a relevant label puts into an item, unless items have few words."""

LABELS, NNZ, FEATURES = 100, 40, 20_000
"""Sizes that stay fixed while another one varies."""

VARIED: dict[str, tuple[int, ...]] = {
    "labels": (10, 100, 1_000, 10_000),
    "nnz": (10, 20, 40, 80, 160),
    "features": (1_000, 10_000, 100_000),
}
TOUCHED_BYTES = 512 << 20
"""Bytes touched before each turn: the most that a learner needs, while its rows are widened."""

NAMES = {"labels": "labels", "nnz": "nonzeros per row", "features": "features in total"}
PLOT = Path(__file__).parents[1] / "docs" / "speed" / "scaling.svg"


@dataclass(frozen=True)
class Point:
    """One learner on one stream."""

    varied: str
    size: int
    setting: str
    rows: int
    new: float
    """Items per second in the first pass, where features are new."""

    known: float
    """Items per second in the second pass, where all features are known."""

    bytes: int
    features_seen: int
    any_mistake: float
    """Share of rows, over both passes, that were not ranked perfectly before they were learnt."""

    turns: Sequence[Sequence[float]] = ()
    """``new`` and ``known`` of each turn; empty for a single turn."""

    def of_turns(self, what: str) -> list[float]:
        """``new`` or ``known`` of each turn."""
        return [turn[("new", "known").index(what)] for turn in self.turns]


def planted(
    rows: int, labels: int = LABELS, nnz: int = NNZ, features: int = FEATURES, seed: int = 0
) -> Stream:
    """A stream with up to four relevant labels per row, but at most a quarter of the labels."""
    rng = np.random.default_rng(seed)
    relevant = max(1, min(4, labels // 4))
    words_of_labels = rng.integers(0, features, size=(labels, LABEL_WORDS))
    # A label that is drawn twice for a row counts once.
    drawn = _zipf(rng, labels, 1, (rows, relevant))
    words_per_label = min(WORDS_PER_LABEL, nnz // (2 * relevant))
    picked = rng.integers(0, LABEL_WORDS, size=(rows, relevant, words_per_label))
    words = words_of_labels[drawn[:, :, None], picked].reshape(rows, -1)
    others = _zipf(rng, features, 10, (rows, nnz - words.shape[1]))
    X = _indicator(np.hstack([words, others]), features, np.float32)
    Y = _indicator(drawn, labels, np.int8)
    return Stream("planted", X, Y, [f"label {place}" for place in range(labels)])


def _zipf(
    rng: np.random.Generator, count: int, offset: int, shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """Random numbers below ``count``; the k-th most frequent has weight 1 / (k + offset)."""
    share = 1.0 / np.arange(offset, count + offset)
    # The permutation makes the numbers independent of the frequencies.
    return rng.permutation(count)[rng.choice(count, size=shape, p=share / share.sum())]


def _indicator(columns: npt.NDArray[np.int64], width: int, dtype: npt.DTypeLike) -> sp.csr_matrix:
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    ones = np.ones(columns.size)
    found = sp.csr_matrix((ones, (rows, columns.ravel())), shape=(len(columns), width))
    found.sum_duplicates()
    found.data[:] = 1
    return sp.csr_matrix(found.astype(dtype))


def measure(varied: str, size: int, setting: str, stream: Stream) -> Point:
    """Time two passes of a new learner over a stream."""
    prepare_turn(TOUCHED_BYTES)
    ranker = ours.make_ranker(setting)
    seconds = []
    classes: list[str] | None = stream.labels
    for _ in range(2):
        spent = 0.0
        for X, Y in chunks(stream, BATCH):
            start = time.process_time()
            ranker.partial_fit(X, Y, classes=classes)
            spent += time.process_time() - start
            classes = None
        seconds.append(spent)
    certificate = ranker.certificate_
    return Point(
        varied=varied,
        size=size,
        setting=setting,
        rows=stream.rows,
        new=stream.rows / seconds[0],
        known=stream.rows / seconds[1],
        bytes=ranker.bytes_of_weights,
        features_seen=len(np.unique(sp.csr_matrix(stream.X).indices)),
        any_mistake=certificate.mistakes / certificate.rounds,
    )


def best(points: Sequence[Point]) -> Point:
    """The best rates of several turns; disturbances can only make a turn slower."""
    new, known = max(point.new for point in points), max(point.known for point in points)
    turns = [(point.new, point.known) for point in points] if len(points) > 1 else ()
    return replace(points[0], new=new, known=known, turns=turns)


def curves(rows: int, largest: int, repeat: int) -> Iterator[Point]:
    """Measure all settings over all sizes, with at most ``largest`` labels."""
    for varied, sizes in VARIED.items():
        for size in sizes:
            if varied == "labels" and size > largest:
                continue
            stream = planted(rows, **{varied: size})
            turns = [[measure(varied, size, s, stream) for s in SETTINGS] for _ in range(repeat)]
            for point in map(best, zip(*turns, strict=True)):
                rate = f"{point.known:,.0f} items/s"
                print(f"{varied} {size:,}, {point.setting}: {rate}", file=sys.stderr, flush=True)
                yield point


def exponent(points: Sequence[Point], what: str) -> float:
    """The slope of log(what) over log(size), by least squares."""
    return _slope(points, [getattr(point, what) for point in points])


def exponents(points: Sequence[Point], what: str) -> str:
    """The exponent of the best rates, with the range of the turns' exponents."""
    curves_of_turns = zip(*(point.of_turns(what) for point in points), strict=True)
    turns = [_slope(points, curve) for curve in curves_of_turns]
    return with_range(exponent(points, what), turns, "+.2f")


def _slope(points: Sequence[Point], values: Sequence[float]) -> float:
    slope, _ = np.polyfit(np.log([point.size for point in points]), np.log(values), 1)
    return float(slope)


def table(points: Sequence[Point]) -> str:
    """The curves as Markdown tables, with their exponents."""
    lines: list[str] = []
    for varied, name in NAMES.items():
        lines += [
            f"| {name} | learner | items/s, new features | known | weights, MB | any-mistake |",
            "|---|---|---|---|---|---|",
        ]
        here = [point for point in points if point.varied == varied]
        for point in here:
            new = with_range(point.new, point.of_turns("new"), ",.0f")
            known = with_range(point.known, point.of_turns("known"), ",.0f")
            rest = f"{point.bytes / 1e6:,.1f} | {point.any_mistake:.2f}"
            lines.append(f"| {point.size:,} | {point.setting} | {new} | {known} | {rest} |")
        for setting in SETTINGS:
            curve = [point for point in here if point.setting == setting]
            if len(curve) > 1:
                rates = " | ".join(exponents(curve, what) for what in ("new", "known"))
                size = exponent(curve, "bytes")
                lines.append(f"| *exponent* | {setting} | {rates} | {size:+.2f} | |")
        lines.append("")
    return "\n".join(lines)


def plot(points: Sequence[Point], path: Path) -> None:
    """Draw rates (top row) and memory (bottom row), with one column per varied size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plain: Any = {"svg.fonttype": "none", "svg.hashsalt": "tagalong"}
    with plt.rc_context(plain):
        figure, axes = plt.subplots(2, 3, figsize=(10, 5.5), sharex="col", layout="constrained")
        for column, (varied, name) in enumerate(NAMES.items()):
            for number, setting in enumerate(SETTINGS):
                curve = [p for p in points if (p.varied, p.setting) == (varied, setting)]
                sizes = [point.size for point in curve]
                style = {"color": f"C{number}", "marker": "o", "markersize": 3}
                for what, line in (("known", "-"), ("new", ":")):
                    label = setting if what == "known" else None
                    rates = [getattr(point, what) for point in curve]
                    axes[0, column].loglog(sizes, rates, label=label, linestyle=line, **style)
                    if all(point.turns for point in curve):
                        lowest = [min(point.of_turns(what)) for point in curve]
                        axes[0, column].fill_between(
                            sizes, lowest, rates, color=style["color"], alpha=0.15, linewidth=0
                        )
                axes[1, column].loglog(sizes, [p.bytes / 1e6 for p in curve], **style)
            axes[1, column].set_xlabel(name)
            for row in (0, 1):
                axes[row, column].grid(alpha=0.3)
        axes[0, 0].set_ylabel("items/s (dotted: new features)\nshaded: range of turns")
        axes[1, 0].set_ylabel("weights, MB")
        axes[0, 0].legend(frameon=False, fontsize="small")
        path.parent.mkdir(parents=True, exist_ok=True)
        dates = {"Date": None, "Creator": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=dates, dpi=80)
        plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write the plot and scaling.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000, help="rows per stream (default 2000)")
    parser.add_argument(
        "--repeat", type=int, default=3, help="turns; the best one counts (default 3)"
    )
    parser.add_argument("--quick", action="store_true", help="few rows and labels; takes seconds")
    parser.add_argument(
        "--plot", type=Path, help=f"plot to write (default {PLOT.name}; none with --quick)"
    )
    parser.add_argument(
        "--redraw", action="store_true", help="measure nothing; use the numbers of the last run"
    )
    options = parser.parse_args(arguments)
    numbers = Path(__file__).with_suffix(".json")
    if options.redraw:
        points = [Point(**found) for found in json.loads(numbers.read_text(encoding="utf-8"))]
    else:
        rows, largest, repeat = options.rows, max(VARIED["labels"]), options.repeat
        if options.quick:
            rows, largest, repeat = 200, 1_000, 1
        points = list(curves(rows, largest, repeat))
    print(table(points))
    if not options.quick and not options.redraw:
        found = json.dumps([asdict(point) for point in points], indent=1)
        numbers.write_text(found + "\n", encoding="utf-8")
    path = options.plot or (None if options.quick else PLOT)
    if path is not None:
        plot(points, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
