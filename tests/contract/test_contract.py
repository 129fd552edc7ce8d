"""What every learner promises: copies are the model itself, and looking changes nothing."""

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
from tests.contract.courses import FIRST, SECOND, STREAM, Course, every_course, taught, taught_all
from tests.contract.learners import Learner, learners_that

Copy = Callable[[Any, Path], Any]


def through_a_file(model: Any, folder: Path) -> Any:
    model.save(folder / "model.tagalong")
    # Features of the user's own are not in the file.
    own = getattr(model, "features", None)
    given = {} if own is None else {"features": clone(own, safe=False)}
    return tagalong.load(folder / "model.tagalong", **given)


def pickled(model: Any, folder: Path) -> Any:
    return pickle.loads(pickle.dumps(model))


def deep_copied(model: Any, folder: Path) -> Any:
    return copy.deepcopy(model)


copied = pytest.mark.parametrize("copied", [through_a_file, pickled, deep_copied])


@copied
@every_course()
def test_a_copy_holds_and_predicts_the_same_bits(
    learner: Learner, course: Course, copied: Copy, tmp_path: Path
) -> None:
    model = taught(learner, course, FIRST)
    again = copied(model, tmp_path)
    assert_same(whole(again), whole(model))
    assert_same(course.look(again, SECOND), course.look(model, SECOND))


@copied
@every_course()
def test_a_copy_learns_on_as_if_never_copied(
    learner: Learner, course: Course, copied: Copy, tmp_path: Path
) -> None:
    model = copied(taught(learner, course, FIRST), tmp_path)
    course.teach(model, SECOND)
    held, predicted = taught_all(learner, course)
    assert_same(whole(model), held)
    assert_same(course.look(model, STREAM), predicted)


@copied
@every_course()
def test_copying_and_teaching_the_copy_leave_the_model_alone(
    learner: Learner, course: Course, copied: Copy, tmp_path: Path
) -> None:
    model = taught(learner, course, FIRST.part(slice(0, 6)))
    before = whole(model)
    course.teach(copied(model, tmp_path), SECOND)
    assert_same(whole(model), before)


@learners_that(learners.GROW, learners.LEARN_ONE)
def test_a_shallow_copy_shares_no_part_of_a_model(learner: Learner) -> None:
    """Shared labels beside weights of one's own would not fit together."""
    model = learner.make().learn_one(([0], [1.0]), "a")
    before = whole(model)
    copy.copy(model).learn_one(([0], [1.0]), "b")
    assert_same(whole(model), before)


@every_course()
def test_looking_changes_nothing(learner: Learner, course: Course) -> None:
    model = taught(learner, course, FIRST)
    before = whole(model)
    course.look(model, SECOND)
    assert_same(whole(model), before)


@every_course()
def test_a_clone_is_new_and_learns_the_same(learner: Learner, course: Course) -> None:
    model = taught(learner, course, FIRST)
    cloned = clone(model)
    assert cloned.get_params() == model.get_params()
    assert not hasattr(cloned, "classes_")
    course.teach(cloned, FIRST)
    assert_same(whole(cloned), whole(model))


@every_course()
def test_the_stream_is_worth_learning(learner: Learner, course: Course) -> None:
    """The other tests would say little about models that have learnt nothing."""
    once = taught(learner, course, FIRST)
    assert course.look(once, STREAM) != taught_all(learner, course)[1]
