"""The same stream gives the same bits, however it is cut and in whatever form it comes."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.contract import learners
from tests.contract.bits import assert_same, flatten, learnt, whole
from tests.contract.courses import STREAM
from tests.contract.learners import Learner, learners_that
from tests.contract.stream import N_FEATURES, N_LABELS, Stream, forms, make_stream

sizes = pytest.mark.parametrize("size", [1, 7, len(STREAM.Y)])


def in_batches(model: Any, stream: Stream, size: int) -> Any:
    for start in range(0, len(stream.Y), size):
        part = stream.part(slice(start, start + size))
        model.partial_fit(part.X, part.Y)
    return model


def one_by_one(model: Any, stream: Stream) -> Any:
    model.add_labels(range(N_LABELS))
    for x, y in zip(stream.pairs(), stream.numbers(), strict=True):
        model.learn_one(x, y)
    return model


FORMS = forms(STREAM.X)


@cache
def fitted_bits(learner: Learner) -> dict[str, bytes]:
    """What a model that is fitted to the whole stream holds."""
    return whole(learner.make().fit(STREAM.X, STREAM.Y))


@cache
def batch_bits(learner: Learner) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What a model that learnt the stream as one batch holds, and what it predicts."""
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    return whole(model), looked_at(model, STREAM.X)


def looked_at(model: Any, X: Any) -> dict[str, bytes]:
    return flatten([model.decision_function(X), model.rank(X), model.predict(X)])


@sizes
@learners_that(learners.RANK)
def test_batches_of_any_size_are_one_fit(learner: Learner, size: int) -> None:
    assert_same(whole(in_batches(learner.make(), STREAM, size)), fitted_bits(learner))


@learners_that(learners.RANK, learners.LEARN_ONE)
def test_one_by_one_is_a_batch(learner: Learner) -> None:
    batch = learner.make().partial_fit(STREAM.X, STREAM.Y)
    assert_same(learnt(one_by_one(learner.make(), STREAM)), learnt(batch))


@learners_that(learners.RANK, learners.LEARN_ONE)
def test_one_by_one_and_batches_may_alternate(learner: Learner) -> None:
    mixed = learner.make().partial_fit(STREAM.X[:30], STREAM.Y[:30])
    middle = STREAM.part(slice(30, 60))
    for x, y in zip(middle.pairs(), middle.numbers(), strict=True):
        mixed.learn_one(x, y)
    mixed.partial_fit(STREAM.X[60:], STREAM.Y[60:])
    assert_same(whole(mixed), fitted_bits(learner))


@sizes
@learners_that(learners.GROW, learners.LEARN_ONE)
def test_one_by_one_is_a_batch_while_labels_appear(learner: Learner, size: int) -> None:
    batches = learner.make()
    for start in range(0, len(STREAM.Y), size):
        part = STREAM.part(slice(start, start + size))
        batches.partial_fit(part.X, part.sets(), "grow")
    single = learner.make()
    for x, y in zip(STREAM.pairs(), STREAM.sets(), strict=True):
        single.learn_one(x, y)
    assert_same(learnt(single), learnt(batches))


@sizes
@learners_that(learners.RANK)
def test_weighted_batches_of_any_size_are_one_fit(learner: Learner, size: int) -> None:
    """Among the weights are zeros, which in small batches stand alone."""
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], len(STREAM.Y))
    model = learner.make()
    for start in range(0, len(STREAM.Y), size):
        rows = slice(start, start + size)
        model.partial_fit(STREAM.X[rows], STREAM.Y[rows], sample_weight=weights[rows])
    assert_same(whole(model), whole(learner.make().fit(STREAM.X, STREAM.Y, weights)))


@learners_that(learners.RANK)
def test_two_passes_are_the_stream_twice(learner: Learner) -> None:
    twice = learner.make().set_params(passes=2).fit(STREAM.X, STREAM.Y)
    again = learner.make().fit(STREAM.X, STREAM.Y).partial_fit(STREAM.X, STREAM.Y)
    assert_same(learnt(twice), learnt(again))


@learners_that(learners.RANK)
def test_fit_forgets_what_was_learnt_before(learner: Learner) -> None:
    other = make_stream(seed=3, features=N_FEATURES, labels=N_LABELS + 3)
    again = learner.make().fit(other.X, other.Y).fit(STREAM.X, STREAM.Y)
    assert_same(whole(again), fitted_bits(learner))


@pytest.mark.parametrize("form", FORMS)
@learners_that(learners.RANK)
def test_every_form_of_X_is_the_same_matrix(learner: Learner, form: str) -> None:
    X = FORMS[form]
    model = learner.make().partial_fit(X, STREAM.Y)
    held, predicted = batch_bits(learner)
    assert_same(whole(model), held)
    assert_same(looked_at(model, X), predicted)


@learners_that(learners.LEARN_ONE, learners.RANK)
def test_every_form_of_one_example_is_the_same(learner: Learner) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    indices, values = list(STREAM.pairs())[7]
    order = np.random.default_rng(0).permutation(len(indices))
    half = np.concatenate([values, values]) / 2
    ways: list[Any] = [
        (indices, values),
        (indices.astype(np.int64), values.astype(np.float32)),
        (indices[order], values[order]),
        (np.concatenate([indices, indices]), half),
        (indices.tolist(), values.tolist()),
        (np.repeat(indices, 2)[::2], np.repeat(values, 2)[::2]),
        dict(zip(indices.tolist(), values.tolist(), strict=True)),
    ]
    assert {tuple(model.rank_one(x)) for x in ways} == {tuple(model.rank(STREAM.X[[7]])[0])}
    after = []
    for x in ways:
        single = learner.make().add_labels(range(N_LABELS))
        after.append(learnt(single.learn_one(x, [1, 4])))
    for found in after:
        assert_same(found, after[0])


@learners_that(learners.RANK)
def test_scores_before_learning_are_those_of_decision_function(learner: Learner) -> None:
    fast = learner.make().predict_then_learn(STREAM.X, STREAM.Y)
    model = learner.make()
    model.partial_fit(STREAM.X[[0]], STREAM.Y[[0]])
    for i in range(1, len(STREAM.Y)):
        slow = model.decision_function(STREAM.X[[i]])
        assert slow.tobytes() == fast[i].tobytes(), f"row {i}"
        model.partial_fit(STREAM.X[[i]], STREAM.Y[[i]])
    assert_same(whole(model), batch_bits(learner)[0])


@learners_that(learners.RANK)
def test_measuring_on_the_way_learns_the_same(learner: Learner) -> None:
    measured = learner.make()
    measured.predict_then_learn(STREAM.X, STREAM.Y)
    assert_same(whole(measured), batch_bits(learner)[0])


@learners_that(learners.RANK)
def test_ranks_sort_the_scores(learner: Learner) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    scores, ranks = model.decision_function(STREAM.X), model.rank(STREAM.X)
    # Labels that score the same come in the order of their columns.
    assert np.array_equal(ranks, np.argsort(-scores, axis=1, kind="stable"))
    assert np.array_equal(model.rank(STREAM.X, 3), ranks[:, :3])


@learners_that(learners.RANK, learners.CUTOFF)
def test_labels_are_predicted_from_the_cutoff_on(learner: Learner) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    assert np.array_equal(
        model.predict(STREAM.X), model.decision_function(STREAM.X) >= model.cutoff_
    )


@learners_that(learners.RANK)
def test_rows_are_predicted_one_by_one(learner: Learner) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    together = model.decision_function(STREAM.X)
    apart = np.concatenate([model.decision_function(row[None]) for row in STREAM.X.toarray()])
    assert together.tobytes() == apart.tobytes()
