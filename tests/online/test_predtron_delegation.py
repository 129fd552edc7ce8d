"""Predtron delegates to one of three learners, which have only the methods of their problems."""

import copy
import inspect
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from tagalong import Predtron
from tagalong.online.predtron.custom_problem_learner import CustomProblemPredtron
from tagalong.online.predtron.label_learner import LabelPredtron
from tagalong.online.predtron.query_learner import QueryPredtron
from tests.contract.bits import assert_same, holder_of, native_of, whole

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 3
EXAMPLE = ([0, 2], [1.0, -0.5])
LABEL_METHODS = {
    "add_labels",
    "check_example",
    "confidence",
    "count_mistake",
    "coverage",
    "encode_rows",
    "explain_one",
    "find_places",
    "forget_labels",
    "judge_rows",
    "label_precision",
    "learn_one",
    "merge_labels",
    "places_one",
    "predict_log_proba",
    "predict_proba",
    "rank",
    "rank_one",
    "rename_label",
    "score_one",
    "watch",
    "watch_one",
    "watch_rows",
}


class Colour:
    """A custom problem."""

    dimension, least_loss, most_loss = 3, 1.0, 1.0

    def loss(self, prediction: int, y: int) -> float:
        return float(prediction != y)

    def represent(self, prediction: int) -> Any:
        return np.eye(3)[prediction]

    def decode(self, scores: Any) -> int:
        return int(np.argmax(scores))

    def augmented_decode(self, scores: Any, y: int) -> int:
        return int(np.argmax(scores + (np.arange(3) != y)))

    def correct(self, y: int, scores: Any) -> int:
        return y

    def __repr__(self) -> str:
        return "Colour()"


LEARNERS = {
    "multiclass": LabelPredtron,
    "subset-ranking": QueryPredtron,
    Colour(): CustomProblemPredtron,
}
each_kind = pytest.mark.parametrize(("problem", "learner"), LEARNERS.items(), ids=repr)
without_labels = pytest.mark.parametrize("problem", ["subset-ranking", Colour()], ids=repr)


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@each_kind
def test_the_problem_selects_the_learner(problem: Any, learner: type) -> None:
    assert type(holder_of(Predtron(problem).fit(X, Y))) is learner


def test_the_public_names_of_the_estimator() -> None:
    """The delegation adds no public names."""
    queries = {"watch_query", "score_query"}
    everywhere = LABEL_METHODS | queries | {"n_features_in_", "feature_names_in_"}
    of_scikit_learn = {"get_metadata_routing", "get_params", "set_params"} | {
        f"set_{call}_request" for call in ("fit", "partial_fit", "predict", "score")
    }
    learning = {"fit", "partial_fit", "predict_then_learn", "start", "keep_features"}
    predicting = {"decision_function", "predict", "score", "probabilities"}
    weights = {"coef_", "intercept_", "weights_by_feature", "feature_lengths", "own_feature_names"}
    facts = {"certificate_", "classes_", "cutoff_", "labels", "is_started", "bytes_of_weights"}
    contract = {"task", "learns_online", "learns_rows", "feature_count_matters", "largest_weight"}
    contract |= {"has_one_label", "set_one_label", "labels_come_in_runs", "drift"}
    contract |= {"scores_natively", "has_grades"}
    files = {"save", "to_parts", "from_parts", "check_parameters"}
    calls = everywhere | of_scikit_learn | learning | predicting
    assert public(Predtron) == calls | weights | facts | contract | files


@each_kind
def test_the_estimator_has_all_methods_of_its_learners(problem: Any, learner: type) -> None:
    within = {"current_problem"} | {name for name in dir(learner) if name.startswith("set_")}
    assert public(learner) - within <= public(Predtron)


def test_a_learner_has_only_the_methods_of_its_problems() -> None:
    assert public(LabelPredtron) >= LABEL_METHODS
    assert "watch_query" not in public(LabelPredtron) | public(CustomProblemPredtron)
    assert not LABEL_METHODS & (public(QueryPredtron) | public(CustomProblemPredtron))
    for call in ("fit", "partial_fit", "predict_then_learn", "predict", "score"):
        for learner, takes_groups in zip(LEARNERS.values(), (False, True, False), strict=True):
            assert ("group" in inspect.signature(getattr(learner, call)).parameters) == takes_groups


@pytest.mark.parametrize("call", ["rank", "explain_one", "add_labels", "watch_rows"])
def test_a_delegated_method_has_the_docstring_and_signature_of_the_learner(call: str) -> None:
    ours, original = getattr(Predtron, call), getattr(LabelPredtron, call)
    assert ours.__doc__ == original.__doc__
    assert inspect.signature(ours) == inspect.signature(original)


FOR_LABELS = "{call} is for problems with labels, not for {problem}"
UNSUPPORTED = {
    "learn_one": ((EXAMPLE, 1), FOR_LABELS),
    "watch_one": ((EXAMPLE, 1), FOR_LABELS.replace("{call}", "learn_one")),
    "check_example": ((EXAMPLE, []), FOR_LABELS.replace("{call}", "a single example")),
    "rank_one": ((EXAMPLE,), FOR_LABELS.replace("{call}", "a single example")),
    "score_one": ((EXAMPLE,), FOR_LABELS.replace("{call}", "a single example")),
    "watch": ((X, Y), FOR_LABELS),
    "rank": ((X,), FOR_LABELS),
    "add_labels": ((["a"],), FOR_LABELS),
    "encode_rows": (([["a"]],), FOR_LABELS),
    "explain_one": ((EXAMPLE, "a"), FOR_LABELS),
    "rename_label": (("a", "b"), "there is no label 'a'"),
    "forget_labels": ((["a"],), "there is no label 'a'"),
    "merge_labels": ((["a"], "b"), "there is no label 'a'"),
}


@without_labels
@pytest.mark.parametrize("call", UNSUPPORTED)
def test_calls_for_labels_raise_these_messages(problem: Any, call: str) -> None:
    model = Predtron(problem).fit(X, Y)
    before = whole(model)
    arguments, message = UNSUPPORTED[call]
    shown = "SubsetRanking()" if problem == "subset-ranking" else "Colour()"
    with pytest.raises(ValueError) as refused:
        getattr(model, call)(*arguments)
    assert str(refused.value) == message.format(call=call, problem=shown)
    assert_same(whole(model), before)


@each_kind
def test_groups_and_queries_are_for_subset_ranking_only(problem: Any, learner: type) -> None:
    model = Predtron(problem).fit(X, Y)
    calls = {
        "fit": lambda: model.fit(X, Y, group=[6, 6]),
        "partial_fit": lambda: model.partial_fit(X, Y, group=[6, 6]),
        "predict_then_learn": lambda: model.predict_then_learn(X, Y, group=[6, 6]),
        "predict": lambda: model.predict(X, group=[6, 6]),
        "score": lambda: model.score(X, Y, group=[6, 6]),
        "watch_query": lambda: model.watch_query([EXAMPLE], [1]),
        "score_query": lambda: model.score_query([EXAMPLE]),
    }
    for name, call in calls.items():
        if learner is QueryPredtron:
            call()
            continue
        what = name if name.endswith("_query") else "group"
        with pytest.raises(
            ValueError, match=f"^{what} is for subset ranking; this learner has another problem$"
        ):
            call()


def test_calls_return_the_estimator_itself() -> None:
    model = Predtron("multiclass")
    assert model.add_labels([0, 1, 2]) is model
    assert model.learn_one(EXAMPLE, 1) is model
    assert model.partial_fit(X, Y) is model
    assert model.fit(X, Y) is model


@each_kind
def test_messages_name_the_public_class(problem: Any, learner: type) -> None:
    with pytest.raises(NotFittedError, match="This Predtron instance is not fitted yet"):
        Predtron(problem).predict(X)
    model = Predtron(problem).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="X has 2 features, but Predtron is expecting 3"):
            model.predict(X[:, :2])
    with pytest.warns(UserWarning, match="but Predtron was fitted with feature names"):
        model.predict(X)


@each_kind
def test_a_failed_first_batch_leaves_the_estimator_unfitted(problem: Any, learner: type) -> None:
    model = Predtron(problem)
    for bad_X, bad_Y in ((X * np.nan, Y), (X, Y[:3]), (X[:0], Y)):
        with pytest.raises(ValueError):
            model.fit(bad_X, bad_Y)
        assert not model.is_started
        assert not hasattr(model, "n_features_in_")
        assert vars(model).keys() == model.get_params().keys()


@each_kind
def test_a_failed_fit_keeps_the_model(problem: Any, learner: type) -> None:
    model = Predtron(problem).fit(X, Y)
    before = whole(model)
    with pytest.raises(ValueError):
        model.fit(X * np.nan, Y)
    assert_same(whole(model), before)


def test_rounds_before_an_interruption_stay_learnt() -> None:
    class Interrupting(Colour):
        rounds = 0

        def correct(self, y: int, scores: Any) -> int:
            self.rounds += 1
            if self.rounds == 4:
                raise KeyboardInterrupt
            return y

    model = Predtron(Interrupting(), dtype="float64")
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y)
    assert model.n_features_in_ == 3
    assert model.certificate_.mistakes == 4  # the last mistake was counted, but changed no weights
    assert native_of(model).weights().weights.any()


@each_kind
def test_a_copy_shares_nothing(problem: Any, learner: type) -> None:
    model = Predtron(problem).fit(X, Y)
    before, other = whole(model), copy.deepcopy(model)
    assert_same(whole(other), before)
    other.partial_fit(X[::-1], Y)
    assert_same(whole(model), before)


def test_set_params_reaches_the_learner() -> None:
    model = Predtron("multiclass").fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 columns, but n_features=9 was declared"):
        model.set_params(n_features=9).partial_fit(X, Y)
    model.set_params(n_features=None, problem="subset-ranking")
    assert model.task == "labels"  # until the next fit
    assert model.fit(X, Y).task == "documents"


def test_river_adapter_accepts_a_predtron() -> None:
    river = pytest.importorskip("tagalong.compat.river")
    model = river.MulticlassRanker(Predtron("multiclass"))
    for _ in range(3):
        model.learn_one({"invoice": 1.0}, "bills")
        model.learn_one({"photo": 1.0}, "family")
    before = whole(model.learner)
    with pytest.raises(ValueError):
        model.learn_one({"flight": np.inf}, "travel")
    assert_same(whole(model.learner), before)
    assert model.predict_one({"photo": 2.0}) == "family"


def test_a_failed_check_does_not_fix_features_by_name() -> None:
    """Callers that restore the estimator, such as River's adapter, cannot restore its learner."""
    model = Predtron("multiclass").add_labels(["a", "b"])
    with pytest.raises(ValueError):
        model.check_example({"flight": np.inf}, [])
    assert model.learn_one(EXAMPLE, "b").rank_one(EXAMPLE, 1) == ["b"]
