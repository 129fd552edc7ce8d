"""Predictions for a matrix do not depend on the number of threads that share its rows."""

import signal
from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tests.contract import learners
from tests.contract.bits import assert_same, flatten
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.training import STREAM

ROWS = 700  # several chunks per thread; for few rows the calling thread works alone


@for_learners_with(learners.RANK)
@pytest.mark.parametrize("size", [1, 63])
def test_one_large_matrix_equals_many_small_ones(learner: LearnerCase, size: int) -> None:
    model = learner.make().fit(STREAM.X, STREAM.Y)
    rng = np.random.default_rng(size)
    X = STREAM.X[rng.integers(0, STREAM.X.shape[0], ROWS if size > 1 else 150)]
    parts = [X[start : start + size] for start in range(0, X.shape[0], size)]
    for method in (model.decision_function, model.rank, model.predict):
        expected = np.concatenate([method(part) for part in parts])
        assert_same(flatten([method(X)]), flatten([expected]))


class Alarm(Exception):
    """Raised by the signal handler."""


def test_a_signal_stops_all_threads() -> None:
    model = LabelRanker().fit(STREAM.X, STREAM.Y)
    X = STREAM.X[np.arange(200_000) % STREAM.X.shape[0]]
    expected = model.decision_function(X[:1000])

    def raise_alarm(number: int, frame: Any) -> None:
        raise Alarm

    # The timer counts this process's CPU time, so a busy machine does not fire it too early.
    before = signal.signal(signal.SIGPROF, raise_alarm)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.005)
        with pytest.raises(Alarm):
            model.decision_function(X)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert model.decision_function(X[:1000]).tobytes() == expected.tobytes()
