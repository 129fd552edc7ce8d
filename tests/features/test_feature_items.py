"""Tests of `FeatureItem` and of `TextFeatures` with such items."""

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong import Item
from tagalong.features import FeatureItem, TextFeatures
from tagalong.learning.examples import Pair

MAIL = Item("7", {"subject": "Your invoice", "": "is due"}, {"pages": 2.5}, ("money",), weight=0.5)

words = st.sampled_from(["invoice", "Flight", "käse", "due", "due", "中文", "x-ray"])
texts = st.lists(words, max_size=8).map(" ".join)
fields = st.dictionaries(st.sampled_from(["", "subject", "body"]), texts, max_size=3)
values = st.dictionaries(
    st.sampled_from(["pages", "size", "due"]),
    st.sampled_from(["high", "low"]) | st.floats(-1e3, 1e3),
    max_size=3,
)
items = (
    st.builds(Item, id=st.sampled_from(["", "a"]), text=texts | fields, features=values)
    | texts
    | values
)
settings_of_features = st.fixed_dictionaries(
    {},
    optional={
        "buckets": st.sampled_from([1, 7, 1000]),
        "weighting": st.sampled_from(["binary", "count", "log"]),
        "unit": st.booleans(),
        "backoff": st.booleans(),
        "chars": st.just((2, 3)),
        "names": st.booleans(),
    },
)


def bits(pair: Pair) -> list[Any]:
    return [(array.dtype, array.tobytes()) for array in pair]


@given(st.lists(items, max_size=4), items, settings_of_features, st.booleans())
def test_hashed_items_have_the_features_of_their_items(before, item, params, match):
    features = TextFeatures(**params).partial_fit(before)
    expected = features.read(item, match=match)
    found = features.hashed(item, match=match)
    assert bits(found.pairs()) == bits(expected)
    assert bits(features.read(found, match=match)) == bits(expected)
    assert features.hashed(found) is found
    if isinstance(item, Item):
        assert (found.id, found.labels, found.weight) == (item.id, item.labels, item.weight)


@given(st.lists(items, min_size=1, max_size=6), st.data())
def test_rows_of_items_of_all_kinds(stream, data):
    features = TextFeatures(buckets=50)
    mixed = [item if data.draw(st.booleans()) else features.hashed(item) for item in stream]
    expected, found = features.read_rows(stream), features.read_rows(mixed)
    for name in ("indptr", "indices", "values"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert found.matrix().shape == expected.matrix().shape


def test_hashed_item_takes_over_id_labels_and_weight():
    found = TextFeatures().hashed(MAIL)
    assert (found.id, found.labels, found.weight) == ("7", ("money",), 0.5)
    assert [array.dtype.name for array in found.pairs()] == ["int32", "float64"]
    plain = TextFeatures().hashed("invoice")
    assert (plain.id, plain.labels, plain.weight) == ("", None, 1.0)


def test_nothing_is_learnt_from_numbered_features():
    features = TextFeatures()
    before = pickle.dumps(features.partial_fit([]))
    features.learn(features.look(features.hashed(MAIL)))
    features.read(features.hashed(MAIL), learn=True)
    assert pickle.dumps(features) == before
    assert features.fields == ()


def test_nothing_is_matched_while_no_fields_are_known():
    """A tagger that has learnt numbered features only suggests for items as they were learnt."""
    for backoff in (True, False):
        features = TextFeatures(backoff=backoff)
        hashed = features.hashed(MAIL)
        features.read(hashed, learn=True)
        assert features.matches(MAIL) == features.matches(hashed) == {}
        assert bits(features.read(MAIL, match=True)) == bits(hashed.pairs())


def test_features_are_named_by_the_learnt_names():
    features = TextFeatures(buckets=2**20)
    hashed = features.hashed(MAIL)
    assert features.describe(hashed) == [f"feature {number}" for number in hashed.numbers]
    features.partial_fit(["the invoice"])
    names = features.describe(hashed)
    assert names.count("invoice") == 1
    assert sum(name.startswith("feature ") for name in names) == len(names) - 1
    assert features.partial_fit([MAIL]).describe(hashed) == features.describe(MAIL)


NOT_FIXED: list[dict[str, Any]] = [
    {"buckets": None},
    {"weighting": "tfidf"},
    {"buckets": None, "weighting": "tfidf"},
]


@pytest.mark.parametrize("params", NOT_FIXED)
def test_features_that_depend_on_earlier_items_are_refused(params):
    features, item = TextFeatures(**params), TextFeatures().hashed(MAIL)
    calls = (
        features.hashed,
        features.look,
        features.read,
        features.describe,
        lambda each: features.read_rows([each]),
        lambda each: features.feature_rows([each]),
    )
    for call in calls:
        with pytest.raises(ValueError, match="a weighting other than 'tfidf' are needed"):
            call(item)
    with pytest.raises(ValueError, match="depend on the items learnt before"):
        features.hashed("text")


def test_number_beyond_the_buckets_is_refused():
    features = TextFeatures(buckets=10)
    assert features.read(FeatureItem(numbers=[9], values=[1]))[0].tolist() == [9]
    wrong = FeatureItem(numbers=[3, 10], values=[1, 1])
    for call in (features.look, features.hashed, features.describe):
        with pytest.raises(ValueError, match=r"feature 10, but .*buckets=10\) has features 0 to 9"):
            call(wrong)
    with pytest.raises(ValueError, match="the same number of buckets"):
        features.read_rows(["text", wrong])


def test_calls_that_need_words_say_so():
    features, item = TextFeatures(), TextFeatures().hashed(MAIL)
    for call in (features.fit, features.partial_fit, features.transform):
        with pytest.raises(ValueError, match="a FeatureItem has no words"):
            call([item])  # type: ignore[list-item]
    assert features.read_texts([item]) is None
    assert features.read_ahead([item]) is None


@pytest.mark.parametrize(
    "numbers, values, message",
    [
        ([1, 2], [1.0], "one value per feature, got 2 numbers and 1 values"),
        ([1], [], "got 1 numbers and 0 values"),
        ([2, 2], [1, 1], "ascend, each number once, got 2 before 2"),
        ([1, 5, 3], [1, 1, 1], "got 5 before 3"),
        ([-1, 3], [1, 1], "from 0 to 2147483646, got -1"),
        ([3, 2**31 - 1], [1, 1], "from 0 to 2147483646, got 2147483647"),
        ([2**80], [1], "sequence of integers"),
        ([2**63], [1], "got 9223372036854775808"),
        ([1.0], [1], r"sequence of integers, got \[1.0\]"),
        ([True], [1], "sequence of integers"),
        (7, [1], "sequence of integers, got 7"),
        ("7", [1], "sequence of integers, got '7'"),
        (None, [1], "sequence of integers"),
        ([[1], [2, 3]], [1], "sequence of integers"),
        ([[1, 2]], [1], "sequence of integers"),
        ([1], [float("nan")], "finite, got nan"),
        ([1, 2], [1, float("-inf")], "finite, got -inf"),
        ([1], [10**400], "sequence of numbers"),
        ([1], ["1"], r"sequence of numbers, got \['1'\]"),
        ([1], [1j], "sequence of numbers"),
        ([1], [None], "sequence of numbers"),
        ([1], 1.0, "sequence of numbers"),
    ],
)
def test_invalid_features_are_refused(numbers, values, message):
    with pytest.raises(ValueError, match=message):
        FeatureItem(numbers=numbers, values=values)


def test_items_are_immutable_copies():
    numbers, values = np.array([1, 4]), np.array([0.5, 2])
    item = FeatureItem("a", numbers, values)
    numbers[0], values[0] = 9, 9
    assert (item.numbers.tolist(), item.values.tolist()) == ([1, 4], [0.5, 2.0])
    for same in (item, copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
        assert same == item
        for array in same.pairs():
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        item.id = "b"  # type: ignore[misc]


def test_equality_and_replacement():
    item = FeatureItem("a", (1, 4), (0.5, 2), ("x",), 0.5)
    again = FeatureItem("a", np.array([1, 4], np.uint8), [0.5, 2.0], ("x",), 0.5)
    assert item == again
    assert hash(item) == hash(again)
    others = (
        {"id": "b"},
        {"numbers": (1, 5)},
        {"values": (0.5, 3)},
        {"labels": None},
        {"weight": 1.0},
        {"numbers": (1,), "values": (0.5,)},
    )
    for change in others:
        assert dataclasses.replace(item, **change) != item
    assert item != "a"
    assert FeatureItem() == FeatureItem(numbers=[], values=[])
