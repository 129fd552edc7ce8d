"""The benchmark of the learnt cut-off."""

import numpy as np
import scipy.sparse as sp

from benchmarks.cutoffs import Line, measure, verdicts
from benchmarks.streams import Stream


def test_a_stream_that_can_be_learnt() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(900, 12)).astype(np.float32)
    Y = sp.csr_matrix(X[:, :3].astype(np.int8))
    found = measure("today", Stream("made up", sp.csr_matrix(X), Y, ["a", "b", "c"]))
    assert found.learnt > 0.8
    assert found.loss < 0.1
    assert found.calibration < 0.1


def test_verdicts_name_the_streams_that_miss_a_goal() -> None:
    lines = [
        Line("rcv1", "race", 0.70, 0.705, 0.02),
        Line("mediamill", "race", 0.60, 0.62, 0.04),
        Line("flags", "race", 0.60, 0.59, float("nan")),
    ]
    cutoff, calibration = verdicts(lines)
    assert not cutoff.reached
    assert cutoff.measured == "so on 2 of 3 (not on mediamill (0.0200))"
    assert not calibration.reached
    assert calibration.measured == "so on 0 of 1 (not on mediamill (0.0400))"
