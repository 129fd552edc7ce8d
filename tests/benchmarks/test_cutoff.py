"""The learnt cut-off on real data."""

import numpy as np
import pytest

from benchmarks import streams
from benchmarks.measures import BestThreshold, F1Counts
from tagalong import LabelRanker


def test_cutoff_on_debian_tags() -> None:
    """Progressive micro-F1 is above .55 and within .02 of the best constant in hindsight."""
    try:
        stream = streams.load("debtags")
    except streams.NoData as missing:
        pytest.skip(str(missing))
    ranker = LabelRanker()
    learnt, best = F1Counts(), BestThreshold()
    cutoff = np.inf
    # The cut-off moves slowly, so it is read only every 50 rows.
    for start in range(0, stream.rows, 50):
        rows = slice(start, start + 50)
        scores = ranker.predict_then_learn(stream.X[rows], stream.Y[rows])
        learnt.add((scores >= cutoff).astype(np.int8), stream.Y[rows])
        best.add(scores, stream.Y[rows])
        cutoff = ranker.cutoff_
    assert learnt.result() > 0.55
    assert learnt.result() > best.result() - 0.02
