"""Memory follows what was seen, whatever the ids of the features."""

import os
from typing import Any

import numpy as np
import pytest

from tests.contract import learners
from tests.contract.bits import assert_same, native_of, whole
from tests.contract.courses import STREAM
from tests.contract.learners import Learner, learners_that
from tests.contract.stream import N_LABELS

LAST = 2**31 - 1


def one_by_one(learner: Learner, offset: int) -> Any:
    model = learner.make().set_params(n_features=None).add_labels(range(N_LABELS))
    for (indices, values), y in zip(STREAM.pairs(), STREAM.numbers(), strict=True):
        model.learn_one((indices.astype(np.int64) + offset, values), y)
    return model


def rows_of(model: Any) -> int:
    return len(native_of(model).state()["arrays"]["features"])


@learners_that(learners.LEARN_ONE, learners.ROWS)
def test_large_ids_cost_no_more_than_small_ones(learner: Learner) -> None:
    low, high = one_by_one(learner, 0), one_by_one(learner, LAST - STREAM.X.shape[1] + 1)
    assert native_of(high).bytes == native_of(low).bytes
    features = native_of(high).state()["arrays"]["features"]
    assert features.max() == LAST
    assert native_of(low).state()["arrays"]["theta"].tobytes() == (
        native_of(high).state()["arrays"]["theta"].tobytes()
    )


@learners_that(learners.LEARN_ONE, learners.ROWS)
def test_memory_is_a_row_a_feature(learner: Learner) -> None:
    model = one_by_one(learner, 10**9)
    width = 8 if learner.make().dtype == "float64" else 4
    numbers_a_row = 2 * 32  # at most two planes of 20 labels, padded to whole cache lines
    assert 0 < rows_of(model) <= STREAM.X.shape[1] + 1
    assert native_of(model).bytes <= rows_of(model) * numbers_a_row * width


@learners_that(learners.LEARN_ONE, learners.ROWS)
def test_looking_at_new_features_takes_no_memory(learner: Learner) -> None:
    model = one_by_one(learner, 0)
    before, state = native_of(model).bytes, whole(model)
    for feature in range(10**6, 10**6 + 500):
        model.rank_one(([feature], [1.0]))
    assert native_of(model).bytes == before
    assert_same(whole(model), state)


@learners_that(learners.RANK, learners.ROWS)
def test_rounds_without_an_update_take_no_rows(learner: Learner) -> None:
    model = learner.make().partial_fit(STREAM.X, np.ones_like(STREAM.Y))  # no pair to learn from
    assert rows_of(model) == 0
    assert native_of(model).bytes == 0
    one_row_counts = np.zeros(len(STREAM.Y))
    one_row_counts[3] = 1
    model.partial_fit(STREAM.X, STREAM.Y, sample_weight=one_row_counts)
    assert 0 < rows_of(model) <= STREAM.X[[3]].nnz + 1


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads Linux's page counts")
@learners_that(learners.LEARN_ONE, learners.ROWS)
def test_the_process_stays_small(learner: Learner) -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    one_by_one(learner, 0)
    before = resident()
    models = [one_by_one(learner, 10**9 * k) for k in range(3)]
    assert resident() - before < 40 * 2**20
    assert all(rows_of(model) > 0 for model in models)
