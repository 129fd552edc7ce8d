"""The learnt cut-off and the calibration of probabilities, on all shared streams.

``python -m benchmarks.cutoffs`` learns each stream once. Before each item is learnt, the labels
that reach the cut-off are its answer. Their micro-F1 is compared with that of the best constant
cut-off, chosen with hindsight. Calibration: the expected calibration error of the first five
places from item 500 on, with 15 bins of equal width.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from benchmarks.defaults_race import STREAMS
from benchmarks.filing_measures import CALIBRATED_FROM, PLACES_CALIBRATED, calibration_error
from benchmarks.filing_models import run_learner
from benchmarks.filing_streams import from_stream
from benchmarks.learners import SETTINGS, make_learner
from benchmarks.markdown import table
from benchmarks.measures import BestThreshold, F1Counts
from benchmarks.streams import NoData, Stream, load, names
from benchmarks.verdicts import Verdict

LARGEST_LOSS = 0.01
LARGEST_ERROR = 0.03
DRIFTING = ("mediamill",)
"""Streams whose labels change their meaning over time."""


@dataclass(frozen=True)
class Line:
    """One learner on one stream."""

    stream: str
    learner: str
    learnt: float
    best: float
    calibration: float

    @property
    def loss(self) -> float:
        """Micro-F1 below the best constant cut-off; negative above it."""
        return self.best - self.learnt

    def cells(self) -> list[str]:
        return [
            self.stream,
            self.learner,
            f"{self.learnt:.4f}",
            f"{self.best:.4f}",
            f"{-self.loss:+.4f}",
            f"{self.calibration:.4f}",
        ]


def measure(learner: str, stream: Stream) -> Line:
    """Learn a stream with one of the learners."""
    found = run_learner(make_learner(learner), from_stream(stream))
    learnt, best = F1Counts(), BestThreshold()
    # Labels that did not exist yet are no answer at any cut-off.
    relevant = sp.csr_matrix(found.relevant.astype(np.int8))
    learnt.add((found.scores >= found.cutoffs[:, None]) & np.isfinite(found.scores), relevant)
    best.add(found.scores, relevant)
    part = np.s_[CALIBRATED_FROM:, :PLACES_CALIBRATED]
    judged = found.judged
    error = calibration_error(judged.probabilities[part].ravel(), judged.right[part].ravel())
    return Line(stream.name, learner, learnt.result(), best.result(), error)


def verdicts(lines: Sequence[Line]) -> list[Verdict]:
    """The goals, for each learner."""
    found = []
    for learner in dict.fromkeys(line.learner for line in lines):
        own = [line for line in lines if line.learner == learner]
        far = [f"{line.stream} ({line.loss:.4f})" for line in own if line.loss > LARGEST_LOSS]
        found.append(
            Verdict(
                f"{learner}: micro-F1 within {LARGEST_LOSS} of the best constant cut-off",
                not far,
                f"so on {len(own) - len(far)} of {len(own)}{_further(far)}",
            )
        )
        drifting = [line for line in own if line.stream in DRIFTING]
        wrong = [
            f"{line.stream} ({line.calibration:.4f})"
            for line in drifting
            if not line.calibration <= LARGEST_ERROR
        ]
        found.append(
            Verdict(
                f"{learner}: calibration error at most {LARGEST_ERROR} on drifting streams",
                not wrong,
                f"so on {len(drifting) - len(wrong)} of {len(drifting)}{_further(wrong)}",
            )
        )
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of all streams and learners, and the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", nargs="+", choices=names(), default=STREAMS, metavar="NAME")
    options = parser.parse_args(arguments)
    lines = []
    for name in options.streams:
        try:
            stream = load(name)
        except NoData as missing:
            print(f"{name} is left out: {missing}\n")
            continue
        for learner in SETTINGS:
            print(f"  {name}: {learner}", file=sys.stderr, flush=True)
            lines.append(measure(learner, stream))
    headers = ["stream", "learner", "micro-F1", "best constant", "difference", "calibration error"]
    print(table(headers, [line.cells() for line in lines]))
    print()
    for verdict in verdicts(lines):
        print(verdict)


def _further(names: Sequence[str]) -> str:
    return f" (not on {', '.join(names)})" if names else ""


if __name__ == "__main__":
    main()
