"""An invalid batch raises an error that names the problem and its position; it changes nothing."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tests.contract.bits import assert_same, whole
from tests.contract.learners import LEARNERS, LearnerCase
from tests.contract.stream import N_FEATURES, N_LABELS
from tests.online.bad_batches import BAD_FIRST, BAD_MORE, BAD_X, BAD_Y, GOOD, Bad

BEFORE, AFTER = GOOD.part(slice(0, 10)), GOOD.part(slice(16, None))
CLASSES = list(range(N_LABELS))
MAKE_LABELS = {"unknown label", "unknown word", "single, unknown"}

some_rankers = pytest.mark.parametrize(
    "learner",
    [
        learner
        for learner in LEARNERS
        if learner.name
        in (
            "race-default",
            "ranker-one-learner",
            "ranker-entropic-optimal",
            "ranker-simproj-float64",
        )
    ],
    ids=lambda learner: learner.name,
)


def each(bads: list[Bad]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("bad", bads, ids=lambda bad: bad.name)


@cache
def bits_of_valid_batches(learner: LearnerCase) -> dict[str, bytes]:
    """Return the bits of a model that learnt the valid batches only."""
    model = learner.make().partial_fit(BEFORE.X, BEFORE.Y)
    return whole(model.partial_fit(AFTER.X, AFTER.Y))


@cache
def bits_of_valid_first_batch(learner: LearnerCase) -> dict[str, bytes]:
    """Return the bits of a model whose first batch was valid."""
    return whole(learner.make().partial_fit(AFTER.X, AFTER.Y, CLASSES))


def assert_refused(model: Any, bad: Bad, **more: Any) -> None:
    with pytest.raises(ValueError, match=bad.words):
        model.partial_fit(bad.X, bad.Y, **{**more, **bad.more})


@each(BAD_X + BAD_Y + BAD_MORE)
@some_rankers
def test_an_invalid_batch_changes_nothing(learner: LearnerCase, bad: Bad) -> None:
    model = learner.make().partial_fit(BEFORE.X, BEFORE.Y)
    before = whole(model)
    assert_refused(model, bad)
    assert_same(whole(model), before)
    assert_same(whole(model.partial_fit(AFTER.X, AFTER.Y)), bits_of_valid_batches(learner))


@each(BAD_FIRST)
@some_rankers
def test_an_invalid_first_batch_leaves_the_ranker_unfitted(learner: LearnerCase, bad: Bad) -> None:
    model = learner.make()
    assert_refused(model, bad, classes=CLASSES)
    assert_same(whole(model), whole(learner.make()))
    model.partial_fit(AFTER.X, AFTER.Y, CLASSES)
    assert_same(whole(model), bits_of_valid_first_batch(learner))


@each([bad for bad in BAD_FIRST if "classes" not in bad.more and bad.name not in MAKE_LABELS])
@some_rankers
def test_an_invalid_fit_keeps_the_old_model(learner: LearnerCase, bad: Bad) -> None:
    model = learner.make().partial_fit(BEFORE.X, BEFORE.Y)
    before = whole(model)
    with pytest.raises(ValueError):
        model.fit(bad.X, bad.Y, **bad.more)
    assert_same(whole(model), before)


@each(BAD_X)
@some_rankers
def test_invalid_rows_cannot_be_predicted(learner: LearnerCase, bad: Bad) -> None:
    model = learner.make().partial_fit(BEFORE.X, BEFORE.Y)
    before = whole(model)
    for look in (model.decision_function, model.rank, model.predict):
        with pytest.raises(ValueError, match=bad.words):
            look(bad.X)
    assert_same(whole(model), before)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (None, "Y: row 1: None is not a label"),
        (np.nan, "Y: row 1: nan is not a label"),
        ([3], r"Y: row 1: label \[3\] is not hashable"),
    ],
)
@some_rankers
def test_an_invalid_label_adds_no_labels(learner: LearnerCase, label: Any, words: str) -> None:
    model = learner.make().partial_fit(BEFORE.X, BEFORE.sets(), "grow")
    before = whole(model)
    with pytest.raises(ValueError, match=words):
        model.partial_fit(AFTER.X[:2], [["never seen before"], [label]])
    assert_same(whole(model), before)


@some_rankers
def test_an_invalid_row_adds_no_labels(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(BEFORE.X, BEFORE.sets(), "grow")
    before = whole(model)
    with pytest.raises(ValueError, match="row 0, column 0 is NaN"):
        model.partial_fit(np.full((1, N_FEATURES), np.nan), [["never seen before"]])
    assert_same(whole(model), before)


@some_rankers
def test_an_invalid_batch_does_not_enable_growing_labels(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(BEFORE.X, BEFORE.Y)
    before = whole(model)
    with pytest.raises(ValueError, match="row 0, column 0 is NaN"):
        model.partial_fit(np.full((1, N_FEATURES), np.nan), BEFORE.Y[:1], "grow")
    assert_same(whole(model), before)
    with pytest.raises(ValueError, match="label 'new' is not in classes_"):
        model.partial_fit(BEFORE.X[:1], [["new"]])


@pytest.mark.parametrize("classes", [5, [["a"], ["b"]], [None, "b"], [float("nan"), "b"]])
def test_classes_must_be_labels(classes: Any) -> None:
    with pytest.raises(ValueError, match=r"classes|hashable|not a label"):
        LabelRanker().partial_fit(np.eye(2), np.eye(2), classes)


def test_labels_by_name_need_classes() -> None:
    for Y in (["a", "b"], [["a"], ["b"]]):
        ranker = LabelRanker()
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            ranker.partial_fit(np.eye(2), Y)
        assert_same(whole(ranker), whole(LabelRanker()))


@pytest.mark.parametrize(
    ("dtype", "value", "longest"),
    [("float32", 1e38, "3.40282e+38"), ("float64", 1e200, "1.79769e+308")],
)
@pytest.mark.parametrize("update", ["smooth", "single", "simopt"])
def test_a_row_whose_norm_overflows_the_storage_type(
    dtype: str, value: float, longest: str, update: str
) -> None:
    ranker = LabelRanker(dtype=dtype, update=update).partial_fit(np.eye(3), np.eye(3))
    before = whole(ranker)
    X = np.eye(3)
    X[1, 2] = value
    with pytest.raises(ValueError, match="X: row 1 is too long") as raised:
        ranker.partial_fit(X, np.eye(3))
    assert longest in str(raised.value)
    assert_same(whole(ranker), before)
