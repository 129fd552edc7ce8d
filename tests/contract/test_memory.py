"""Memory depends on the number of features seen, not on their ids."""

import os
from typing import Any

import numpy as np
import pytest

from tests.contract import learners
from tests.contract.bits import assert_same, native_of, whole
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.stream import N_LABELS
from tests.contract.training import STREAM

LAST = 2**31 - 1


def one_by_one(learner: LearnerCase, offset: int) -> Any:
    model = learner.make().set_params(n_features=None).add_labels(range(N_LABELS))
    for (indices, values), y in zip(STREAM.pairs(), STREAM.numbers(), strict=True):
        model.learn_one((indices.astype(np.int64) + offset, values), y)
    return model


def weight_row_count(model: Any) -> int:
    return len(native_of(model).state()["arrays"]["features"])


@for_learners_with(learners.LEARN_ONE, learners.ROWS)
def test_large_ids_need_no_more_memory_than_small_ones(learner: LearnerCase) -> None:
    low, high = one_by_one(learner, 0), one_by_one(learner, LAST - STREAM.X.shape[1] + 1)
    assert native_of(high).bytes == native_of(low).bytes
    features = native_of(high).state()["arrays"]["features"]
    assert features.max() == LAST
    assert native_of(low).state()["arrays"]["theta"].tobytes() == (
        native_of(high).state()["arrays"]["theta"].tobytes()
    )


@for_learners_with(learners.LEARN_ONE, learners.ROWS)
def test_memory_is_one_row_per_feature(learner: LearnerCase) -> None:
    model = one_by_one(learner, 10**9)
    width = 8 if learner.make().dtype == "float64" else 4
    numbers_per_row = 2 * 32  # at most two planes of 20 labels, padded to whole cache lines
    assert 0 < weight_row_count(model) <= STREAM.X.shape[1] + 1
    assert native_of(model).bytes <= weight_row_count(model) * numbers_per_row * width


@for_learners_with(learners.LEARN_ONE, learners.ROWS)
def test_predicting_with_new_features_takes_no_memory(learner: LearnerCase) -> None:
    model = one_by_one(learner, 0)
    before, state = native_of(model).bytes, whole(model)
    for feature in range(10**6, 10**6 + 500):
        model.rank_one(([feature], [1.0]))
    assert native_of(model).bytes == before
    assert_same(whole(model), state)


@for_learners_with(learners.RANK, learners.ROWS)
def test_rounds_without_an_update_allocate_no_rows(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(STREAM.X, np.ones_like(STREAM.Y))  # no irrelevant label
    assert weight_row_count(model) == 0
    assert native_of(model).bytes == 0
    only_row_3 = np.zeros(len(STREAM.Y))
    only_row_3[3] = 1
    model.partial_fit(STREAM.X, STREAM.Y, sample_weight=only_row_3)
    assert 0 < weight_row_count(model) <= STREAM.X[[3]].nnz + 1


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads Linux's page counts")
@for_learners_with(learners.LEARN_ONE, learners.ROWS)
def test_the_resident_memory_stays_small(learner: LearnerCase) -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    one_by_one(learner, 0)
    before = resident()
    models = [one_by_one(learner, 10**9 * k) for k in range(3)]
    assert resident() - before < 40 * 2**20
    assert all(weight_row_count(model) > 0 for model in models)
