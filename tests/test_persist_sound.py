"""Sound models are never refused: whatever users do with a model, its file loads again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, PartialFeedbackRanker, Predtron, Tagger
from tagalong.features import TextFeatures
from tests.contract.bits import assert_same, whole
from tests.contract.learners import GROW, LEARNERS, LearnerCase, for_learners_with
from tests.contract.stream import make_stream
from tests.race_streams import LABELS, changing_columns, changing_words


def assert_loads(model: Any, folder: Path) -> Any:
    """Save a model, load it, and return it; both have the same state."""
    path = folder / "model.tagalong"
    model.save(path)
    loaded = tagalong.load(path)
    first = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == first
    return loaded


SAVEABLE = [learner for learner in LEARNERS if "own" not in learner.name]
STREAM = make_stream(rows=400, labels=8)


@pytest.mark.parametrize("learner", SAVEABLE, ids=lambda learner: learner.name)
def test_models_load_along_a_stream(learner: LearnerCase, tmp_path: Path) -> None:
    model = learner.make()
    for start in range(0, 400, 50):
        part = STREAM.part(slice(start, start + 50))
        model.partial_fit(part.X, part.Y)
        loaded = assert_loads(model, tmp_path)
        assert_same(whole(loaded), whole(model))
        model = loaded


@pytest.mark.parametrize("stream", [changing_columns, changing_words])
def test_races_load_in_every_phase(stream: Any, tmp_path: Path) -> None:
    """Contestants that do not suit leave, losers leave, and some start again."""
    X, Y = stream(700)
    classes = LABELS if stream is changing_columns else "grow"
    model: Any = LabelRanker()
    for start in range(0, 700, 35):
        model.partial_fit(X[start : start + 35], Y[start : start + 35], classes)
        loaded = assert_loads(model, tmp_path)
        assert_same(whole(loaded), whole(model))
        model = loaded
    assert model.drift is not None


@for_learners_with(GROW, among=SAVEABLE)
def test_models_load_after_growth_and_changes_of_labels(
    learner: LearnerCase, tmp_path: Path
) -> None:
    model = learner.make().partial_fit(STREAM.X[:60], STREAM.sets()[:60], "grow")
    model.add_labels(["new"])
    assert_loads(model, tmp_path)
    model.rename_label("new", "renamed")
    if not isinstance(model, PartialFeedbackRanker) and "kernel" not in learner.name:
        model.merge_labels(["label-0", "label-1"], "both")
        assert_loads(model, tmp_path)
        model.forget_labels(["label-2", "renamed"])
    assert_loads(model, tmp_path).partial_fit(STREAM.X[60:70], STREAM.sets()[60:70])


@pytest.mark.parametrize("norm", ["l1", "group"])
@pytest.mark.parametrize("problem", ["multilabel", "label-ranking", "multiclass"])
def test_the_unit_of_a_norm_follows_its_weights(norm: str, problem: str, tmp_path: Path) -> None:
    """Merging and forgetting labels changes the size of the weights by a factor of hundreds."""
    random = np.random.default_rng(0)
    tagger = Tagger(Predtron(problem, norm=norm))
    for item in range(400):
        number = int(random.integers(30)) if item % 3 else 0
        words = " ".join(f"w{each}" for each in random.integers(0, 50, 5))
        tagger.learn(f"topic{number} {words} common", [f"l{number}"])
    merged = assert_loads(tagger, tmp_path)
    merged.merge_labels([f"l{number}" for number in range(1, 30)], "x")
    assert_loads(merged, tmp_path).learn("topic1", ["x"])
    for number in range(29):
        tagger.forget_label(f"l{number}")
    assert_loads(tagger, tmp_path).learn("topic1", ["l29"])


def test_an_entropic_model_without_features_loads(tmp_path: Path) -> None:
    ranker = LabelRanker(geometry="entropic")
    ranker.learn_one({}, ["a"])
    assert_loads(ranker, tmp_path).learn_one({"word": 1.0}, ["b"])
    tagger = Tagger(LabelRanker(geometry="entropic"), TextFeatures(buckets=None))
    tagger.learn("", ["a"])
    assert_loads(tagger, tmp_path).learn("word", ["b"])


@pytest.mark.parametrize("together", [False, True])
def test_labels_that_were_not_judged_are_in_the_history(together: bool, tmp_path: Path) -> None:
    tagger = Tagger().learn("first", ["a"])
    if together:
        item = tagalong.Item(text="second", labels=("b",))
        assert tagger.watch_together([item], judged=False) is not None
    else:
        tagger.learn("second", ["b"], judged=False)
    assert (tagger.history.items, tagger.history.count.tolist()) == (1, [1, 0])
    loaded = assert_loads(tagger, tmp_path)
    assert {found.label for found in loaded.suggest("second", k=None)} == {"a", "b"}
    loaded.merge_labels(["a", "b"], into="c")


def test_parameters_that_only_concern_new_matrices_may_differ(tmp_path: Path) -> None:
    ranker = LabelRanker().fit(np.eye(3), [0, 1, 2]).set_params(n_features=10)
    loaded = assert_loads(ranker, tmp_path)
    with pytest.raises(ValueError, match="n_features=10 was declared"):
        loaded.decision_function(np.eye(3))
    loaded.set_params(n_features=None).decision_function(np.eye(3))


def test_subnormal_scores_set_no_range(tmp_path: Path) -> None:
    """The range of the cut-off would have bins without width, and never hold the score."""
    ranker = LabelRanker("single", "euclidean", dtype="float64", C=1, normalize=False, constant=0)
    X = np.full((20, 2), 8e-162)
    for row in range(20):
        ranker.partial_fit(X[row : row + 1], [[row % 2]], classes=[0, 1] if row == 0 else None)
    assert_loads(ranker, tmp_path)


@pytest.mark.parametrize("norm", ["l1", "group"])
def test_rows_of_extreme_length_give_scores(norm: str, tmp_path: Path) -> None:
    X = np.eye(3) * 1e90
    model = Predtron("multiclass", norm=norm, dtype="float64").fit(X, [0, 1, 2])
    assert not np.isnan(model.decision_function(X)).any()
    assert_loads(model, tmp_path)


def test_a_number_that_is_not_finite_is_named_when_saving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranker = LabelRanker().fit(np.eye(3), [0, 1, 2])
    header, arrays = ranker.to_parts()
    header["numbers"]["gain"] = float("inf")
    monkeypatch.setattr(LabelRanker, "to_parts", lambda self: (header, arrays))
    with pytest.raises(ValueError, match=r"cannot be saved: its numbers\.gain is inf"):
        ranker.save(tmp_path / "model.tagalong")
