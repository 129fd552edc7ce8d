"""Settings are passed to the native core by name: all required ones, and no others."""

from typing import Any

import numpy as np
import pytest

from tagalong import (
    LabelRanker,
    M3LClassifier,
    PartialFeedbackRanker,
    Predtron,
    SharedLabelRanker,
)
from tagalong import _native as core
from tagalong.online.native import new_native
from tests.contract.bits import holder_of

LEARNERS = [
    LabelRanker(),
    LabelRanker(race=None),
    SharedLabelRanker(),
    PartialFeedbackRanker(),
    Predtron(),
]
EVERY = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
# With custom features, the settings of FolderAffinity have defaults. Predtron's geometry is only
# used by its certificate.
NOT_NEEDED: dict[type, set[str]] = {
    LabelRanker: set(),
    SharedLabelRanker: {"often", "seldom", "common", "rare", "seldom_of"},
    PartialFeedbackRanker: set(),
    Predtron: {"geometry"},
}


def started(learner: Any) -> Any:
    return holder_of(learner.fit(np.eye(3), [0, 1, 2]))


@EVERY
def test_every_setting_of_a_learner_is_required(learner: Any) -> None:
    model = started(learner)
    for name in model._settings:
        settings = {n: v for n, v in model._settings.items() if n != name}
        if name in NOT_NEEDED[type(learner)]:
            model._make_native(settings)
        else:
            with pytest.raises((TypeError, KeyError)):
                model._make_native(settings)


@EVERY
def test_an_unknown_setting_raises(learner: Any) -> None:
    model = started(learner)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        model._make_native({**model._settings, "unheard_of": 1})


@EVERY
def test_a_setting_of_the_wrong_type_raises(learner: Any) -> None:
    model = started(learner)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        model._make_native({**model._settings, "normalize": "yes", "C": "large"})


def test_dtype_selects_the_class() -> None:
    kinds = (lambda **given: ("single", given), lambda **given: ("double", given))
    settings = {"C": 1.0, "mine": None}
    for dtype, name in (("float32", "single"), ("float64", "double")):
        found = new_native(kinds, {**settings, "dtype": dtype}, python_only=("mine",))
        assert found == (name, {"C": 1.0})


def test_settings_are_keyword_only() -> None:
    core.BlockLearner32(update="max", geometry="euclidean", C=1.0, margin=1.0, n_features=2)
    by_place: Any = core.BlockLearner32
    with pytest.raises(TypeError):
        by_place("max", "euclidean", 1.0, 1.0, 2)


def test_solver_settings_equal_those_of_the_classifier() -> None:
    assert M3LClassifier(tol=1e-5).checked_settings().tolerance == 1e-5
