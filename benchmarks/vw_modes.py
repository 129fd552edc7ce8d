"""The modes of Vowpal Wabbit among which the best one of each measure is chosen.

All of them are ``--multilabel_oaa``, the reduction that gives a score to every label and can be
trained with several labels per row. They differ in the loss, the learning rate, the online learner
below (default: ``--adaptive --normalized --invariant``), whether scores are clipped to [-1, 1], and
whether rows are scaled to unit length.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.peers import VowpalWabbit, VwFiles, with_unit_rows
from benchmarks.streams import Stream
from benchmarks.tied_measures import TiedRanking, tied_ranking

UNCLIPPED = "--min_prediction -50 --max_prediction 50"
LOGISTIC = "--loss_function logistic"
HINGE = "--loss_function hinge"
RATES = ("-l 0.1", "", "-l 2")
"""The default is .5."""

MODES = [
    *(f"{loss} {rate}" for loss in ("", HINGE, LOGISTIC) for rate in RATES),
    UNCLIPPED,
    f"{HINGE} {UNCLIPPED}",
    "--adaptive --invariant",
    f"{LOGISTIC} --adaptive --invariant",
    "--sgd",
    f"{LOGISTIC} --sgd",
    f"{LOGISTIC} --coin",
    f"{LOGISTIC} --ftrl",
]
UNIT_MODES = ["", UNCLIPPED, HINGE, LOGISTIC, f"{LOGISTIC} -l 2"]
"""Modes that are also run on rows of unit length."""

WITHOUT_TUNING = {"", HINGE, LOGISTIC, UNCLIPPED, f"{HINGE} {UNCLIPPED}"}
"""Modes that differ in loss and clipping only: the learning rates are VW's own."""


@dataclass(frozen=True)
class VwResult:
    """The measures of one mode."""

    mode: str
    ranking: TiedRanking
    tuned: bool = False
    """Whether its rate or its online learner was chosen."""


def all_modes(stream: Stream) -> Iterator[VwResult]:
    """Run every mode over a stream; ImportError if Vowpal Wabbit is not installed."""
    importlib.import_module("vowpalwabbit")
    unit = replace(with_unit_rows(stream), name="unit rows")
    for name, form, modes in (("", stream, MODES), ("unit rows ", unit, UNIT_MODES)):
        files = VwFiles.write(form)
        for mode in modes:
            shown = (name + mode.replace(UNCLIPPED, "unclipped")).strip() or "default"
            print(f"  {stream.name}: VW {shown}", file=sys.stderr, flush=True)
            run = VowpalWabbit(shown, form, files, mode.split())
            ranking = tied_ranking(run.scores(), form.Y)
            yield VwResult(" ".join(shown.split()), ranking, is_tuned(mode))


def is_tuned(mode: str) -> bool:
    """Whether a mode has another learning rate or another online learner than VW's own."""
    return mode.strip() not in WITHOUT_TUNING
