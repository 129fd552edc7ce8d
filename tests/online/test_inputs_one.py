"""An invalid single example raises an error that names the problem; it changes nothing."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tagalong import LabelRanker
from tests.contract.bits import assert_same, whole

GOOD: list[tuple[Any, list[str]]] = [
    (([0, 2], [1.0, 0.5]), ["a"]),
    (([1, 2], [1.0, -0.5]), ["b", "c"]),
    (([0, 1], [0.25, 1.0]), ["a", "c"]),
]

BAD_X: dict[str, tuple[Any, str]] = {
    "nan": (([4, 7], [1.0, np.nan]), "x: feature 7 is NaN; values must be finite"),
    "infinity": (([4, 7], [1.0, np.inf]), "x: feature 7 is infinity"),
    "minus infinity": (([4, 7], [1.0, -np.inf]), "x: feature 7 is -infinity"),
    "nan in a mapping": ({4: 1.0, 7: np.nan}, "x: feature 7 is NaN"),
    "too long": (([4, 7], [1.0, 1e38]), "x is too long: .* exceeds 3.40282e[+]38"),
    "negative index": (
        ([4, -1], [1.0, 1.0]),
        "index -1 at position 1 must be from 0 to 2147483647",
    ),
    "negative key": ({-3: 1.0}, "feature index -3 at position 0"),
    "index past int32": (([2**31], [1.0]), "feature index 2147483648 at position 0"),
    "index past int64": (([2**63], [1.0]), "9223372036854775808"),
    "index past all": (([2**70], [1.0]), "1180591620717411303424"),
    "least index": (([-(2**63)], [1.0]), "feature index -9223372036854775808"),
    "a fraction for an index": (([0.5], [1.0]), r"indices of x .* integers, got \[0.5\]"),
    "fewer values": (([1, 2], [1.0]), "x has 2 indices but 1 values"),
    "more values": (([1], [1.0, 2.0]), "x has 1 indices but 2 values"),
    "words for values": (([1], ["one"]), r"values of x .* numbers, got \['one'\]"),
    "none for a value": ({1: None}, "values of x .* numbers"),
    "complex value": (([1], [1j]), "values of x .* numbers"),
    "two-dimensional": (([[1, 2]], [[1.0, 2.0]]), "indices of x must be a sequence"),
    "bare numbers": ((1, 1.0), "indices of x must be a sequence of integers, got 1"),
    "three parts": (([1], [1.0], [2]), r"x must be \(indices, values\) or a mapping"),
    "a number": (5, r"x must be \(indices, values\) or a mapping .* got int"),
    "none": (None, r"x must be \(indices, values\) or a mapping .* got NoneType"),
    "a name and a number": ({"word": 1.0, 7: 1.0}, "name|number"),
    "a name among numbers": ({"word": 1.0}, "x has features by name, .* by number"),
}

BAD_Y: dict[str, tuple[Any, str]] = {
    "unknown label": (["a", "z"], "y: label 'z' is not in classes_"),
    "unknown single label": ("z", "y: label 'z' is not in classes_"),
    "none": (None, "y: label None|y: None"),
    "nan": (np.nan, "y: label nan|y: nan"),
    "unhashable": ([["a"]], r"y: label \['a'\] is not hashable"),
    "a lone array": (np.array(3), "y: "),
}

BAD_UNKNOWN: dict[str, tuple[Any, str]] = {
    "not in classes": (["z"], "unknown: label 'z' is not in classes_"),
    "also relevant": (["b", "a"], "label 'a' cannot be both relevant and unknown"),
    "unhashable": ([["a"]], r"unknown: label \['a'\] is not hashable"),
    "a word": ("bc", "unknown must be a collection of labels, got 'bc'"),
    "a number": (5, "unknown must be a collection of labels, got 5"),
    "none": (None, "unknown must be a collection of labels, got None"),
}


def closed() -> LabelRanker:
    """A ranker with a fixed set of labels."""
    ranker = LabelRanker().add_labels(["a", "b", "c"])
    for x, y in GOOD:
        ranker.learn_one(x, y)
    return ranker


def growing() -> LabelRanker:
    ranker = LabelRanker()
    for x, y in GOOD:
        ranker.learn_one(x, y)
    return ranker


def assert_unchanged(ranker: LabelRanker, spared: LabelRanker) -> None:
    """Check that a ranker equals one without the invalid example, and continues equally."""
    assert_same(whole(ranker), whole(spared))
    for x, y in GOOD:
        ranker.learn_one(x, y)
        spared.learn_one(x, y)
    assert_same(whole(ranker), whole(spared))


@pytest.mark.parametrize("make", [closed, growing])
@pytest.mark.parametrize("name", BAD_X)
def test_an_invalid_example_changes_nothing(name: str, make: Any) -> None:
    x, words = BAD_X[name]
    ranker = make()
    with pytest.raises(ValueError, match=words):
        ranker.learn_one(x, "a")
    assert_unchanged(ranker, make())


@pytest.mark.parametrize("name", BAD_X)
def test_an_invalid_example_adds_no_label(name: str) -> None:
    x, words = BAD_X[name]
    ranker = growing()
    with pytest.raises(ValueError, match=words):
        ranker.learn_one(x, "never seen before")
    assert_unchanged(ranker, growing())


@pytest.mark.parametrize("name", [name for name in BAD_X if name != "a name among numbers"])
def test_an_invalid_first_example_leaves_the_ranker_unfitted(name: str) -> None:
    x, words = BAD_X[name]
    ranker = LabelRanker()
    with pytest.raises(ValueError, match=words):
        ranker.learn_one(x, "a")
    assert_same(whole(ranker), whole(LabelRanker()))
    ranker.partial_fit(np.eye(2), np.eye(2), classes=["p", "q"])


@pytest.mark.parametrize("name", BAD_X)
def test_an_invalid_example_cannot_be_ranked(name: str) -> None:
    x, words = BAD_X[name]
    ranker = closed()
    with pytest.raises(ValueError, match=words):
        ranker.rank_one(x)
    assert_unchanged(ranker, closed())


@pytest.mark.parametrize("name", BAD_Y)
def test_invalid_labels_change_nothing(name: str) -> None:
    y, words = BAD_Y[name]
    ranker = closed()
    with pytest.raises(ValueError, match=words):
        ranker.learn_one(([0], [1.0]), y)
    assert_unchanged(ranker, closed())


@pytest.mark.parametrize("y", [["new", None], ["new", np.nan], ["new", ["a"]]])
def test_an_invalid_label_adds_no_labels(y: Any) -> None:
    ranker = growing()
    with pytest.raises(ValueError, match="y: "):
        ranker.learn_one(([0], [1.0]), y)
    assert_unchanged(ranker, growing())


@pytest.mark.parametrize("name", BAD_UNKNOWN)
def test_invalid_unknown_labels_change_nothing(name: str) -> None:
    unknown, words = BAD_UNKNOWN[name]
    ranker = closed()
    with pytest.raises(ValueError, match=words):
        ranker.learn_one(([0], [1.0]), "a", unknown=unknown)
    assert_unchanged(ranker, closed())


def test_a_new_label_cannot_be_both_relevant_and_unknown() -> None:
    ranker = growing()
    with pytest.raises(ValueError, match="label 'new' cannot be both relevant and unknown"):
        ranker.learn_one(([0], [1.0]), ["new"], unknown=["new"])
    assert_unchanged(ranker, growing())


@pytest.mark.parametrize("x", [([0, 4], [1.0, 1.0]), {4: 1.0}])
def test_a_feature_beyond_n_features_raises(x: Any) -> None:
    def make() -> LabelRanker:
        return LabelRanker(n_features=4).add_labels(["a", "b", "c"])

    ranker = make()
    with pytest.raises(ValueError, match="feature index 4 must be below n_features=4"):
        ranker.learn_one(x, "a")
    assert_unchanged(ranker, make())


def named() -> LabelRanker:
    ranker = LabelRanker().learn_one({"red": 1.0, "round": 0.5}, "apple")
    return ranker.learn_one({"long": 1.0}, ["fruit", "banana"])


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ({"red": 1.0, "sweet": np.nan}, "'sweet'.* NaN|sweet is NaN"),
        ({"red": 1.0, "sweet": "very"}, "very"),
        ({"red": 1.0, 7: 1.0}, "7|name"),
        ({7: 1.0}, "name"),
        (([0], [1.0]), "name"),
    ],
)
def test_an_invalid_example_adds_no_feature_names(x: Any, words: str) -> None:
    ranker = named()
    with pytest.raises(ValueError, match=words):
        ranker.learn_one(x, "apple")
    assert_same(whole(ranker), whole(named()))


def test_a_matrix_cannot_follow_features_by_name() -> None:
    ranker = named()
    with pytest.raises(ValueError, match="features by name"):
        ranker.partial_fit(np.eye(3), np.eye(3))
    assert_same(whole(ranker), whole(named()))


def test_a_frame_fixes_the_feature_names() -> None:
    def make() -> LabelRanker:
        return LabelRanker().fit(pd.DataFrame(np.eye(2), columns=["red", "round"]), ["x", "y"])

    ranker = make()
    with pytest.raises(ValueError, match="feature 'sweet' is not among the feature names"):
        ranker.learn_one({"red": 1.0, "sweet": 1.0}, "x")
    assert_same(whole(ranker), whole(make()))
    assert ranker.rank_one({"red": 1.0, "sweet": 1.0}) == ranker.rank_one(([0], [1.0]))


def test_a_frame_adds_names_to_a_started_ranker() -> None:
    ranker = LabelRanker().add_labels([0, 1])
    ranker.partial_fit(pd.DataFrame(np.eye(2), columns=["red", "round"]), np.eye(2))
    assert ranker.rank_one({"red": 1.0}) == ranker.rank_one(([0], [1.0]))


def test_predicting_by_name_does_not_fix_features_by_name() -> None:
    ranker = LabelRanker().add_labels([0, 1])
    ranker.rank_one({"red": 1.0})
    assert_same(whole(ranker), whole(LabelRanker().add_labels([0, 1])))
    ranker.partial_fit(np.eye(2), np.eye(2))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["d", "a"], "label 'a' already exists"),
        (["d", "d"], "label 'd' already exists"),
        (["d", None], "None"),
        (["d", np.nan], "nan"),
        (["d", ["e"]], r"\['e'\]"),
        (5, "labels"),
        ("de", "labels"),
    ],
)
def test_invalid_labels_cannot_be_added(labels: Any, words: str) -> None:
    ranker = closed()
    with pytest.raises(ValueError, match=words):
        ranker.add_labels(labels)
    assert_unchanged(ranker, closed())


def test_invalid_added_labels_leave_the_ranker_unfitted() -> None:
    ranker = LabelRanker()
    with pytest.raises(ValueError, match="label 'd' already exists"):
        ranker.add_labels(["d", "d"])
    assert_same(whole(ranker), whole(LabelRanker()))


@pytest.mark.parametrize("k", [-1, 1.5, "3", True])
def test_an_invalid_k_raises(k: Any) -> None:
    ranker = LabelRanker().fit(np.eye(3), np.eye(3))
    for look in (lambda: ranker.rank(np.eye(3), k), lambda: ranker.rank_one(([0], [1.0]), k)):
        with pytest.raises(ValueError, match=f"k must be .* got {k!r}"):
            look()


def test_an_empty_example_has_the_constant_feature_only() -> None:
    ranker = closed()
    assert ranker.rank_one(([], [])) == ranker.rank_one({}) == ranker.rank_one(([9], [0.0]))
    rounds = ranker.certificate_.rounds
    assert ranker.learn_one(([], []), "b").certificate_.rounds == rounds + 1
