"""The same stream gives the same bits in batches of any size and in any form."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.contract import learners
from tests.contract.bits import assert_same, flatten, learnt, whole
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.stream import N_FEATURES, N_LABELS, Stream, forms, make_stream
from tests.contract.training import STREAM

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
def fitted_bits(learner: LearnerCase) -> dict[str, bytes]:
    """Return the bits of a model fitted to the whole stream."""
    return whole(learner.make().fit(STREAM.X, STREAM.Y))


@cache
def batch_bits(learner: LearnerCase) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the bits of a model that learnt the stream as one batch, and of its predictions."""
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    return whole(model), predictions(model, STREAM.X)


def predictions(model: Any, X: Any) -> dict[str, bytes]:
    return flatten([model.decision_function(X), model.rank(X), model.predict(X)])


@sizes
@for_learners_with(learners.RANK)
def test_batches_of_any_size_equal_one_fit(learner: LearnerCase, size: int) -> None:
    assert_same(whole(in_batches(learner.make(), STREAM, size)), fitted_bits(learner))


@for_learners_with(learners.RANK, learners.LEARN_ONE)
def test_learn_one_equals_partial_fit(learner: LearnerCase) -> None:
    batch = learner.make().partial_fit(STREAM.X, STREAM.Y)
    assert_same(learnt(one_by_one(learner.make(), STREAM)), learnt(batch))


@for_learners_with(learners.RANK, learners.LEARN_ONE)
def test_learn_one_and_partial_fit_may_alternate(learner: LearnerCase) -> None:
    mixed = learner.make().partial_fit(STREAM.X[:30], STREAM.Y[:30])
    middle = STREAM.part(slice(30, 60))
    for x, y in zip(middle.pairs(), middle.numbers(), strict=True):
        mixed.learn_one(x, y)
    mixed.partial_fit(STREAM.X[60:], STREAM.Y[60:])
    assert_same(whole(mixed), fitted_bits(learner))


@sizes
@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_learn_one_equals_partial_fit_with_new_labels(learner: LearnerCase, size: int) -> None:
    batches = learner.make()
    for start in range(0, len(STREAM.Y), size):
        part = STREAM.part(slice(start, start + size))
        batches.partial_fit(part.X, part.sets(), "grow")
    single = learner.make()
    for x, y in zip(STREAM.pairs(), STREAM.sets(), strict=True):
        single.learn_one(x, y)
    assert_same(learnt(single), learnt(batches))


@sizes
@for_learners_with(learners.RANK)
def test_weighted_batches_of_any_size_equal_one_fit(learner: LearnerCase, size: int) -> None:
    """Some weights are zero, so some batches of one row have no weight at all."""
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], len(STREAM.Y))
    model = learner.make()
    for start in range(0, len(STREAM.Y), size):
        rows = slice(start, start + size)
        model.partial_fit(STREAM.X[rows], STREAM.Y[rows], sample_weight=weights[rows])
    assert_same(whole(model), whole(learner.make().fit(STREAM.X, STREAM.Y, weights)))


@for_learners_with(learners.RANK)
def test_two_passes_equal_the_stream_twice(learner: LearnerCase) -> None:
    twice = learner.make().set_params(passes=2).fit(STREAM.X, STREAM.Y)
    again = learner.make().fit(STREAM.X, STREAM.Y)
    again.partial_fit(STREAM.X, STREAM.Y, judged=False)  # the rows were seen before
    assert_same(learnt(twice), learnt(again))


@for_learners_with(learners.RANK)
def test_fit_forgets_earlier_training(learner: LearnerCase) -> None:
    other = make_stream(seed=3, features=N_FEATURES, labels=N_LABELS + 3)
    again = learner.make().fit(other.X, other.Y).fit(STREAM.X, STREAM.Y)
    assert_same(whole(again), fitted_bits(learner))


@pytest.mark.parametrize("form", FORMS)
@for_learners_with(learners.RANK)
def test_every_form_of_X_gives_the_same_bits(learner: LearnerCase, form: str) -> None:
    X = FORMS[form]
    model = learner.make().partial_fit(X, STREAM.Y)
    expected, expected_predictions = batch_bits(learner)
    assert_same(whole(model), expected)
    assert_same(predictions(model, X), expected_predictions)


@for_learners_with(learners.LEARN_ONE, learners.RANK)
def test_every_form_of_one_example_gives_the_same_bits(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    indices, values = list(STREAM.pairs())[7]
    order = np.random.default_rng(0).permutation(len(indices))
    half = np.concatenate([values, values]) / 2
    example_forms: list[Any] = [
        (indices, values),
        (indices.astype(np.int64), values.astype(np.float32)),
        (indices[order], values[order]),
        (np.concatenate([indices, indices]), half),
        (indices.tolist(), values.tolist()),
        (np.repeat(indices, 2)[::2], np.repeat(values, 2)[::2]),
        dict(zip(indices.tolist(), values.tolist(), strict=True)),
    ]
    expected = {tuple(model.rank(STREAM.X[[7]])[0])}
    assert {tuple(model.rank_one(x)) for x in example_forms} == expected
    after = []
    for x in example_forms:
        single = learner.make().add_labels(range(N_LABELS))
        after.append(learnt(single.learn_one(x, [1, 4])))
    for found in after:
        assert_same(found, after[0])


@for_learners_with(learners.RANK)
def test_predict_then_learn_returns_the_scores_of_decision_function(learner: LearnerCase) -> None:
    fast = learner.make().predict_then_learn(STREAM.X, STREAM.Y)
    model = learner.make()
    model.partial_fit(STREAM.X[[0]], STREAM.Y[[0]])
    for i in range(1, len(STREAM.Y)):
        slow = model.decision_function(STREAM.X[[i]])
        assert slow.tobytes() == fast[i].tobytes(), f"row {i}"
        model.partial_fit(STREAM.X[[i]], STREAM.Y[[i]])
    assert_same(whole(model), batch_bits(learner)[0])


@for_learners_with(learners.RANK)
def test_predict_then_learn_learns_as_partial_fit_does(learner: LearnerCase) -> None:
    measured = learner.make()
    measured.predict_then_learn(STREAM.X, STREAM.Y)
    assert_same(whole(measured), batch_bits(learner)[0])


@for_learners_with(learners.RANK)
def test_ranks_sort_the_scores(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    scores, ranks = model.decision_function(STREAM.X), model.rank(STREAM.X)
    # Labels with equal scores keep the order of their columns.
    assert np.array_equal(ranks, np.argsort(-scores, axis=1, kind="stable"))
    assert np.array_equal(model.rank(STREAM.X, 3), ranks[:, :3])


@for_learners_with(learners.RANK, learners.CUTOFF)
def test_predicted_labels_score_at_least_the_cutoff(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    assert np.array_equal(
        model.predict(STREAM.X), model.decision_function(STREAM.X) >= model.cutoff_
    )


@for_learners_with(learners.RANK)
def test_scores_of_a_row_do_not_depend_on_other_rows(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.Y)
    together = model.decision_function(STREAM.X)
    separately = np.concatenate([model.decision_function(row[None]) for row in STREAM.X.toarray()])
    assert together.tobytes() == separately.tobytes()
