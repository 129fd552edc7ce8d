"""Dictionaries of names: the native pass over a dictionary equals a look at each entry."""

import pickle
from collections import Counter, OrderedDict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong import LabelRanker
from tagalong.learning.examples import FeatureNames

KNOWN = ["a", "b", "ä", "a longer name", "", "日本", "3"]


class Name(str):
    """A name that is not of type str."""


names = st.sampled_from([*KNOWN, "new", "newer", "\ud800"]) | st.text(max_size=5)
odd_names = names | st.integers(0, 3) | st.none() | st.sampled_from([Name("a"), Name("z"), ("a",)])
plain_values = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**63), 2**63 - 1)
    | st.just(2**53 + 1)
    | st.just(-0.0)
)
odd_values: Any = plain_values | st.sampled_from(
    [
        float("nan"), float("inf"), -float("inf"), 2**63, -(2**63) - 1, 2**64, 10**400, True,
        None, "1", np.float32(0.1), np.float64(2), np.int64(3), Fraction(1, 3), 1j, np.nan,
    ]
)  # fmt: skip


def outcome(names: FeatureNames, x: Any, learning: bool) -> Any:
    """Return the outcome of a look at each entry, an error too, with the bits of the numbers."""
    try:
        (indices, values), new = names.translate(x, learning)
    except (ValueError, OverflowError) as error:
        return type(error), str(error)
    return indices.tolist(), values.astype(np.float64).tobytes(), new


@given(x=st.dictionaries(names, plain_values), learning=st.booleans(), grows=st.booleans())
def test_usual_dictionaries_are_numbered_natively(
    x: dict[str, Any], learning: bool, grows: bool
) -> None:
    table = FeatureNames(KNOWN, grows)
    found = table.translate_plain(x, learning)
    if found is None:  # the only reason is a name that is not allowed
        assert (learning, grows) == (True, False)
        assert x.keys() - set(KNOWN)
        assert outcome(table, x, learning)[0] is ValueError
        return
    (indices, values), new = found
    assert outcome(table, x, learning) == (indices.tolist(), values.tobytes(), new)
    assert list(table.number) == KNOWN  # nothing is recorded yet


@given(x=st.dictionaries(odd_names, odd_values, max_size=4), learning=st.booleans())
def test_all_other_dictionaries_are_left_to_python(x: dict[Any, Any], learning: bool) -> None:
    table = FeatureNames(KNOWN)
    usual = all(type(key) is str for key in x) and all(
        (type(value) is float and np.isfinite(value))
        or (type(value) is int and -(2**63) <= value < 2**63)
        for value in x.values()
    )
    found = table.translate_plain(x, learning)
    assert (found is not None) == usual
    if found is not None:
        (indices, values), new = found
        assert outcome(table, x, learning) == (indices.tolist(), values.tobytes(), new)
    assert list(table.number) == KNOWN


@given(st.lists(st.dictionaries(names, st.floats(-9, 9), max_size=5), min_size=1, max_size=5))
def test_mappings_of_all_types_give_the_same_bits(rows: list[dict[str, float]]) -> None:
    """A dictionary subclass is not read natively, as its order may be its own."""
    learners = [LabelRanker(dtype="float64") for _ in range(3)]
    for row, x in enumerate(rows):
        forms: tuple[Any, ...] = (
            x,
            OrderedDict(x),
            {Name(name): value for name, value in x.items()},
        )
        for learner, form in zip(learners, forms, strict=True):
            learner.learn_one(form, [f"label {row % 2}"])
    first, *others = learners
    for other in others:
        if first._names is not None and other._names is not None:
            assert [*other._names.number] == [*first._names.number]
        for x in rows:
            assert other.score_one(x)[0].tobytes() == first.score_one(x)[0].tobytes()
            assert other.rank_one(Counter(x)) == first.rank_one(x)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"known": 1.0, "bad": float("nan")}, "x: feature 'bad' is NaN; values must be finite"),
        ({"new": 1.0, "bad": float("inf")}, "x: feature 'bad' is inf; values must be finite"),
        ({"new": 1.0, "bad": "1"}, "x: feature 'bad' is '1'; values must be finite numbers"),
        ({"new": 1.0, 7: 1.0}, "x: feature 7 is not a string"),
        ({"new": 10**400}, "x: feature|int too large"),
        ({"new": 1e30, "huge": 1e300}, "x"),
    ],
)
def test_a_refused_dictionary_leaves_no_trace(x: dict[Any, Any], message: str) -> None:
    ranker = LabelRanker().learn_one({"known": 1.0, "word": 2.0}, ["a"])
    before = pickle.dumps(ranker)
    for call in (lambda: ranker.learn_one(x, ["b"]), lambda: ranker.watch_one(x, ["b"])):
        with pytest.raises((ValueError, OverflowError), match=message):
            call()
        assert pickle.dumps(ranker) == before


def test_names_are_recorded_only_if_the_labels_are_accepted() -> None:
    ranker = LabelRanker().add_labels(["a"])
    ranker.learn_one({"known": 1.0}, ["a"])
    before = pickle.dumps(ranker)
    with pytest.raises(ValueError, match="'b' is not in classes_"):
        ranker.learn_one({"new": 1.0, "known": 1.0}, ["b"])
    assert pickle.dumps(ranker) == before
    ranker.learn_one({"new": 1.0, "known": 1.0, "newer": 1}, ["a"])
    assert list(ranker._names.number) == ["known", "new", "newer"]  # type: ignore[union-attr]


def test_an_attribute_set_by_a_failed_first_call_is_removed() -> None:
    ranker = LabelRanker()
    with pytest.raises(ValueError, match="NaN"):
        ranker.learn_one({"a": float("nan")}, ["x"])
    assert not ranker.is_started
    ranker.learn_one(([], []), ["x"])
    unhashable: Any = [["x"]]
    before = pickle.dumps(ranker)
    with pytest.raises(ValueError, match="not hashable"):
        ranker.learn_one({"a": 1.0}, unhashable)
    assert ranker._names is None
    assert pickle.dumps(ranker) == before
    with pytest.raises(ValueError, match="not hashable"):
        ranker.learn_one(([1], [1.0]), unhashable)
    assert pickle.dumps(ranker) == before


@pytest.mark.parametrize("y", [["a", "a"], ["a", "b", "a"], [], ["b"], [np.str_("a")]])
def test_lists_of_known_labels_are_numbered_as_other_collections(y: list[Any]) -> None:
    ranker = LabelRanker().add_labels(["a", "b"])
    assert ranker.labels.encode_one(y) == ranker.labels.encode_one(tuple(y))
    assert ranker.labels.encode_one(y)[0] == list(dict.fromkeys("ab".index(one) for one in y))
