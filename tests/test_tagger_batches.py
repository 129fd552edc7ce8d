"""Tests of `Tagger.watch_together`: same bits as one by one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker, Tagger
from tagalong.features import TextFeatures
from tagalong.readers import Item

FEATURES: dict[str, dict[str, Any]] = {
    "hashed": {},
    "few buckets": {"buckets": 7, "weighting": "count"},
    "vocabulary": {"buckets": None, "weighting": "tfidf"},
    "characters": {"chars": (2, 4), "words": (1, 2)},
}
LEARNERS = {
    "default": LabelRanker(),
    "single": LabelRanker("single", "euclidean", average=False, dtype="float64"),
    "entropic": LabelRanker(geometry="entropic"),
    "shared": SharedLabelRanker(),
    "predtron": Predtron("label-ranking", step=0.5, average=True),
}

words = st.sampled_from(["invoice", "Flight", "käse", "due", "due", "中文", "x-ray"])
texts = st.lists(words, max_size=8).map(" ".join)
fields = st.dictionaries(st.sampled_from(["", "subject"]), texts, max_size=2)
items = st.builds(
    Item,
    text=texts | fields,
    labels=st.lists(st.sampled_from("abcdef"), max_size=4, unique=True).map(tuple),
    weight=st.sampled_from([1.0, 1.0, 0.25]),
)


def contents(tagger: Tagger) -> tuple[object, ...]:
    header, arrays = tagger.to_parts()
    return header, {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("features", FEATURES)
@settings(max_examples=12)
@given(
    stream=st.lists(items, min_size=1, max_size=40),
    cuts=st.lists(st.integers(1, 9), min_size=1),
)
def test_same_bits_as_one_by_one(features, learner, stream, cuts):
    if learner == "entropic" and features == "vocabulary":
        return  # the entropic geometry needs a fixed number of features
    one_by_one, together = (
        Tagger(LEARNERS[learner], TextFeatures(**FEATURES[features])) for _ in range(2)
    )
    start = 0
    while start < len(stream):
        batch = stream[start : start + cuts[start % len(cuts)]]
        start += len(batch)
        expected = [one_by_one.watch(item) for item in batch]
        rounds = together.watch_together(batch)
        assert rounds is not None
        for row, one in enumerate(expected):
            known = len(one.scores)
            assert rounds.scores[row, :known].tobytes() == one.scores.tobytes()
            assert np.all(rounds.scores[row, known:] == -np.inf)
            assert rounds.cutoffs[row] == one.cutoff
            labels = rounds.relevant.indices[slice(*rounds.relevant.indptr[row : row + 2])]
            assert labels.tolist() == one.relevant
    assert contents(together) == contents(one_by_one)


GOOD = Item(text="the invoice is due", labels=("money",))


@pytest.mark.parametrize(
    "other",
    [
        replace(GOOD, features={"size": 1e30}),
        replace(GOOD, weight=0.0),
        replace(GOOD, weight=float("nan")),
        replace(GOOD, text=7),  # type: ignore[arg-type]
    ],
)
def test_items_that_may_be_refused_are_not_learnt(other):
    tagger = Tagger().learn(GOOD)
    before = contents(tagger)
    assert tagger.watch_together([GOOD, other, GOOD]) is None
    assert contents(tagger) == before


@pytest.mark.parametrize(
    "tagger",
    [
        Tagger(PartialFeedbackRanker()),
        Tagger(LabelRanker(n_features=64)),
        Tagger(LabelRanker(n_features=64), TextFeatures(buckets=None)),
    ],
    ids=["another learner", "too many buckets", "a vocabulary"],
)
def test_learners_of_single_items(tagger):
    before = contents(tagger)
    assert tagger.watch_together([GOOD, GOOD]) is None
    assert contents(tagger) == before


def test_fixed_labels():
    together, one_by_one = (Tagger(LabelRanker().add_labels(["money"])) for _ in range(2))
    assert together.watch_together([GOOD, GOOD]) is not None
    assert contents(together) == contents(one_by_one.learn(GOOD).learn(GOOD))
    before = contents(together)
    assert together.watch_together([GOOD, replace(GOOD, labels=("travel",))]) is None
    assert contents(together) == before


def test_sufficient_number_of_features():
    tagger = Tagger(LabelRanker(n_features=64), TextFeatures(buckets=64))
    assert tagger.watch_together([GOOD, GOOD]) is not None
