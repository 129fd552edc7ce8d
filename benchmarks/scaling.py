"""How speed and memory grow with labels, features and non-zeros: ``python -m benchmarks.scaling``.

Streams are made here: a label is drawn from a Zipf distribution and puts some of its own words
into the item, the other words are drawn from a Zipf distribution too. Seconds are of the
processor, not of the clock, of learning in batches: once while features are still new and memory
comes with them, and once more over the same rows, when all of them are known. That memory is
touched before each turn: no time goes into what the host of a virtual machine has taken back. The
best of several turns counts, and the range of all stands beside it. Exponents are slopes of
log(items/s) and log(bytes) over log(what varies): of the best rates, and the range of those of each
turn.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks import ours
from benchmarks.contest import chunks
from benchmarks.streams import Stream
from benchmarks.turns import get_ready, with_range

SETTINGS = ("euclidean single", "euclidean optimal", ours.DEFAULT)
BATCH = 500
OWN_WORDS = 30
"""Words that speak for a label."""

WORDS_A_LABEL = 5
"""How many of them a relevant label puts into an item."""

LABELS, NNZ, FEATURES = 100, 40, 20_000
"""What stays the same while another quantity varies."""

VARIED: dict[str, tuple[int, ...]] = {
    "labels": (10, 100, 1_000, 10_000),
    "nnz": (10, 20, 40, 80, 160),
    "features": (1_000, 10_000, 100_000),
}
MEMORY_AT_HAND = 512 << 20
"""Bytes: the most that a learner here takes, and its rows once more while they are widened."""

NAMES = {"labels": "labels", "nnz": "non-zeros a row", "features": "features there are"}
PLOT = Path(__file__).parents[1] / "docs" / "speed" / "scaling.svg"


@dataclass(frozen=True)
class Point:
    """One learner on one stream."""

    varied: str
    size: int
    setting: str
    rows: int
    new: float
    """Items a second while features are new."""

    known: float
    """Items a second of the second pass."""

    bytes: int
    features_seen: int
    any_mistake: float
    """Share of the rows of both passes that were not ranked perfectly before they were learnt."""

    turns: Sequence[Sequence[float]] = ()
    """``new`` and ``known`` of each turn, where there were several."""

    def of_turns(self, what: str) -> list[float]:
        """``new`` or ``known`` of each turn."""
        return [turn[("new", "known").index(what)] for turn in self.turns]


def planted(
    rows: int, labels: int = LABELS, nnz: int = NNZ, features: int = FEATURES, seed: int = 0
) -> Stream:
    """A stream with four relevant labels a row, or a quarter of the labels if they are few."""
    rng = np.random.default_rng(seed)
    relevant = max(1, min(4, labels // 4))
    own = rng.integers(0, features, size=(labels, OWN_WORDS))
    # Labels drawn twice count once.
    drawn = _zipf(rng, labels, 1, (rows, relevant))
    told = min(WORDS_A_LABEL, nnz // (2 * relevant))
    picked = rng.integers(0, OWN_WORDS, size=(rows, relevant, told))
    words = own[drawn[:, :, None], picked].reshape(rows, -1)
    others = _zipf(rng, features, 10, (rows, nnz - words.shape[1]))
    X = _indicator(np.hstack([words, others]), features, np.float32)
    Y = _indicator(drawn, labels, np.int8)
    return Stream("planted", X, Y, [f"label {place}" for place in range(labels)])


def _zipf(
    rng: np.random.Generator, count: int, offset: int, shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """Numbers below ``count``, y with a probability in proportion to 1 / (y + offset)."""
    share = 1.0 / np.arange(offset, count + offset)
    # A random numbering: neighbours in number have nothing in common in life.
    return rng.permutation(count)[rng.choice(count, size=shape, p=share / share.sum())]


def _indicator(columns: npt.NDArray[np.int64], width: int, dtype: npt.DTypeLike) -> sp.csr_matrix:
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    ones = np.ones(columns.size)
    found = sp.csr_matrix((ones, (rows, columns.ravel())), shape=(len(columns), width))
    found.sum_duplicates()
    found.data[:] = 1
    return found.astype(dtype)


def measure(varied: str, size: int, setting: str, stream: Stream) -> Point:
    """Two passes of a fresh learner over a stream."""
    get_ready(MEMORY_AT_HAND)
    ranker = ours.make(setting)
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
        features_seen=int((stream.X.getnnz(axis=0) > 0).sum()),
        any_mistake=certificate.mistakes / certificate.rounds,
    )


def best(goes: Sequence[Point]) -> Point:
    """The best rates of several turns: what disturbs a turn only makes it slower."""
    new, known = max(go.new for go in goes), max(go.known for go in goes)
    turns = [(go.new, go.known) for go in goes] if len(goes) > 1 else ()
    return replace(goes[0], new=new, known=known, turns=turns)


def curves(rows: int, largest: int, repeat: int) -> Iterator[Point]:
    """Every setting over everything that varies, up to the largest number of labels."""
    for varied, sizes in VARIED.items():
        for size in sizes:
            if varied == "labels" and size > largest:
                continue
            stream = planted(rows, **{varied: size})
            goes = [[measure(varied, size, s, stream) for s in SETTINGS] for _ in range(repeat)]
            for point in map(best, zip(*goes, strict=True)):
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
    """The curves in Markdown, with the exponents of each."""
    lines: list[str] = []
    for varied, name in NAMES.items():
        lines += [
            f"| {name} | learner | items/s, features new | known | weights, MB | any-mistake |",
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
    """Rates above, memory below, a column for everything that varies."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plain = {"svg.fonttype": "none", "svg.hashsalt": "tagalong"}
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
        axes[0, 0].set_ylabel("items/s (dotted: features new)\nshaded: range of turns")
        axes[1, 0].set_ylabel("weights, MB")
        axes[0, 0].legend(frameon=False, fontsize="small")
        path.parent.mkdir(parents=True, exist_ok=True)
        dates = {"Date": None, "Creator": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=dates, dpi=80)
        plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the plot and the numbers beside this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000, help="rows a stream (default 2000)")
    parser.add_argument("--repeat", type=int, default=3, help="turns, the best counts (default 3)")
    parser.add_argument("--quick", action="store_true", help="seconds: few rows and labels")
    parser.add_argument("--plot", type=Path, help=f"file (default {PLOT.name}; --quick: none)")
    parser.add_argument("--redraw", action="store_true", help="from the numbers of the last run")
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
