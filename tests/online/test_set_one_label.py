"""Tests of `set_one_label`: whether every item has one label can change after the start."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import (
    LabelRanker,
    M3LClassifier,
    PartialFeedbackRanker,
    Predtron,
    SharedLabelRanker,
    Tagger,
    model_hash,
)
from tagalong.learning.examples import SparseRows
from tagalong.learning.places import Places
from tagalong.online.compact import compact_ranker
from tests.contract.bits import assert_same, flatten, whole
from tests.contract.readers import read_while_writing
from tests.contract.stream import make_stream
from tests.race_streams import changing_words

STREAM = make_stream(rows=160, labels=6)
X, SETS, SINGLE = STREAM.X, STREAM.sets(), [[label] for label in STREAM.singles()]
SETTINGS: list[Any] = ["auto", True, False]
LEARNERS: dict[str, dict[str, Any]] = {
    "race": {},
    "one-learner": {"race": None},
    "entropic": {"geometry": "entropic", "n_features": X.shape[1]},
    "race-without-probability": {"probability": False},
}

every_ranker = pytest.mark.parametrize("parameters", LEARNERS.values(), ids=LEARNERS)
every_setting = pytest.mark.parametrize("setting", SETTINGS)


def taught(parameters: dict[str, Any], targets: Any = SETS, rows: int = 60) -> LabelRanker:
    return LabelRanker(**parameters).partial_fit(X[:rows], targets[:rows], "grow")


@pytest.mark.parametrize("started", [False, True])
@every_setting
@every_ranker
def test_as_if_it_was_given_at_the_start(
    parameters: dict[str, Any], setting: Any, started: bool
) -> None:
    given, *changed = (LabelRanker(**parameters, one_label=each) for each in [setting, *SETTINGS])
    for model in (given, *changed):
        if started:
            model.start()
        if model is not given:
            model.set_one_label(setting)
        model.partial_fit(X[:60], SINGLE[:60], "grow")
    for model in changed:
        assert_same(whole(model), whole(given))
        assert model_hash(model) == model_hash(given)


def places_of(model: LabelRanker) -> Places:
    rows = X[100:]
    return model.find_places(
        SparseRows(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)
    )


@every_ranker
def test_answers_and_probabilities_follow(parameters: dict[str, Any]) -> None:
    model = taught(parameters)
    assert not model.has_one_label
    before = places_of(model)
    model.set_one_label(True)
    assert model.has_one_label
    assert model.one_label is True
    after = places_of(model)
    assert (after.chosen == (np.arange(6) == 0)).all()
    if parameters.get("probability", True):
        np.testing.assert_allclose(after.probabilities.sum(axis=1), 1)
    for setting in (False, "auto"):
        model.set_one_label(setting)
        assert not model.has_one_label
        assert_same(flatten(places_of(model)), flatten(before))


@every_ranker
def test_one_label_is_required_from_then_on(parameters: dict[str, Any]) -> None:
    model = taught(parameters)
    model.set_one_label(True)
    before = whole(model)
    two = ["label-0", "label-1"]
    with pytest.raises(ValueError, match="the example has 2 labels, but one_label=True"):
        model.learn_one(([0], [1.0]), two)
    with pytest.raises(ValueError, match="row 1 has 2 labels, but one_label=True"):
        model.partial_fit(X[60:62], [two[:1], two])
    assert_same(whole(model), before)
    model.set_one_label(False)
    model.learn_one(([0], [1.0]), two)


@pytest.mark.parametrize("parameters", [{}, {"race": None}], ids=["race", "one-learner"])
def test_auto_notices_it_from_the_answers_so_far(parameters: dict[str, Any]) -> None:
    model = LabelRanker(one_label=False, **parameters)
    model.partial_fit(X[:40], SINGLE[:40], "grow")
    assert not model.has_one_label
    model.set_one_label("auto")
    assert model.has_one_label
    model.learn_one(([0], [1.0]), ["label-0", "label-1"])
    assert not model.has_one_label


def test_auto_means_one_label_if_targets_are_one_label_per_row() -> None:
    model = LabelRanker().fit(X, STREAM.singles())
    before = model_hash(model)
    model.set_one_label(False)
    assert not model.has_one_label
    assert model_hash(model) != before
    model.set_one_label("auto")
    assert model.has_one_label
    assert model_hash(model) == before


Copy = Callable[[LabelRanker, Path], Any]


def through_a_file(model: LabelRanker, folder: Path) -> Any:
    model.save(folder / "model")
    return tagalong.load(folder / "model")


@pytest.mark.parametrize(
    "copied",
    [
        through_a_file,
        lambda model, folder: pickle.loads(pickle.dumps(model)),
        lambda model, folder: copy.deepcopy(model),
    ],
    ids=["file", "pickle", "deepcopy"],
)
@every_setting
@every_ranker
def test_copies_after_the_change_learn_the_same(
    parameters: dict[str, Any], setting: Any, copied: Copy, tmp_path: Path
) -> None:
    model = taught(parameters, SINGLE)
    model.set_one_label(not setting if isinstance(setting, bool) else True)
    model.set_one_label(setting)
    again = copied(model, tmp_path)
    assert model_hash(again) == model_hash(model)
    for each in (model, again):
        each.partial_fit(X[60:], SINGLE[60:])
    assert_same(whole(again), whole(model))
    assert model_hash(again) == model_hash(model)
    assert again.has_one_label == model.has_one_label


def test_contestants_that_join_later_follow(tmp_path: Path) -> None:
    """A loaded race makes them with the changed setting, and the live one does not."""
    rows, labels = changing_words(700)
    sets = [[label] for label in labels]
    model = LabelRanker().partial_fit(rows[:300], sets[:300], "grow")
    model.set_one_label(True)
    loaded = through_a_file(model, tmp_path)
    for each in (model, loaded):
        each.partial_fit(rows[300:], sets[300:])
    assert model.drift is not None
    assert model_hash(loaded) == model_hash(model)


@every_ranker
def test_the_hash_follows_the_setting(parameters: dict[str, Any]) -> None:
    model = taught(parameters)
    hashes: dict[object, str] = {}
    for setting in [*SETTINGS, *reversed(SETTINGS)]:
        model.set_one_label(setting)
        assert hashes.setdefault(setting, model_hash(model)) == model_hash(model)
    assert len(set(hashes.values())) == 3


def rows_of(places: Places) -> list[list[bytes]]:
    """Return the bits of each row."""
    columns = [getattr(places, field.name) for field in fields(places)]
    return [[column[row].tobytes() for column in columns] for row in range(60)]


@every_ranker
def test_readers_see_one_setting_or_the_other(parameters: dict[str, Any]) -> None:
    model = taught(parameters)
    possible = []
    for setting in (True, False):
        model.set_one_label(setting)
        possible.append(rows_of(places_of(model)))

    def read() -> None:
        for row, found in enumerate(rows_of(places_of(model))):  # each under the lock
            assert found in (possible[0][row], possible[1][row])

    steps = [partial(model.set_one_label, number % 2 == 0) for number in range(40)]
    read_while_writing(steps, read)


def test_a_shallow_copy_has_a_setting_of_its_own() -> None:
    model = taught({})
    before = whole(model)
    copy.copy(model).set_one_label(True)
    assert_same(whole(model), before)


def test_numpy_flags_are_accepted_and_other_values_refused() -> None:
    model = taught({})
    model.set_one_label(np.True_)  # type: ignore[arg-type]
    assert model.one_label is True
    before = whole(model)
    for wrong in ("yes", 1, None):
        with pytest.raises(ValueError, match=r"one_label must be 'auto', True or False, got"):
            model.set_one_label(wrong)  # type: ignore[arg-type]
    assert_same(whole(model), before)


OTHERS = [
    SharedLabelRanker(),
    PartialFeedbackRanker(n_features=4),
    Predtron(),
    Predtron("subset-ranking"),
]


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("learner", OTHERS, ids=str)
def test_other_learners_have_no_such_setting(learner: Any, started: bool) -> None:
    model = copy.deepcopy(learner)
    if started:
        model.start()
    before = whole(model)
    model.set_one_label("auto")
    for setting in (True, False):
        name = type(learner).__name__
        with pytest.raises(ValueError, match=f"a {name} has no one_label setting"):
            model.set_one_label(setting)
    with pytest.raises(ValueError, match="one_label must be 'auto', True or False, got 'no'"):
        model.set_one_label("no")
    assert_same(whole(model), before)


def test_a_compact_ranker_cannot_be_changed() -> None:
    model = taught({})
    model.set_one_label(True)
    small = compact_ranker(model)
    assert small.has_one_label
    for setting in SETTINGS:
        with pytest.raises(ValueError, match="compact, which means for predictions only"):
            small.set_one_label(setting)


def test_taggers() -> None:
    tagger = Tagger()
    for number in range(30):
        tagger.learn(f"word{number % 3}", [f"l{number % 3}", "all"])
    before = tagger.model_hash()
    assert len([each for each in tagger.suggest("word1", k=None) if each.chosen]) > 1
    assert tagger.set_one_label(True) is tagger
    assert tagger.has_one_label
    assert tagger.model_hash() != before
    assert [each.chosen for each in tagger.suggest("word1")] == [True, False, False, False]
    with pytest.raises(ValueError, match="the example has 2 labels, but one_label=True"):
        tagger.learn("word1", ["l1", "all"])
    tagger.set_one_label("auto")
    assert tagger.model_hash() == before
    tagger.learn("word1", ["l1", "all"])


def test_taggers_with_other_learners() -> None:
    shared = Tagger(SharedLabelRanker()).set_one_label("auto")
    with pytest.raises(ValueError, match="a SharedLabelRanker has no one_label setting"):
        shared.set_one_label(True)
    with pytest.raises(ValueError, match="M3LClassifier is a batch learner"):
        Tagger(M3LClassifier().fit(X, STREAM.Y)).set_one_label(True)
