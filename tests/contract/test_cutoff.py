"""The cut-off is finite, or infinity as long as nothing is predicted."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tagalong.problems import Multilabel
from tests.contract.learners import CUTOFF, LEARNERS, LearnerCase, for_learners_with
from tests.contract.stream import make_stream

K = 5
X = make_stream(rows=20).X.toarray()

# A Multilabel problem has a fixed cut-off, and learns from rows without labels.
learns_cutoff = [
    one for one in LEARNERS if not isinstance(getattr(one.make(), "problem", None), Multilabel)
]


def checked_prediction(model: Any) -> npt.NDArray[Any]:
    """Return the prediction after checking that it agrees with the cut-off."""
    predicted: npt.NDArray[Any] = model.predict(X)
    cutoff = model.cutoff_
    assert np.isfinite(cutoff) or cutoff == np.inf
    np.testing.assert_array_equal(predicted, model.decision_function(X) >= cutoff)
    return predicted


@for_learners_with(CUTOFF)
def test_before_any_example_nothing_is_predicted(learner: LearnerCase) -> None:
    model = learner.make()
    model.partial_fit(X, np.zeros((len(X), K)), sample_weight=np.zeros(len(X)))
    assert not checked_prediction(model).any()


@for_learners_with(CUTOFF, among=learns_cutoff)
@pytest.mark.parametrize("value", [0.0, np.nan], ids=["none relevant", "all unknown"])
def test_without_relevant_labels_nothing_is_predicted(learner: LearnerCase, value: float) -> None:
    model = learner.make()
    model.partial_fit(X, np.full((len(X), K), value))
    assert not checked_prediction(model).any()


@for_learners_with(CUTOFF)
def test_with_all_labels_relevant_the_cutoff_agrees_with_the_prediction(
    learner: LearnerCase,
) -> None:
    model = learner.make()
    model.partial_fit(X, np.ones((len(X), K)))
    checked_prediction(model)


@for_learners_with(CUTOFF)
def test_after_examples_with_labels_the_cutoff_is_finite(learner: LearnerCase) -> None:
    model = learner.make()
    stream = make_stream()
    model.partial_fit(stream.X, stream.Y)
    checked_prediction(model)
    assert np.isfinite(model.cutoff_)
