"""Contract of every learner: copies equal the model, and predicting does not change it."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

import tagalong
from tests.contract import learners
from tests.contract.bits import assert_same, whole
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.training import (
    FIRST,
    SECOND,
    STREAM,
    TrainingMode,
    every_training_mode,
    trained,
    trained_bits,
)

Copy = Callable[[Any, Path], Any]


def saved_and_loaded(model: Any, folder: Path) -> Any:
    model.save(folder / "model.tagalong")
    # Custom features are code, so the file does not hold them.
    custom = getattr(model, "features", None)
    arguments = {} if custom is None else {"features": clone(custom, safe=False)}
    return tagalong.load(folder / "model.tagalong", **arguments)


def pickled(model: Any, folder: Path) -> Any:
    return pickle.loads(pickle.dumps(model))


def deep_copied(model: Any, folder: Path) -> Any:
    return copy.deepcopy(model)


copied = pytest.mark.parametrize("copied", [saved_and_loaded, pickled, deep_copied])


@copied
@every_training_mode()
def test_a_copy_has_the_same_state_and_predictions(
    learner: LearnerCase, mode: TrainingMode, copied: Copy, tmp_path: Path
) -> None:
    model = trained(learner, mode, FIRST)
    again = copied(model, tmp_path)
    assert_same(whole(again), whole(model))
    assert_same(mode.inspect(again, SECOND), mode.inspect(model, SECOND))


@copied
@every_training_mode()
def test_a_copy_continues_to_learn_as_the_model_would(
    learner: LearnerCase, mode: TrainingMode, copied: Copy, tmp_path: Path
) -> None:
    model = copied(trained(learner, mode, FIRST), tmp_path)
    mode.train(model, SECOND)
    expected, expected_predictions = trained_bits(learner, mode)
    assert_same(whole(model), expected)
    assert_same(mode.inspect(model, STREAM), expected_predictions)


@copied
@every_training_mode()
def test_training_a_copy_does_not_change_the_model(
    learner: LearnerCase, mode: TrainingMode, copied: Copy, tmp_path: Path
) -> None:
    model = trained(learner, mode, FIRST.part(slice(0, 6)))
    before = whole(model)
    mode.train(copied(model, tmp_path), SECOND)
    assert_same(whole(model), before)


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_training_a_shallow_copy_does_not_change_the_model(learner: LearnerCase) -> None:
    """If a copy shared the labels but not the weights, the two would not match."""
    model = learner.make().learn_one(([0], [1.0]), "a")
    before = whole(model)
    copy.copy(model).learn_one(([0], [1.0]), "b")
    assert_same(whole(model), before)


@every_training_mode()
def test_predicting_does_not_change_the_model(learner: LearnerCase, mode: TrainingMode) -> None:
    model = trained(learner, mode, FIRST)
    before = whole(model)
    mode.inspect(model, SECOND)
    assert_same(whole(model), before)


@every_training_mode()
def test_a_clone_is_untrained_and_learns_the_same(learner: LearnerCase, mode: TrainingMode) -> None:
    model = trained(learner, mode, FIRST)
    cloned = clone(model)
    assert cloned.get_params() == model.get_params()
    assert not hasattr(cloned, "classes_")
    mode.train(cloned, FIRST)
    assert_same(whole(cloned), whole(model))


@every_training_mode()
def test_training_on_the_stream_changes_predictions(
    learner: LearnerCase, mode: TrainingMode
) -> None:
    """Otherwise the other tests would compare models that have learnt nothing."""
    once = trained(learner, mode, FIRST)
    assert mode.inspect(once, STREAM) != trained_bits(learner, mode)[1]
