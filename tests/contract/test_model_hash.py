"""Contract of every learner: equal models have equal hashes, and a change gives another hash."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError

import tagalong
from tagalong import (
    BlockProjection,
    LabelRanker,
    M3LClassifier,
    OrdinalRanker,
    Predtron,
    model_hash,
)
from tagalong.features import TextFeatures
from tagalong.learning import model_files
from tests.contract import learners
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.stream import N_LABELS
from tests.contract.test_batches import in_batches
from tests.contract.test_contract import Copy, copied
from tests.contract.training import (
    FIRST,
    SECOND,
    STREAM,
    TrainingMode,
    every_training_mode,
    trained,
)
from tests.data.make_models import ANSWERS, FOLDER
from tests.online.custom_features import Affinity


@copied
@every_training_mode()
def test_a_copy_has_the_same_hash_now_and_later(
    learner: LearnerCase, mode: TrainingMode, copied: Copy, tmp_path: Path
) -> None:
    model = trained(learner, mode, FIRST)
    again = copied(model, tmp_path)
    first = model_hash(model)
    assert model_hash(again) == first
    for each in (model, again):
        mode.train(each, SECOND)
    assert model_hash(again) == model_hash(model) != first


@every_training_mode()
def test_predicting_does_not_change_the_hash(learner: LearnerCase, mode: TrainingMode) -> None:
    model = trained(learner, mode, FIRST)
    before = model_hash(model)
    mode.inspect(model, SECOND)
    x = SECOND.named()[0] if mode.name == "by-name" else next(SECOND.pairs())
    model.score_one(x)
    if learner.name != "predtron-kernel":
        model.explain_one(x, model.labels.names[0])
    for name in ("coef_", "intercept_", "certificate_", "cutoff_", "standings_", "drift"):
        getattr(model, name, None)
    model.coverage()
    model.label_precision()
    assert model_hash(model) == before


@pytest.mark.parametrize("size", [1, 7])
@for_learners_with(learners.RANK)
def test_batches_of_any_size_give_the_same_hash(learner: LearnerCase, size: int) -> None:
    whole = learner.make().partial_fit(STREAM.X, STREAM.Y)
    assert model_hash(in_batches(learner.make(), STREAM, size)) == model_hash(whole)


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_learning_one_by_one_in_any_way_gives_the_same_hash(learner: LearnerCase) -> None:
    learnt, watched = learner.make(), learner.make()
    for x, y in zip(FIRST.pairs(), FIRST.sets(), strict=True):
        learnt.learn_one(x, y)
        watched.watch_one(x, y)
    assert model_hash(watched) == model_hash(learnt)


@every_training_mode()
def test_every_further_example_changes_the_hash(learner: LearnerCase, mode: TrainingMode) -> None:
    model = trained(learner, mode, FIRST)
    hashes = [model_hash(model)]
    for row in range(4):
        mode.train(model, SECOND.part(slice(row, row + 1)))
        hashes.append(model_hash(model))
    assert len(set(hashes)) == len(hashes)


@for_learners_with(learners.GROW)
def test_operations_on_labels_change_the_hash(learner: LearnerCase) -> None:
    model = learner.make().partial_fit(STREAM.X, STREAM.sets(), "grow")
    hashes = [model_hash(model)]

    def note() -> None:
        hashes.append(model_hash(model))

    model.add_labels(["new"])
    note()
    model.rename_label("new", "newer")
    note()
    model.count_mistake("newer")
    if model.label_precision().any():  # learners without confidence count nothing
        note()
    if "partial" not in learner.name and "kernel" not in learner.name:
        model.merge_labels(["label-0", "label-1"], "both")
        note()
        model.forget_labels(["label-2"])
        note()
    assert len(set(hashes)) == len(hashes)
    if "own" not in learner.name:  # custom features may remember the order of changes
        model.rename_label("newer", "new")
        model.rename_label("new", "newer")
        assert model_hash(model) == hashes[-1]


@for_learners_with(learners.GROW, learners.LEARN_ONE)
def test_the_order_of_labels_changes_the_hash(learner: LearnerCase) -> None:
    names = [f"label-{y}" for y in range(N_LABELS)]
    models = [learner.make().add_labels(order) for order in (names, names[::-1])]
    assert model_hash(models[0]) != model_hash(models[1])


def test_parameters_change_the_hash() -> None:
    settings: list[dict[str, Any]] = [{}, {"C": 3.0}, {"race": None}, {"dtype": "float64"}]
    models = [LabelRanker(**each).partial_fit(STREAM.X, STREAM.Y) for each in settings]
    models.append(LabelRanker().partial_fit(STREAM.X, STREAM.Y).set_params(passes=2))
    assert len({model_hash(model) for model in models}) == len(models)


def test_mistakes_of_a_learner_without_confidence_leave_no_trace() -> None:
    """Files hold no confidence then: the model would differ from the loaded one."""
    model = LabelRanker(probability=False).partial_fit(STREAM.X, STREAM.Y)
    before = model_hash(model)
    model.count_mistake(3)
    assert model_hash(model) == before
    assert not model.label_precision().any()
    with pytest.raises(ValueError, match="there is no label 'x'"):
        model.count_mistake("x")


@pytest.mark.parametrize("make", [LabelRanker, BlockProjection, M3LClassifier, Predtron])
def test_a_learner_that_has_learnt_nothing_has_no_hash(make: Callable[[], Any]) -> None:
    with pytest.raises(NotFittedError, match="has no hash before it has learnt"):
        model_hash(make())


def test_an_object_that_is_not_a_model_has_no_hash() -> None:
    with pytest.raises(ValueError, match="a str cannot be saved"):
        model_hash("model")  # type: ignore[arg-type]


def features_of(kind: str) -> dict[str, Any]:
    """Return the custom features of a model, which its file does not hold."""
    return {"features": Affinity()} if kind.endswith("own") else {}


X, CLASSES = STREAM.X.toarray(), STREAM.Y.argmax(axis=1)
OTHER_MODELS: dict[str, Callable[[], Any]] = {
    "m3l": lambda: M3LClassifier(prior="cooccurrence", constant=1.0).fit(X, STREAM.Y),
    "m3l-kernel": lambda: M3LClassifier(kernel="rbf", class_weight={0: 2.0}).fit(X, CLASSES),
    "m3l-sparse": lambda: M3LClassifier(kernel="rbf").fit(STREAM.X, STREAM.Y),
    "m3l-smo": lambda: M3LClassifier(solver="smo", max_iter=5000).fit(X, STREAM.Y),
    "ordinal": lambda: OrdinalRanker(update="optimal", passes=2).fit(X, CLASSES),
    "ordinal-entropic": lambda: OrdinalRanker(geometry="entropic", passes=2).fit(X, CLASSES),
    "queries": lambda: Predtron("subset-ranking").fit(X, CLASSES % 3, group=[30, 30, 30]),
    "words": lambda: TextFeatures(buckets=None, weighting="tfidf").fit(["a b", "b c"]),
}


@pytest.mark.parametrize("kind", [*OTHER_MODELS, *ANSWERS])
def test_a_copy_of_any_model_has_the_same_hash(kind: str, tmp_path: Path) -> None:
    model = OTHER_MODELS[kind]() if kind in OTHER_MODELS else ANSWERS[kind][0]()
    model_files.save(model, tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model", **features_of(kind))
    pickled = pickle.loads(pickle.dumps(model))
    for again in (loaded, pickled, copy.deepcopy(model)):
        assert model_hash(again) == model_hash(model)


def test_the_number_of_threads_does_not_change_the_hash() -> None:
    one, two = (M3LClassifier(n_jobs=n, random_state=0).fit(X, STREAM.Y) for n in (1, 2))
    assert model_hash(one) == model_hash(two)
    assert model_hash(one) != model_hash(M3LClassifier(C=2.0, random_state=0).fit(X, STREAM.Y))


def load(kind: str, written: int) -> Any:
    return tagalong.load(FOLDER / f"{kind}-format{written}.tagalong", **features_of(kind))


@pytest.mark.parametrize("kind", [kind for kind in ANSWERS if kind != "race"])
def test_the_file_format_does_not_change_the_hash(kind: str) -> None:
    """The files have the same model; those of format 2 have no confidence."""
    assert len({model_hash(load(kind, written)) for written in range(3, 7)}) == 1


# The hash of a file must not change with the versions of Tagalong: others may have stored it.
STORED = {
    "block_projection": "2e3670d5c036f1fd480ca7932bad48a5ae3f3c9d8ee3e5651d48a00ec529dcdd",
    "label_ranker": "22dd9e692f6796f3e261c04d76c4c27753cf51dd986f9ac68ba57dfae00e3f1d",
    "m3l_kernel": "f6437ede3bc13cff4bd230e1bf937ec03db06e196627c344e4bef829c794ebed",
    "race": "003d5d3388e543e392831dadf39c1d798ed28e9ca64368f6524cffef4ecee013",
    "shared_label_ranker_own": "e80c758d93d4c946732f4e85d0d6dcd3dd934b4bc7edc3fcfa20532c15715db5",
    "tagger": "02df92b62b0b87ffa60c96fc6a2bcc32b889121ba312056b187dc43a8a5cec36",
    "race_tagger": "8e602a267b581c256076dd8eaa76f088e07627758ff68536bb14ec3bcd57f4e2",
}


@pytest.mark.parametrize("kind", STORED)
def test_hashes_stay_the_same_in_later_versions(kind: str) -> None:
    assert model_hash(load(kind, 6)) == STORED[kind]
