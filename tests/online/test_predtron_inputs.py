"""Invalid input is named in the error and leaves the learner unchanged."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import Predtron
from tagalong.problems import Binary, LabelRanking, Multiclass, Multilabel, Ordinal, SubsetRanking
from tests.contract.bits import assert_same, native_of, whole
from tests.weights import dense_coef

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize(
    "parameters, problem",
    [
        ({"problem": "ranking"}, "problem must be one of 'binary'.*got 'ranking'"),
        ({"problem": Multiclass}, "problem must be one of"),
        ({"problem": object()}, "has no dimension"),
        ({"norm": "l3"}, "norm must be one of 'l2', 'l1', 'group', 'trace', or .*got 'l3'"),
        ({"update": "max"}, "update must be one of 'mistake', 'loss', got 'max'"),
        ({"step": 0}, "step must be positive, got 0"),
        ({"step": 1e300}, "step must be at most"),
        ({"average": "yes"}, "average must be True or False, got 'yes'"),
        ({"kernel": "cosine"}, "kernel must be one of 'linear', 'rbf', 'poly'"),
        ({"kernel": "rbf", "norm": "group"}, "kernel='rbf' needs norm='l2', got 'group'"),
        ({"budget": 5}, "budget=5 needs a kernel"),
        ({"kernel": "rbf", "budget": 0}, "budget must be at least 1, got 0"),
        ({"gamma": -1.0}, "gamma must be positive, got -1"),
        ({"constant": 1e10}, "constant must be at most"),
        ({"dtype": "int8"}, "dtype must be one of"),
        ({"problem": "subset-ranking", "norm": "trace"}, "subset ranking has one weight vector"),
        ({"problem": "subset-ranking", "constant": 1.0}, "subset ranking needs constant=0"),
    ],
)
def test_invalid_parameters_raise(parameters: dict[str, Any], problem: str) -> None:
    model = Predtron(**parameters)
    with pytest.raises(ValueError, match=problem):
        model.fit(X, np.arange(12) % 2)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    "problem, Y, message",
    [
        ("binary", [0, 1, 2, 0], "binary classification.*with 3 classes"),
        ("multiclass", [["a"], ["b"], ["a", "b"], ["a"]], "row 2 has 2 labels; Multiclass takes"),
        ("ordinal", np.eye(4)[[0, 1, 2, 2]] * [1, 1, 0, 0], "row 2 has 0 labels; Ordinal takes"),
        ("subset-ranking", [0, 1, -1, 0], "y: row 2 is -1; grades must be from 0 to 52"),
        ("subset-ranking", [0, 1, 53, 0], "y: row 2 is 53; grades must be from 0 to 52"),
        ("subset-ranking", [0, 1, np.nan, 0], "y: row 2 is nan"),
        ("subset-ranking", ["a", "b", "c", "d"], "y must have one number per row"),
        ("subset-ranking", [0, 1], r"y must have shape \(4,\), one grade per row, got \(2,\)"),
        ("subset-ranking", None, "requires y to be passed"),
    ],
)
def test_invalid_targets_raise(problem: str, Y: Any, message: str) -> None:
    model = Predtron(problem)
    with pytest.raises(ValueError, match=message):
        model.fit(X[:4], Y)
    assert not hasattr(model, "n_features_in_")


def test_an_invalid_batch_changes_nothing() -> None:
    model = Predtron("binary").fit(X, np.arange(12) % 2)
    before = whole(model)
    bad = X.copy()
    bad[5, 1] = np.nan
    for call in (
        lambda: model.partial_fit(bad, np.arange(12) % 2),
        lambda: model.partial_fit(X, np.arange(12) % 3),
        lambda: model.partial_fit(X, np.arange(12) % 2, group=[12]),
        lambda: model.learn_one(([0], [1.0]), [0, 1]),
        lambda: model.learn_one(([0], [np.inf]), 1),
        lambda: model.watch_query([([0], [1.0])], [1]),
        lambda: model.predict(X, group=[12]),
    ):
        with pytest.raises(ValueError):
            call()
        assert_same(whole(model), before)


def test_a_binary_problem_grows_to_two_labels_at_most() -> None:
    model = Predtron("binary").learn_one(([0], [1.0]), "ham").learn_one(([1], [1.0]), "spam")
    before = whole(model)
    with pytest.raises(ValueError, match="a binary problem has two classes, not 3"):
        model.learn_one(([1], [1.0]), "eggs")
    assert_same(whole(model), before)
    with pytest.raises(ValueError, match="with 3 classes"):
        Predtron("binary").partial_fit(X[:3], ["a", "b", "c"], "grow")


def test_ordinal_levels_cannot_grow() -> None:
    with pytest.raises(ValueError, match="labels that appear at any time have no order"):
        Predtron("ordinal").learn_one(([0], [1.0]), "low")
    with pytest.raises(ValueError, match="labels that appear at any time have no order"):
        Predtron("ordinal").partial_fit(X[:2], ["low", "high"], "grow")
    model = Predtron(Ordinal(["low", "high"])).learn_one(([0], [1.0]), "high")
    assert model.classes_.tolist() == ["low", "high"]
    given = Predtron("ordinal").partial_fit(X[:2], ["low", "high"], ["low", "mid", "high"])
    assert given.classes_.tolist() == ["low", "mid", "high"]


@pytest.mark.parametrize("norm", ["l1", "group", "trace"])
def test_norms_other_than_l2_need_the_number_of_features(norm: str) -> None:
    with pytest.raises(ValueError, match=f"norm='{norm}' needs the number of features"):
        Predtron(norm=norm).learn_one(([0], [1.0]), "a")
    model = Predtron(norm=norm, n_features=4).add_labels(["a", "b"]).learn_one(([0], [1.0]), "b")
    assert model.rank_one(([0], [1.0])) == ["b", "a"]
    with pytest.raises(ValueError, match="must be below"):
        model.learn_one(([4], [1.0]), "b")


def test_invalid_groups_raise() -> None:
    y = np.arange(12) % 3
    for group, problem in (
        ([5, 5], "the sizes sum to 10 rows, but X has 12"),
        ([6, 0, 6], "query 1 has 0 rows"),
        ([6.0, 6.0], "group must have one integer per query"),
    ):
        with pytest.raises(ValueError, match=problem):
            Predtron("subset-ranking").fit(X, y, group=group)
    with pytest.raises(ValueError, match="sample_weight must have shape"):
        Predtron("subset-ranking").fit(X, y, sample_weight=np.ones(12), group=[6, 6])


def test_calls_for_labels_are_not_for_queries() -> None:
    model = Predtron("subset-ranking").fit(X, np.arange(12) % 3, group=[6, 6])
    for call in (
        lambda: model.learn_one(([0], [1.0]), 1),
        lambda: model.watch(X, np.arange(12) % 3),
        lambda: model.rank(X),
        lambda: model.rank_one(([0], [1.0])),
        lambda: model.score_one(([0], [1.0])),
        lambda: model.add_labels(["a"]),
    ):
        before = whole(model)
        with pytest.raises(ValueError, match="problems with labels"):
            call()
        assert_same(whole(model), before)


def test_a_new_problem_takes_effect_at_the_next_fit() -> None:
    model = Predtron("subset-ranking").fit(X, np.arange(12) % 3, group=[6, 6])
    again = model.set_params(problem="multiclass").fit(X, np.arange(12) % 3)
    assert_same(whole(again), whole(Predtron("multiclass").fit(X, np.arange(12) % 3)))
    back = again.set_params(problem="subset-ranking").fit(X, np.arange(12) % 3, group=[6, 6])
    straight = Predtron("subset-ranking").fit(X, np.arange(12) % 3, group=[6, 6])
    assert_same(whole(back), whole(straight))


SAVED = [
    "binary",
    Binary((2.0, 1.0), reject=(0.4, 0.3)),
    Multiclass(0.3),
    Ordinal(["low", "mid", "high"]),
    Multilabel("subset"),
    LabelRanking("1/i", "index", "precision", 3),
    SubsetRanking("-i^2"),
]


@pytest.mark.parametrize("problem", SAVED, ids=repr)
def test_every_problem_survives_a_file(problem: Any, tmp_path: Path) -> None:
    model = Predtron(problem, dtype="float64")
    levels = ["low", "mid", "high"] if isinstance(problem, Ordinal) else [0, 1]
    if isinstance(problem, (Multilabel, LabelRanking)):
        model.fit(X, np.random.default_rng(1).integers(0, 2, (12, 5)))
    else:
        model.fit(X, [levels[i % len(levels)] for i in range(12)])
    model.save(tmp_path / "model")
    again = tagalong.load(tmp_path / "model")
    assert again.problem == problem
    assert_same(whole(again), whole(model))
    assert np.array_equal(again.predict(X), model.predict(X))


class Own(Multiclass):
    """A subclass of a built-in problem, which cannot be saved."""


def _decreasing(place: int) -> float:
    return -float(place)


def test_custom_code_is_not_saved(tmp_path: Path) -> None:
    y = np.arange(12) % 2
    for problem in (Own(), LabelRanking(_decreasing)):
        model = Predtron(problem).fit(X, y)
        with pytest.raises(ValueError, match="Pickle the learner"):
            model.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()
        again = pickle.loads(pickle.dumps(model))
        assert_same(whole(again), whole(model))


@pytest.mark.parametrize("norm", ["l2", "l1", "group"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_any_norm_leave_finite_weights(norm: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    model = Predtron(norm=norm, dtype=dtype)
    for size in (1e-30, 1.0, 1e15, 1e-8, 1e18):
        model.partial_fit(size * rng.normal(size=(8, 3)), rng.integers(0, 2, (8, 4)))
        assert np.isfinite(dense_coef(model)).all()
        numbers = native_of(model).state()["numbers"]
        assert np.isfinite(list(numbers.values())).all()
