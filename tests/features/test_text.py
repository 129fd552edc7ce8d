"""Tests of `TextFeatures`: words, values, weightings, names, errors."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from tagalong import Item
from tagalong.features import TextFeatures
from tagalong.learning.examples import Pair
from tests.contract.readers import read_while_writing
from tests.reference import words as reference

LETTERS = "abcXYZ éÉß Ωσς ЖжЙ 09٣ अक्षर 한국 東京 ひカ ไทย ﬁ ２ — _-'.,\n\t😀 e\u0301"
texts = st.text(alphabet=LETTERS, max_size=60)
word_ranges = st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 2), (2, 3)])
char_ranges = st.sampled_from([None, (1, 1), (2, 3), (3, 5)])
weightings = st.sampled_from(["binary", "count", "log", "tfidf"])


def bits(pair: Pair) -> list[bytes]:
    return [pair[0].tobytes(), pair[1].tobytes()]


def named_values(features: TextFeatures, item: Item | str, learn: bool = False) -> dict[str, float]:
    names = features.describe(item)
    _, values = features.read(item, learn)
    return dict(zip(names, values.tolist(), strict=True))


@given(st.lists(texts, max_size=4), texts, word_ranges, char_ranges, weightings)
def test_features_agree_with_the_reference(before, text, words, chars, weighting):
    features = TextFeatures(words=words, chars=chars, weighting=weighting, buckets=None)
    features.partial_fit(before)
    expected = reference.weights(text, words, chars, weighting, before)
    assert named_values(features, text) == pytest.approx(expected, rel=1e-12)


@given(texts, word_ranges, char_ranges)
def test_hashing_joins_the_names_of_a_bucket(text, words, chars):
    features = TextFeatures(words=words, chars=chars, weighting="count", buckets=7)
    indices, values = features.read(text)
    assert np.array_equal(indices, np.unique(indices))
    assert indices.size == 0 or (indices.min() >= 0 and indices.max() < 7)
    expected = reference.names(text, words, chars)
    assert values.sum() == len(expected)
    parts = [name for joined in features.describe(text) for name in joined.split(" | ")]
    assert sorted(parts) == sorted(set(expected))


@given(st.lists(texts, max_size=5), texts, st.sampled_from([None, 64, 2**20]), weightings)
def test_read_changes_nothing_and_learn_returns_the_same(before, text, buckets, weighting):
    features = TextFeatures(buckets=buckets, weighting=weighting, words=(1, 2))
    features.partial_fit(before)
    state = pickle.dumps(features)
    read = features.read(text)
    features.describe(text)
    assert pickle.dumps(features) == state
    learnt = features.read(text, learn=True)
    assert bits(read) == bits(learnt)


@given(st.lists(texts, min_size=1, max_size=6), weightings)
def test_batch_equals_one_by_one(items, weighting):
    batch = TextFeatures(buckets=None, weighting=weighting).fit(items)
    one_by_one = TextFeatures(buckets=None, weighting=weighting)
    for item in items:
        one_by_one.read(item, learn=True)
    assert pickle.dumps(batch) == pickle.dumps(one_by_one)
    rows = batch.transform(items)
    for i, item in enumerate(items):
        indices, values = one_by_one.read(item)
        assert np.array_equal(rows.indices[rows.indptr[i] : rows.indptr[i + 1]], indices)
        assert np.array_equal(rows.data[rows.indptr[i] : rows.indptr[i + 1]], values)


def test_counts_agree_with_scikit_learn_on_plain_text():
    items = ["The cat sat on the mat.", "On the road again; the road!", "", "Mat 42 mat"]
    peer = CountVectorizer(token_pattern=r"[^\W_]+", ngram_range=(1, 2))
    theirs = peer.fit_transform(items).toarray()
    ours = TextFeatures(words=(1, 2), weighting="count", buckets=None).fit(items)
    names = ours.get_feature_names_out().tolist()
    assert sorted(names) == sorted(peer.get_feature_names_out())
    order = [names.index(name) for name in peer.get_feature_names_out()]
    assert np.array_equal(ours.transform(items).toarray()[:, order], theirs)


def test_transform_ignores_unknown_words():
    features = TextFeatures(buckets=None).fit(["a b"])
    row = features.transform(["b c"])
    assert row.shape == (1, 2)
    assert row.toarray().tolist() == [[0, 1]]


@pytest.mark.parametrize("params", [{"buckets": None}, {"weighting": "tfidf"}])
def test_transform_before_fit(params):
    with pytest.raises(NotFittedError, match="fitted first"):
        TextFeatures(**params).transform(["a"])


def test_words_of_fields_are_separate_features():
    features = TextFeatures(backoff=False)
    item = Item(text={"": "invoice", "subject": "Invoice due"})
    assert sorted(features.describe(item)) == ["invoice", "subject:due", "subject:invoice"]


def test_values_and_categories():
    features = TextFeatures(weighting="count")
    described: dict[str, Any] = {
        "size": 2.5,
        "priority": "high",
        "team": ["b", "a", "b"],
        "open": True,
        "x": None,
    }
    item = Item(text="size size", features=described)
    assert named_values(features, item) == {
        "size": 4.5,
        "priority=high": 1.0,
        "team=a": 1.0,
        "team=b": 1.0,
        "open": 1.0,
    }


def test_mapping_of_words_equals_their_text():
    features = TextFeatures()
    assert bits(features.read({"invoice": 1, "due": 1})) == bits(features.read("invoice due"))


def test_zero_values_are_omitted():
    assert TextFeatures().read({"a": 0.0, "b": 1.0})[0].size == 1


def test_unit_length():
    _, values = TextFeatures(unit=True, weighting="count").read("a b b c c c")
    assert np.linalg.norm(values) == pytest.approx(1, abs=1e-15)
    assert TextFeatures(unit=True).read("")[1].size == 0


def test_lowercase_false_keeps_case():
    assert sorted(TextFeatures(lowercase=False).describe("It it IT Straße")) == [
        "IT",
        "It",
        "Straße",
        "it",
    ]


@pytest.mark.parametrize(
    "one, other",
    [("Café", "CAFE\u0301"), ("ﬁle", "FILE"), ("Ｗｉｄｅ", "wide"), ("Straße", "STRASSE")],
)
def test_unicode_forms_of_a_word_are_one_feature(one, other):
    features = TextFeatures()
    assert np.array_equal(features.read(one)[0], features.read(other)[0])


def test_lone_surrogates():
    assert TextFeatures().describe("ab\ud800cd") == sorted(
        ["ab", "cd"], key=lambda name: TextFeatures().read(name)[0][0]
    )
    assert TextFeatures().describe({"na\udc00me": 1.0}) == ["na\ufffdme"]


def test_long_words_are_truncated():
    features = TextFeatures()
    assert features.describe("x" * 1000) == ["x" * 64]
    assert len(features.read("y" * 10_000_000)[0]) == 1


def test_name_memory_limits_the_stored_names():
    features = TextFeatures(name_memory=64e-6)  # two short names with their overhead
    number = {name: int(features.read(name, learn=True)[0][0]) for name in ("four", "five", "six")}
    assert [features.name(i) for i in number.values()] == ["four", "five", ""]


def test_names_false_stores_no_text():
    features = TextFeatures(names=False, buckets=None)
    number = int(features.read("confidential", learn=True)[0][0])
    assert features.name(number) == ""
    assert b"confidential" not in pickle.dumps(features)
    assert features.describe("confidential") == ["confidential"]


def test_forget_names():
    features = TextFeatures(buckets=None).fit(["one two three"])
    features.forget_names(np.array([1]))
    assert features.get_feature_names_out().tolist() == ["one", "feature 1", "three"]
    assert features.read("two")[0].tolist() == [1]


@pytest.mark.parametrize(
    "params, message",
    [
        ({"words": (2, 1)}, r"words\[1\] must be from 2 to 16, got 1"),
        ({"words": 3}, "words must be a pair"),
        ({"chars": (0, 2)}, r"chars\[0\] must be from 1 to 16, got 0"),
        ({"weighting": "bm25"}, "weighting must be one of 'binary'"),
        ({"buckets": 0}, "buckets must be from 1"),
        ({"buckets": 2.5}, "buckets must be an integer"),
        ({"unit": 1}, "unit must be True or False"),
        ({"name_memory": -1}, "name_memory must be positive"),
    ],
)
def test_invalid_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        TextFeatures(**params).read("a")


@pytest.mark.parametrize(
    "item, message",
    [
        (3, "an item must be a str, .* got int: 3"),
        ({"a": float("nan")}, "feature 'a' is nan; values must be finite"),
        ({"a": float("inf")}, "feature 'a' is inf"),
        ({"a": object}, "feature 'a' must be a number, a string"),
        ({1: 2.0}, "the name of a feature must be a str, got 1"),
        (Item(text={"subject": 3}), "field 'subject' .* got 3"),  # type: ignore[dict-item]
        (Item(text=3), "the text of an item must be a str"),  # type: ignore[arg-type]
    ],
)
def test_invalid_items_are_named(item, message):
    with pytest.raises(ValueError, match=message):
        TextFeatures().read(item)


def test_transform_refuses_a_single_text():
    with pytest.raises(ValueError, match="X must be a collection of items"):
        TextFeatures().transform("one text")


@pytest.mark.parametrize("params", [{}, {"buckets": None, "weighting": "tfidf", "words": (1, 2)}])
def test_copies_are_equal_and_independent(params):
    features = TextFeatures(**params).fit(["a b", "b c"])
    copy = pickle.loads(pickle.dumps(features))
    before = features.read("a b c d")
    copy.read("d e f", learn=True)
    assert bits(features.read("a b c d")) == bits(before)
    assert clone(features).get_params() == features.get_params()


def test_reading_is_consistent_while_another_thread_learns():
    features = TextFeatures(buckets=None, weighting="tfidf")

    def look() -> None:
        for item in ("a b c", "d e f"):
            indices, values = features.read(item)
            assert len(indices) == 3
            assert np.isfinite(values).all()

    def learn(words: range) -> None:
        for i in words:
            features.read(f"a word{i} c d", learn=True)

    read_while_writing([partial(learn, range(i, i + 100)) for i in range(0, 2000, 100)], look)


def test_hashes_do_not_change_because_saved_models_depend_on_them():
    features = TextFeatures()
    numbers = {name: int(features.read({name: 1.0})[0][0]) for name in PINNED}
    assert numbers == PINNED


PINNED = {"invoice": 294348, "a": 391467, "subject:x": 500235, "é": 243782}
