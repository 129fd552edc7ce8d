"""Steps on a working set of labels beside steps on all labels, for the default learner.

``python -m benchmarks.working_sets`` makes one progressive pass over each stream with both
learners, alternately, and compares quality, processor time and the memory of the weights. The
streams are those of ``benchmarks.defaults race``; ``--confirm`` takes streams on which nothing was
chosen. ``--many`` takes two streams with about ten thousand labels. One is made up
(``scaling.planted``). In the other one rare words of Debian packages are the labels, to be
predicted from the other words.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks import streams
from benchmarks.defaults_race import CONFIRMATION, STREAMS
from benchmarks.markdown import table
from benchmarks.scaling import planted
from benchmarks.streams import NoData, Stream
from benchmarks.tied_measures import Ranking, tied_ranking
from benchmarks.turns import Ratio, take_turns
from benchmarks.verdicts import Verdict
from tagalong import LabelRanker

ALL, SET = "all labels", "working set"
TOLERANCE = 0.001
"""By how much a working set may lower average precision or raise the ranking loss."""

LEAST_TEXTS, MOST_TEXTS = 5, 60
"""Numbers of packages that have a word which is taken as a label."""


@dataclass(frozen=True)
class Line:
    """The measures, the time and the memory of both learners on a stream."""

    name: str
    every: Ranking
    chosen: Ranking
    speed: Ratio
    weights: tuple[int, int]

    @property
    def precision_gain(self) -> float:
        return self.chosen.average_precision - self.every.average_precision

    @property
    def loss_growth(self) -> float:
        return self.chosen.ranking_loss - self.every.ranking_loss

    def cells(self) -> list[str]:
        """The row of the stream."""
        return [
            self.name,
            *(f"{one.average_precision:.4f}" for one in (self.every, self.chosen)),
            *(f"{one.ranking_loss:.4f}" for one in (self.every, self.chosen)),
            str(self.speed),
            f"{self.weights[0] / 1e6:,.1f} → {self.weights[1] / 1e6:,.1f}",
        ]


def measure(stream: Stream, turns: int) -> Line:
    """Learn a stream with both learners, alternately."""
    print(stream.describe(), file=sys.stderr, flush=True)
    learners: dict[str, LabelRanker] = {}
    scores: dict[str, np.ndarray] = {}

    def learn(name: str, working_set: bool) -> None:
        learners[name] = LabelRanker(working_set=working_set)
        scores[name] = learners[name].predict_then_learn(stream.X, stream.Y, classes=stream.labels)

    work = {ALL: partial(learn, ALL, False), SET: partial(learn, SET, True)}
    times = take_turns(work, turns, clock=time.process_time)
    every, chosen = (tied_ranking([scores[name]], stream.Y).kinder for name in (ALL, SET))
    sizes = learners[ALL].bytes_of_weights, learners[SET].bytes_of_weights
    return Line(stream.name, every, chosen, times[ALL].over(times[SET]), sizes)


def rare_words(rows: int) -> Stream:
    """Debian packages with their rare words as labels, and all other words as features."""
    packages = streams.load("debtags")
    X = sp.csc_matrix(packages.X)
    texts = np.diff(X.indptr)
    rare = (texts >= LEAST_TEXTS) & (texts <= MOST_TEXTS)
    Y = sp.csr_matrix(X[:, rare])
    kept = np.flatnonzero(np.diff(Y.indptr))[:rows]
    labels = [str(word) for word in np.flatnonzero(rare)]
    return Stream("rare words", sp.csr_matrix(X[:, ~rare])[kept], Y[kept], labels)


def many_labels(rows: int) -> Iterable[Stream]:
    """Streams with about ten thousand labels."""
    yield replace(planted(rows, labels=10_000), name="planted")
    yield rare_words(rows)


def loaded(names: Sequence[str]) -> Iterable[Stream]:
    """The streams of these names, without those whose data are absent."""
    for name in names:
        try:
            yield streams.load(name)
        except NoData as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def report(lines: Sequence[Line]) -> str:
    """The table and the verdicts."""
    headers = [
        "stream",
        *(f"average precision, {name}" for name in (ALL, SET)),
        *(f"ranking loss, {name}" for name in (ALL, SET)),
        "times as fast",
        "weights, MB",
    ]
    worst, most = (
        min(line.precision_gain for line in lines),
        max(line.loss_growth for line in lines),
    )
    verdicts = [
        Verdict(
            f"average precision at most {TOLERANCE} lower", worst >= -TOLERANCE, f"{worst:+.4f}"
        ),
        Verdict(f"ranking loss at most {TOLERANCE} higher", most <= TOLERANCE, f"{most:+.4f}"),
    ]
    mean = sum(line.precision_gain for line in lines) / len(lines)
    loss = sum(line.loss_growth for line in lines) / len(lines)
    text = f"Mean change: average precision {mean:+.4f}, ranking loss {loss:+.4f}."
    return "\n".join(
        [table(headers, [line.cells() for line in lines]), "", text, "", *map(str, verdicts)]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest)
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--rows", type=int, default=6000, help="rows of streams with many labels")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--streams", nargs="+", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="one short stream, one turn")
    options = parser.parse_args(arguments)
    if options.quick:
        options.streams, options.repeat = ["flags"], 1
    names = options.streams or (CONFIRMATION if options.confirm else STREAMS)
    found = many_labels(options.rows) if options.many else loaded(names)
    lines = [measure(stream, options.repeat) for stream in found]
    if lines:
        print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
