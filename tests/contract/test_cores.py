"""What a matrix gives does not depend on how many threads its rows are dealt out to."""

import signal
from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tests.contract import learners
from tests.contract.bits import assert_same, flatten
from tests.contract.courses import STREAM
from tests.contract.learners import Learner, learners_that

ROWS = 700  # several takings of a thread; a few rows are done by the calling one alone


@learners_that(learners.RANK)
@pytest.mark.parametrize("size", [1, 63])
def test_many_rows_are_as_few_at_a_time(learner: Learner, size: int) -> None:
    model = learner.make().fit(STREAM.X, STREAM.Y)
    rng = np.random.default_rng(size)
    X = STREAM.X[rng.integers(0, STREAM.X.shape[0], ROWS if size > 1 else 150)]
    parts = [X[start : start + size] for start in range(0, X.shape[0], size)]
    for look in (model.decision_function, model.rank, model.predict):
        few = np.concatenate([look(part) for part in parts])
        assert_same(flatten([look(X)]), flatten([few]))


class Alarm(Exception):
    """A signal came."""


def test_a_signal_ends_the_work_of_all_threads() -> None:
    model = LabelRanker().fit(STREAM.X, STREAM.Y)
    X = STREAM.X[np.arange(200_000) % STREAM.X.shape[0]]
    expected = model.decision_function(X[:1000])

    def ring(number: int, frame: Any) -> None:
        raise Alarm

    # By the processor's time of this process: other processes do not make it ring too early.
    before = signal.signal(signal.SIGPROF, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.005)
        with pytest.raises(Alarm):
            model.decision_function(X)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert model.decision_function(X[:1000]).tobytes() == expected.tobytes()
