"""Streams that change: how far the default learner falls, and how soon it recovers.

``python -m benchmarks.drift`` learns each stream once and measures, before each item is learnt,
accuracy of the first suggestion and average precision:

- all labels of the newsgroups swap their meaning at item 1,000, or at half-time;
- a label vanishes for a third of the stream and returns (only its items count);
- words are renamed one after the other, so that the vocabulary changes slowly;
- Mediamill in file order, which drifts by itself and has no point of change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from benchmarks.filing_measures import (
    CALIBRATED_FROM,
    PLACES_CALIBRATED,
    average_precisions,
    calibration_error,
)
from benchmarks.filing_models import run_learner
from benchmarks.filing_streams import FilingStream, filing_stream, from_stream
from benchmarks.learners import SETTINGS, make_learner
from benchmarks.markdown import table
from benchmarks.streams import NoData, load
from benchmarks.verdicts import Verdict
from tagalong.learning.examples import SparseRows

AFTER = 500
"""Number of items after the change that are measured by themselves, and as many before it."""

WINDOW = 100
RECOVERED = 0.05
LARGEST_ERROR = 0.03
SWAP_AT = 1000
SEED = 0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Drift:
    """A stream and the item at which it changes, if there is one.

    Parameters
    ----------
    stream : the stream.
    change : number of the first changed item.
    label : the only items that count are those with this label; None for all.
    """

    stream: FilingStream
    change: int | None = None
    label: str | None = None


def swapped(stream: FilingStream, when: int) -> Drift:
    """From item ``when`` on, every label means what the next label meant before."""
    names = sorted({label for labels in stream.labels for label in labels})
    following = dict(zip(names, names[1:] + names[:1], strict=True))
    labels = [
        tuple(following[label] for label in one) if number >= when else one
        for number, one in enumerate(stream.labels)
    ]
    return Drift(replace(stream, labels=labels), when)


def interrupted(stream: FilingStream) -> Drift:
    """The most frequent label is missing in the second third of the stream, then returns."""
    names = [label for labels in stream.labels for label in labels]
    frequent = max(sorted(set(names)), key=names.count)
    third = len(stream) // 3
    kept = [
        number
        for number, labels in enumerate(stream.labels)
        if not (third <= number < 2 * third and frequent in labels)
    ]
    back = sum(number < 2 * third for number in kept)
    return Drift(stream.take(np.array(kept)), back, frequent)


def renamed(stream: FilingStream) -> Drift:
    """Each word gets another name at a random time, for ever."""
    columns = int(stream.rows.indices.max(initial=-1)) + 1
    when = np.random.default_rng(SEED).integers(0, len(stream), size=columns)
    row_of = np.repeat(np.arange(len(stream)), np.diff(stream.rows.indptr))
    old = stream.rows.indices
    indices = np.where(row_of >= when[old], old + columns, old)
    # The names of a row must ascend.
    order = np.lexsort((indices, row_of))
    rows = SparseRows(
        stream.rows.indptr, indices[order].astype(np.int32), stream.rows.values[order]
    )
    return Drift(replace(stream, rows=rows))


def _newsgroups() -> FilingStream:
    return filing_stream("newsgroups", SEED)


def _labelled(stream: FilingStream) -> FilingStream:
    """The rows that have labels."""
    return stream.take(np.flatnonzero([len(labels) > 0 for labels in stream.labels]))


def _swapped_at_half() -> Drift:
    stream = _newsgroups()
    return swapped(stream, len(stream) // 2)


STREAMS: Mapping[str, Callable[[], Drift]] = {
    "labels swap at 1,000": lambda: swapped(_newsgroups(), SWAP_AT),
    "labels swap at half-time": _swapped_at_half,
    "a label returns": lambda: interrupted(_newsgroups()),
    "words are renamed": lambda: renamed(_newsgroups()),
    "mediamill": lambda: Drift(_labelled(from_stream(load("mediamill")))),
}


@dataclass(frozen=True)
class Course:
    """One learner on one stream: per item, whether it was right, and its average precision.

    Parameters
    ----------
    right, precision : of the items that count.
    change : place of the first changed item among these, if there is one.
    calibration : calibration error of all items.
    """

    right: Floats
    precision: Floats
    change: int | None
    calibration: float

    def recovery(self, change: int) -> int | None:
        """Items until accuracy is within .05 of the level before; None if it never is.

        The level is the accuracy of the 500 items before the change. Accuracy afterwards is the
        mean of 100 successive items.
        """
        level = self.right[max(0, change - AFTER) : change].mean() - RECOVERED
        means = np.convolve(self.right[change:], np.full(WINDOW, 1 / WINDOW), "valid")
        # Means are sums of rounded hundredths.
        reached = np.flatnonzero(means >= level - 1e-9)
        return int(reached[0]) + WINDOW if len(reached) else None

    def cells(self) -> list[str]:
        change = self.change
        overall = [f"{self.right.mean():.4f}", f"{self.precision.mean():.4f}"]
        if change is None:
            return [*overall, "–", "–", "–", f"{self.calibration:.4f}"]
        before, after = slice(max(0, change - AFTER), change), slice(change, change + AFTER)
        needed = self.recovery(change)
        return [
            *overall,
            *(
                f"{self.right[part].mean():.3f} / {self.precision[part].mean():.3f}"
                for part in (before, after)
            ),
            f"{needed:,}" if needed is not None else "never",
            f"{self.calibration:.4f}",
        ]


def course(name: str, drift: Drift) -> Course:
    """Learn a stream with one of the learners."""
    found = run_learner(make_learner(name), drift.stream)
    judged = found.judged
    part = np.s_[CALIBRATED_FROM:, :PLACES_CALIBRATED]
    error = calibration_error(judged.probabilities[part].ravel(), judged.right[part].ravel())
    counted = np.array([drift.label in (None, *labels) for labels in drift.stream.labels])
    change = None if drift.change is None else int(counted[: drift.change].sum())
    precisions = average_precisions(found.scores, found.relevant)
    right = judged.right[:, 0].astype(np.float64)
    return Course(right[counted], precisions[counted], change, error)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of all streams and learners, and the verdict on calibration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    options = parser.parse_args(arguments)
    rows, errors = [], []
    for name in options.streams:
        try:
            drift = STREAMS[name]()
        except NoData as missing:
            print(f"{name} is left out: {missing}\n")
            continue
        for learner in SETTINGS:
            print(f"  {name}: {learner}", file=sys.stderr, flush=True)
            found = course(learner, drift)
            rows.append([name, learner, *found.cells()])
            errors.append((found.calibration, f"{learner}, {name}"))
    headers = ["accuracy", "average precision", f"{AFTER} items before", f"{AFTER} after"]
    headers += ["items to recover", "calibration error"]
    print("Before and after the change: accuracy / average precision.\n")
    print(table(["stream", "learner", *headers], rows))
    if errors:
        worst, where = max(errors)
        goal = f"calibration error of the first five places at most {LARGEST_ERROR}"
        print(f"\n{Verdict(goal, worst <= LARGEST_ERROR, f'the largest is {worst:.4f} ({where})')}")


if __name__ == "__main__":
    main()
