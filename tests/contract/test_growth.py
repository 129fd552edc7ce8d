"""New features and labels may appear at any time; absent ones keep their weights."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.contract import learners
from tests.contract.bits import assert_same, learnt, native_of, whole
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.stream import N_FEATURES, N_LABELS, make_stream
from tests.contract.training import FIRST, SECOND, STREAM


def feature_theta(model: Any, feature: int) -> npt.NDArray[Any]:
    arrays = native_of(model).state()["arrays"]
    (row,) = np.flatnonzero(arrays["features"] == feature)
    return np.asarray(arrays["theta"][row])


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_labels_keep_their_order_of_appearance(learner: LearnerCase) -> None:
    model = learner.make()
    model.learn_one(([0], [1.0]), "b")
    model.learn_one(([1], [1.0]), ["c", "a"])
    model.learn_one(([2], [1.0]), "b")
    assert model.classes_.tolist() == ["b", "c", "a"]


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_a_new_label_is_ranked_from_its_first_example_on(learner: LearnerCase) -> None:
    model = learner.make()
    for x, y in zip(FIRST.pairs(), FIRST.sets(), strict=True):
        known = set(model.classes_.tolist()) if hasattr(model, "classes_") else set()
        assert set(model.rank_one(x)) == known
        model.learn_one(x, y)
        assert set(model.rank_one(x)) == known | set(y)


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_a_label_without_further_examples_stays_known(learner: LearnerCase) -> None:
    model = learner.make().learn_one(([3], [1.0]), "early")
    for x, y in zip(STREAM.pairs(), STREAM.sets(), strict=True):
        model.learn_one(x, y)
    assert model.classes_[0] == "early"
    assert "early" in model.rank_one(([3], [1.0]))
    model.learn_one(([3], [1.0]), "early")
    assert len(model.classes_) == 1 + N_LABELS


@for_learners_with(learners.GROW, learners.RANK, learners.PROTOTYPES)
def test_labels_may_be_added_between_batches(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(FIRST.X, FIRST.sets(), "grow")
    before = model.decision_function(SECOND.X)
    added = [f"late-{i}" for i in range(40)]
    model.add_labels(added)
    assert model.classes_[-40:].tolist() == added
    after = model.decision_function(SECOND.X)
    assert after[:, : before.shape[1]].tobytes() == before.tobytes()
    assert np.isfinite(after).all()
    for _ in range(2):  # some learn slowly what they are not shown
        model.partial_fit(SECOND.X, [["late-0"]] * len(SECOND.Y))
    assert model.rank(SECOND.X, 1)[-1, 0] == "late-0"


@for_learners_with(learners.GROW, learners.RANK)
def test_a_label_scores_minus_infinity_before_it_exists(learner: LearnerCase) -> None:
    Y = [["a"], ["a", "b"], ["c"], ["a"]]
    scores = learner.make().predict_then_learn(STREAM.X[:4], Y, "grow")
    assert np.array_equal(np.isneginf(scores), [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])


@for_learners_with(learners.GROW, learners.RANK)
def test_labels_declared_together_or_one_by_one_give_the_same_bits(learner: LearnerCase) -> None:
    names = list(range(N_LABELS))
    together = learner.make().add_labels(names).partial_fit(STREAM.X, STREAM.Y)
    one_by_one = learner.make().add_labels(names[:3])
    for name in names[3:]:
        one_by_one.add_labels([name])
    one_by_one.partial_fit(STREAM.X, STREAM.Y)
    assert_same(whole(one_by_one), whole(together))


@for_learners_with(learners.LEARN_ONE, learners.ROWS, learners.PROTOTYPES)
def test_an_absent_feature_keeps_its_weights(learner: LearnerCase) -> None:
    model = learner.make().set_params(n_features=None).add_labels(range(N_LABELS))
    for x, y in zip(FIRST.pairs(), FIRST.numbers(), strict=True):
        model.learn_one((x[0] + 100, x[1]), y)
    model.learn_one(([100_000], [1.0]), [3])
    before = feature_theta(model, 100_000).tobytes()
    for x, y in zip(SECOND.pairs(), SECOND.numbers(), strict=True):
        model.learn_one((x[0] + 100, x[1]), y)
    assert feature_theta(model, 100_000).tobytes() == before


@for_learners_with(learners.LEARN_ONE, learners.PROTOTYPES)
def test_unknown_features_do_not_change_the_ranking(learner: LearnerCase) -> None:
    """With normalize, unknown features would change the scale of the known ones."""
    model = learner.make().set_params(normalize=False, n_features=None)
    for (indices, values), y in zip(FIRST.pairs(), FIRST.sets(), strict=True):
        model.learn_one((indices, np.clip(values, -1, 1)), y)
    before = whole(model)
    for indices, values in SECOND.pairs():
        more_indices = np.append(indices, [N_FEATURES + 5, 2**31 - 1])
        more_values = np.append(values, [3.0, -2.0])
        assert model.rank_one((more_indices, more_values)) == model.rank_one((indices, values))
    assert_same(whole(model), before)


@for_learners_with(learners.LEARN_ONE, learners.RANK, learners.PROTOTYPES)
def test_new_features_after_a_matrix_do_not_change_its_columns(learner: LearnerCase) -> None:
    model = learner.make().set_params(n_features=None).partial_fit(FIRST.X, FIRST.Y)
    model.learn_one(([N_FEATURES + 7], [1.0]), [0, 1])
    assert model.n_features_in_ == N_FEATURES
    assert model.coef_.shape == (N_LABELS, N_FEATURES + 8)
    model.partial_fit(SECOND.X, SECOND.Y)
    assert model.rank(SECOND.X).shape == SECOND.Y.shape


@for_learners_with(learners.LEARN_ONE, learners.PROTOTYPES)
def test_a_label_of_unknown_relevance_is_not_updated(learner: LearnerCase) -> None:
    model = learner.make().add_labels(range(4))
    model.learn_one(([0, 1], [1.0, 0.5]), [0], unknown=[1, 3])
    arrays = native_of(model).state()["arrays"]
    assert arrays["theta"].any(axis=0).tolist() == [True, False, True, False]


@for_learners_with(learners.LEARN_ONE, learners.RANK)
def test_unknown_labels_equal_nan_in_an_indicator(learner: LearnerCase) -> None:
    stream = make_stream(seed=5, rows=40)
    Y = stream.Y.astype(np.float64)
    Y[np.random.default_rng(5).random(Y.shape) < 0.2] = np.nan
    batch = learner.make().partial_fit(stream.X, Y)
    single = learner.make().add_labels(range(N_LABELS))
    for x, row in zip(stream.pairs(), Y, strict=True):
        unknown = np.flatnonzero(np.isnan(row)).tolist()
        single.learn_one(x, np.flatnonzero(row == 1).tolist(), unknown=unknown)
    assert_same(learnt(single), learnt(batch))


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_a_new_label_may_appear_as_unknown(learner: LearnerCase) -> None:
    model = learner.make().learn_one(([0], [1.0]), "a", unknown=["b"])
    assert sorted(model.classes_.tolist()) == ["a", "b"]
    model.learn_one(([0], [1.0]), "a", unknown=["c"])
    assert sorted(model.rank_one(([0], [1.0]))) == ["a", "b", "c"]


@for_learners_with(learners.RANK, learners.GROW)
def test_predict_then_learn_scores_before_it_learns_new_features(learner: LearnerCase) -> None:
    """For a learner that started without a matrix, its columns are new features."""
    fast = learner.make().set_params(n_features=None).add_labels(range(N_LABELS))
    scores = fast.predict_then_learn(STREAM.X, STREAM.Y)
    slow = learner.make().set_params(n_features=None).add_labels(range(N_LABELS))
    slow.partial_fit(STREAM.X[[0]], STREAM.Y[[0]])
    for i in range(1, 12):
        expected = slow.decision_function(STREAM.X[[i]])
        assert scores[i].tobytes() == expected.tobytes(), f"row {i}"
        slow.partial_fit(STREAM.X[[i]], STREAM.Y[[i]])
