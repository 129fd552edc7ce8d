"""Tests of the River adapters: River's own checks, and the same bits as the learner."""

import copy
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import LabelRanker, Predtron, SharedLabelRanker, load

pytest.importorskip("river")

from collections.abc import Hashable
from typing import Any

from river import checks, compose, datasets, ensemble, evaluate, metrics, preprocessing

from tagalong.compat.river import MulticlassRanker, MultiLabelRanker
from tests.online.custom_features import Affinity, Broken

MODELS = [MultiLabelRanker, MulticlassRanker]


# River's checks of multi-label classifiers download the data set Music. Yeast replaces it, as it
# is part of River. No check is omitted.
@pytest.mark.parametrize(
    "model",
    [
        MulticlassRanker(),
        MultiLabelRanker(),
        MultiLabelRanker(LabelRanker("single", "euclidean", average=False, dtype="float64")),
        MulticlassRanker(Predtron("multiclass", average=True)),
        MultiLabelRanker(Predtron("label-ranking", step=1.0)),
        MultiLabelRanker(Predtron("multilabel", "l1", average=True, n_features=1000)),
        MultiLabelRanker(Predtron("multilabel", kernel="rbf", budget=50, average=True)),
    ],
    ids=[
        "one label",
        "many labels",
        "another learner",
        "Predtron, classes",
        "Predtron, rankings",
        "Predtron, averaged l1 norm",
        "Predtron, kernel",
    ],
)
def test_rivers_own_checks(model, monkeypatch):
    monkeypatch.setattr(datasets, "Music", datasets.Yeast)
    names = [check.__name__ for check in checks.yield_checks(model)]
    assert "check_shuffle_features_no_impact" in names
    assert model._unit_test_skips() == set()
    checks.check_estimator(model)


def test_message_without_river(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.base", None)
    monkeypatch.delitem(sys.modules, "tagalong.compat.river")
    with pytest.raises(ImportError, match=r"needs River.*pip install 'tagalong\[river\]'"):
        import tagalong.compat.river  # noqa: F401


VALUES = st.one_of(
    st.floats(-5, 5, width=32), st.booleans(), st.sampled_from(["red", "blue", ""]), st.none()
)
EXAMPLES = st.dictionaries(st.sampled_from(["a", "b", "größe", "d"]), VALUES, max_size=4)
ANSWERS = st.dictionaries(st.sampled_from("xyz"), st.sampled_from([True, False, None]), max_size=3)


def plain_features(x):
    """Reference implementation of the conversion of features."""
    strings = {f"{name}={value}": 1.0 for name, value in x.items() if isinstance(value, str)}
    others = {
        name: float(value)
        for name, value in x.items()
        if value is not None and not isinstance(value, str)
    }
    return {name: (strings | others)[name] for name in sorted(strings | others)}


@settings(max_examples=60)
@given(st.lists(st.tuples(EXAMPLES, ANSWERS), max_size=10))
def test_multilabel_model_gives_the_bits_of_its_learner(rounds):
    model, plain = MultiLabelRanker(), LabelRanker()
    labels = []
    for x, y in rounds:
        new = [label for label in y if label not in labels]
        if new:
            plain.add_labels(new)
            labels += new
        relevant = [label for label in y if y[label]]
        unknown = [label for label in labels if y.get(label) is None]
        if labels or not y:
            plain.learn_one(plain_features(x) or {"": 0.0}, relevant, unknown)
        model.learn_one(x, y)
        scores, cutoff = plain.score_one(plain_features(x))
        assert model.learner.score_one(plain_features(x))[0].tolist() == scores.tolist()
        assert model.predict_one(x) == dict(zip(labels, scores >= cutoff, strict=True))
        places = plain.places_one(plain_features(x))
        probabilities = places.probability_matrix(len(labels))[0].tolist() if labels else []
        assert [p[True] for p in model.predict_proba_one(x).values()] == probabilities
        assert model.rank_one(x) == plain.rank_one(plain_features(x))
    if rounds:
        assert str(model.learner.certificate_) == str(plain.certificate_)


@settings(max_examples=40)
@given(st.lists(st.tuples(EXAMPLES, st.sampled_from(["x", "y", 3, ("t", 1)])), max_size=12))
def test_multiclass_model_gives_the_bits_of_its_learner(rounds):
    model, plain = MulticlassRanker(), LabelRanker()
    assert model.predict_one({}) is None
    assert model.predict_proba_one({}) == {}
    for x, y in rounds:
        model.learn_one(x, y)
        if not plain.is_started or y not in plain.classes_.tolist():
            plain.add_labels([y])
        plain.learn_one(plain_features(x) or {"": 0.0}, [y])
        scores, _ = plain.score_one(plain_features(x))
        assert model.predict_one(x) == plain.classes_.tolist()[int(scores.argmax())]
        shares = model.predict_proba_one(x)
        assert list(shares) == list(plain.classes_)
        assert sum(shares.values()) == pytest.approx(1)
        places = plain.places_one(plain_features(x))
        probabilities = places.probability_matrix(len(plain.classes_))[0]
        if probabilities.any():
            assert list(shares.values()) == pytest.approx(
                (probabilities / probabilities.sum()).tolist()
            )


def test_absent_labels_are_unknown_and_false_labels_irrelevant():
    absent, none, false = MultiLabelRanker(), MultiLabelRanker(), MultiLabelRanker()
    for model in (absent, none, false):
        model.learn_one({"a": 1}, {"x": True, "y": False, "z": True})
    absent.learn_one({"b": 1}, {"x": True, "y": False})
    none.learn_one({"b": 1}, {"x": True, "y": False, "z": None})
    false.learn_one({"b": 1}, {"x": True, "y": False, "z": False})
    scores = [model.learner.score_one({"b": 1.0})[0].tolist() for model in (absent, none, false)]
    assert scores[0] == scores[1]
    assert scores[2][2] < scores[0][2]


def test_new_irrelevant_label_is_learnt():
    model = MultiLabelRanker()
    model.learn_one({"a": 1}, {"x": True, "y": False})
    assert model.learner.certificate_.mistakes == 1
    assert model.rank_one({"a": 1}) == ["x", "y"]


@pytest.mark.parametrize(
    "x, message",
    [
        ({"a": float("nan")}, "feature 'a' is NaN; values must be finite numbers, bools, strings"),
        ({"a": float("inf")}, "feature 'a' is inf"),
        ({"a": [1]}, r"feature 'a' is \[1\]"),
        ({"a": 1j}, "feature 'a' is 1j"),
        ({"a": "b", "a=b": 1}, "two features have the name 'a=b'"),
        ({"1": 1, 1: 2}, "two features have the name '1'"),
        ({"a": 1e300, "b": 1}, "too long"),
        ([1, 2], r"x must be a mapping of features to values, got \[1, 2\]"),
    ],
)
@pytest.mark.parametrize("fitted", [False, True])
def test_invalid_features_are_named_and_change_nothing(x, message, fitted):
    model = MultiLabelRanker()
    if fitted:
        model.learn_one({"a": 1, "c": "d"}, {"x": True, "y": False})
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, {"x": True, "new": False})
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "y, message",
    [
        ({"x": "yes"}, "y: label 'x' is 'yes'; it must be True, False or None"),
        ({"x": 0.5}, "y: label 'x' is 0.5"),
        (["x"], r"y must be a mapping of labels to True, False or None, got \['x'\]"),
        ({None: True}, "None is not a label"),
    ],
)
def test_invalid_labels_are_named_and_change_nothing(y, message):
    model = MultiLabelRanker()
    model.learn_one({"a": 1}, {"x": True, "y": False})
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_one({"a": 2}, y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("model_class", MODELS)
def test_invalid_learners_are_refused(model_class):
    with pytest.raises(ValueError, match=r"learner must be an online ranker .* got 'smooth'"):
        model_class("smooth")


def test_feature_names_of_any_type():
    model = MultiLabelRanker()
    first: dict[Hashable, Any] = {"x": True, "y": np.False_}
    second: dict[Hashable, Any] = {"x": 0, "y": 1}
    for _ in range(3):
        model.learn_one({1: 1, ("bi", "gram"): 2, "flag": np.True_}, first)
        model.learn_one({2: 1}, second)
    assert model.rank_one({("bi", "gram"): 1}) == ["x", "y"]
    assert model.rank_one({2: 1}) == ["y", "x"]


def test_weights_scale_the_step_and_weight_zero_is_ignored():
    model, plain = MultiLabelRanker(), LabelRanker()
    plain.add_labels(["x", "y"])
    for w, label in [(2.0, "x"), (0.5, "y"), (1.0, "x")]:
        model.learn_one({"a": 1, label: 1}, {"x": label == "x", "y": label == "y"}, w=w)
        plain.watch_one({"a": 1.0, label: 1.0}, [label], weight=w)
    scores = plain.score_one({"a": 1.0, "x": 1.0})[0].tolist()
    assert model.learner.score_one({"a": 1.0, "x": 1.0})[0].tolist() == scores
    before = pickle.dumps(model)
    model.learn_one({"a": 1}, {"x": True, "new": False}, w=0)
    with pytest.raises(ValueError, match="w must be positive, got -1"):
        model.learn_one({"a": 1}, {"x": True, "new": False}, w=-1)
    assert pickle.dumps(model) == before


def yeast(rows):
    return datasets.Yeast().take(rows)


def test_in_a_pipeline_with_multi_output_metrics():
    model = preprocessing.StandardScaler() | MultiLabelRanker()
    f1 = metrics.multioutput.MicroAverage(metrics.F1())
    evaluate.progressive_val_score(yeast(300), model, f1)
    exact = metrics.multioutput.ExactMatch()
    evaluate.progressive_val_score(yeast(300), model.clone(), exact)
    assert 0.55 < f1.get() < 0.75  # a model that chooses all or no labels stays below 0.5
    assert 0.02 < exact.get() < 0.5
    assert model["MultiLabelRanker"].learner.certificate_.rounds == 300


def test_new_labels_count_as_not_predicted():
    metric = metrics.multioutput.MacroAverage(metrics.Recall())
    rounds: list[tuple[dict[Hashable, Any], dict[Hashable, bool]]] = [
        ({"a": 1}, {"x": True}),
        ({"b": 1}, {"x": False, "y": True}),
        ({"b": 1}, {"y": True}),
    ]
    evaluate.progressive_val_score(rounds, MultiLabelRanker(), metric)
    assert metric.metrics["y"].cm.n_samples == 2


def test_delayed_labels_and_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0] * 20, "colour": ["red", "blue"] * 20})
    answers = pandas.Series(["warm", "cold"] * 20)
    metric = evaluate.progressive_val_score(
        zip(frame.to_dict("records"), answers, strict=True),
        MulticlassRanker(),
        metrics.Accuracy(),
        delay=3,
    )
    assert metric.get() > 0.8


@pytest.mark.parametrize("model_class", MODELS)
def test_clone_is_unfitted_and_copy_is_fitted(model_class):
    model = model_class(LabelRanker(C=3.0))
    answer = (lambda y: {"x": y == "x", "y": y == "y"}) if model_class is MODELS[0] else str
    for y in "xyxy":
        model.learn_one({y: 1, "both": 1}, answer(y))
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), model)
    for clone in (model.clone(), pipeline.clone()[model_class.__name__], model.clone({})):
        assert clone.learner.C == 3.0
        assert clone.rank_one({"x": 1}) == []
    assert model.clone({"learner": LabelRanker(C=5.0)}).learner.C == 5.0
    whole = model.clone(include_attributes=True)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), whole):
        twin.learn_one({"x": 1, "later": 2}, answer("y"))
        assert twin.rank_one({"later": 1}) == ["y", "x"]
        assert twin.learner.certificate_.rounds == 5
    assert model.learner.certificate_.rounds == 4
    model.learn_one({"x": 1, "later": 2}, answer("y"))
    assert str(model.learner.certificate_) == str(twin.learner.certificate_)


def test_members_of_an_ensemble_have_separate_learners():
    bagging = ensemble.BaggingClassifier(MulticlassRanker(), n_models=3, seed=1)
    accuracy = evaluate.progressive_val_score(
        datasets.Phishing().take(200), bagging, metrics.Accuracy()
    )
    assert accuracy.get() > 0.65
    assert len({id(member.learner) for member in bagging}) == 3


def test_saved_learner_continues_in_river(tmp_path):
    model = MultiLabelRanker()
    for x, y in yeast(50):
        model.learn_one(x, y)
    model.learner.save(tmp_path / "model")
    loaded = MultiLabelRanker(load(tmp_path / "model"))
    for x, y in yeast(60):
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)
        loaded.learn_one(x, y)
        model.learn_one(x, y)


def test_probabilities_are_valid():
    model = MultiLabelRanker()
    for x, y in yeast(200):
        for p in model.predict_proba_one(x).values():
            assert 0 <= p[True] <= 1
            assert p[False] == 1 - p[True]
        model.learn_one(x, y)
    # The most frequent label is probable, the rarest is not.
    probabilities = model.predict_proba_one(x)
    assert probabilities["Class12"][True] > 0.5 > probabilities["Class14"][True]


def test_examples_without_features():
    model = MultiLabelRanker()
    for _ in range(5):
        model.learn_one({}, {"x": True, "y": False})
        model.learn_one({"a": 1}, {"x": False, "y": True})
        model.learn_one({"a": None}, {"x": True, "y": False})
    assert model.learner.certificate_.rounds == 15
    assert model.rank_one({"a": 1})[0] == "y"
    assert model.rank_one({})[0] == "x"


def test_memory_usage_includes_the_weights():
    model = MulticlassRanker()
    before = model._raw_memory_usage
    for i in range(500):
        model.learn_one({f"word{i}": 1}, i % 50)
    assert model._raw_memory_usage > before + 500 * 50 * 4


def test_learner_with_shared_weights() -> None:
    model = MultiLabelRanker(SharedLabelRanker(update="max"))
    for i in range(20):
        model.learn_one({"invoice": 1, f"n{i}": 1}, {"money": True, "travel": False})
        model.learn_one({"flight": 1, f"n{i}": 1}, {"money": False, "travel": True})
    assert model.predict_one({"invoice": 1}) == {"money": True, "travel": False}
    assert model.rank_one({"flight": 1}) == ["travel", "money"]


@pytest.mark.parametrize("kind", MODELS)
def test_custom_features_agree_with_native_features(kind) -> None:
    """Compares the mail features in Python with the native ones, with labels added over time."""
    native, custom = (
        kind(SharedLabelRanker(update="max")),
        kind(SharedLabelRanker(Affinity(), "max")),
    )
    for i in range(20):
        for x, y in [({"invoice": 1, f"n{i}": 1}, "money"), ({"flight": 1, f"n{i}": 1}, "travel")]:
            for model in (native, custom):
                every = {"money": y == "money", "travel": y == "travel"}
                model.learn_one(x, y if kind is MulticlassRanker else every)
    for x in ({"invoice": 1}, {"flight": 1, "n3": 1}):
        assert custom.predict_proba_one(x) == native.predict_proba_one(x)
        assert custom.rank_one(x) == native.rank_one(x)
    assert custom.clone().learner.features == Affinity()


def test_invalid_custom_features_add_no_labels() -> None:
    model = MultiLabelRanker(SharedLabelRanker(Broken(lambda k: np.zeros(k), after=1)))
    model.learn_one({"a": 1}, {"x": True, "y": False})
    with pytest.raises(ValueError, match=r"Broken\.rows, x: the shape is \(3,\)"):
        model.learn_one({"a": 2}, {"z": True})
    assert model.learner.classes_.tolist() == ["x", "y"]
    assert model.learner.certificate_.rounds == 1
