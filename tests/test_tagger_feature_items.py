"""Tests of `Tagger` with items that are numbered features: same bits as with their texts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import (
    Item,
    LabelRanker,
    M3LClassifier,
    PartialFeedbackRanker,
    Predtron,
    SharedLabelRanker,
    Tagger,
)
from tagalong.features import FeatureItem, TextFeatures
from tagalong.tagger.audit import Audit

LEARNERS: dict[str, Any] = {
    "default": LabelRanker(),
    "one learner": LabelRanker(race=None),
    "single": LabelRanker("single", "euclidean", average=False, dtype="float64"),
    "entropic": LabelRanker(geometry="entropic"),
    "shared": SharedLabelRanker(),
    "predtron": Predtron("label-ranking", step=0.5, average=True),
    "partial": PartialFeedbackRanker(),
}
FEATURES: dict[str, dict[str, Any]] = {
    "default": {},
    "few buckets": {"buckets": 7, "weighting": "count"},
    "without back-off": {"backoff": False, "unit": True},
}

words = st.sampled_from(["invoice", "Flight", "käse", "due", "due", "中文", "x-ray"])
texts = st.lists(words, max_size=8).map(" ".join)
fields = st.dictionaries(st.sampled_from(["", "subject"]), texts, max_size=2)
values = st.dictionaries(
    st.sampled_from(["pages", "size"]), st.just("high") | st.floats(0, 4), max_size=2
)
labels = st.lists(st.sampled_from("abcdef"), max_size=4, unique=True).map(tuple)
items = st.builds(
    Item,
    id=st.sampled_from(["", "a", "b"]),
    text=texts | fields,
    features=values,
    labels=labels,
    weight=st.sampled_from([1.0, 1.0, 0.25]),
)


def learnt(tagger: Tagger) -> tuple[object, ...]:
    """Everything except the words."""
    header, arrays = tagger.learner.to_parts()
    bits = {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}
    return header, bits, tagger.history.to_json()


def contents(tagger: Tagger) -> tuple[object, ...]:
    header, arrays = tagger.to_parts()
    return header, {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}


def pair_of_taggers(learner: str, features: str) -> list[Tagger]:
    return [Tagger(LEARNERS[learner], TextFeatures(**FEATURES[features])) for _ in range(2)]


def topics(count: int) -> list[Item]:
    """Items of three topics, with fields and values."""
    rng = np.random.default_rng(3)
    found = []
    for i in range(count):
        topic = "abc"[int(rng.integers(3))]
        subject, body = (
            " ".join(
                f"{topic if rng.random() < 0.7 else 'x'}{int(j)}" for j in rng.integers(9, size=n)
            )
            for n in (2, 6)
        )
        found.append(Item(str(i), {"subject": subject, "body": body}, {"n": 0.5}, (topic,)))
    return found


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("features", FEATURES)
@settings(max_examples=8)
@given(stream=st.lists(items, min_size=1, max_size=20), probe=items)
def test_same_bits_as_with_the_text(features, learner, stream, probe):
    by_text, by_numbers = pair_of_taggers(learner, features)
    hashed = by_numbers.features.hashed
    for item in stream:
        one, other = by_text.watch(item), by_numbers.watch(hashed(item))
        assert other.scores.tobytes() == one.scores.tobytes()
        assert other.relevant == one.relevant
    assert learnt(by_numbers) == learnt(by_text)
    assert by_numbers.features.fields == ()
    if any(by_text.features.matches(item) for item in [*stream, probe]):
        return  # the text model reads them as other fields, which the other model does not know
    for item in [*stream, probe]:
        expected = by_text.suggest(item, k=None)
        assert by_numbers.suggest(hashed(item), k=None) == expected
        assert by_numbers.suggest(item, k=None) == expected
        assert by_text.suggest(by_text.features.hashed(item, match=True), k=None) == expected


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "partial"])
@settings(max_examples=12)
@given(
    stream=st.lists(items, min_size=1, max_size=30), cuts=st.lists(st.integers(1, 9), min_size=1)
)
def test_batches_have_the_same_bits_as_one_by_one(learner, stream, cuts):
    one_by_one, together = pair_of_taggers(learner, "default")
    hashed = [together.features.hashed(item) for item in stream]
    start = 0
    while start < len(hashed):
        batch = hashed[start : start + cuts[start % len(cuts)]]
        start += len(batch)
        expected = [one_by_one.watch(item) for item in batch]
        rounds = together.watch_together(batch)
        assert rounds is not None
        for row, one in enumerate(expected):
            assert rounds.scores[row, : len(one.scores)].tobytes() == one.scores.tobytes()
    assert contents(together) == contents(one_by_one)


GOOD = TextFeatures().hashed(Item(text="the invoice is due", labels=("money",)))


@pytest.mark.parametrize(
    "other",
    [
        replace(GOOD, values=GOOD.values * 1e30, labels=("new",)),
        replace(GOOD, numbers=np.array([0, 1, 2, 2**20], np.int32), labels=("new",)),
        replace(GOOD, weight=float("nan")),
        Item(text="the invoice is due", labels=("new",)),
    ],
    ids=["too long", "beyond the buckets", "weight", "with text"],
)
def test_batches_that_may_be_refused_are_not_learnt(other):
    tagger = Tagger().learn(GOOD)
    before = contents(tagger)
    assert tagger.watch_together([GOOD, other, GOOD]) is None
    assert contents(tagger) == before


@pytest.mark.parametrize("buckets", [None, 2**20])
def test_batches_need_learners_of_all_buckets(buckets):
    tagger = Tagger(LabelRanker(n_features=64), TextFeatures(buckets=buckets))
    assert tagger.watch_together([GOOD, GOOD]) is None
    assert tagger.labels == []


def test_item_that_is_refused_leaves_no_trace():
    tagger = Tagger(features=TextFeatures(buckets=1000)).learn("rent", ["home"])
    before = contents(tagger)
    for item, message in (
        (replace(GOOD, numbers=np.array([1, 2, 3, 1000], np.int32)), "has features 0 to 999"),
        (FeatureItem(numbers=[1], values=[1e300], labels=("new",)), "too long|length"),
        (FeatureItem(numbers=[1], values=[1.0]), "labels must be given"),
    ):
        with pytest.raises(ValueError, match=message):
            tagger.learn(item)
    for call in (tagger.suggest, tagger.explain, lambda item: tagger.suggest_many(["a", item])):
        with pytest.raises(ValueError, match="has features 0 to 999"):
            call(GOOD)
    assert contents(tagger) == before


@pytest.mark.parametrize("params", [{"buckets": None}, {"weighting": "tfidf"}])
def test_taggers_without_hashed_features_refuse_them(params):
    tagger = Tagger(features=TextFeatures(**params)).learn("rent", ["home"])
    before = contents(tagger)
    for call in (tagger.learn, tagger.suggest, tagger.explain):
        with pytest.raises(ValueError, match="features depend on the items learnt before"):
            call(GOOD)
    assert tagger.watch_together([GOOD]) is None
    assert contents(tagger) == before


def test_every_kind_of_answer():
    stream = topics(200)
    by_text, by_numbers = Tagger(), Tagger()
    hashed = by_numbers.features.hashed
    for item in stream:
        by_text.learn(item)
        by_numbers.learn(hashed(item))
    for number, item in enumerate(topics(40)):
        same = hashed(item)
        for tagger, given_item in ((by_text, item), (by_numbers, same)):
            tagger.learn(given_item, "a", unknown=["b"], weight=0.5)
            tagger.learn(given_item, filed=True)
            tagger.learn(given_item, audited=True)
            tagger.feedback(given_item, ["a", "b"], ["a"], filed=number % 2 == 0)
            tagger.correct(given_item, ["c"], was=["a"])
    assert learnt(by_numbers) == learnt(by_text)
    assert by_numbers.coverage() == by_text.coverage()


def test_feedback_of_shown_lists():
    by_text, by_numbers = pair_of_taggers("partial", "default")
    for item in topics(30):
        for tagger, given_item in ((by_text, item), (by_numbers, by_text.features.hashed(item))):
            tagger.add_labels(label for label in "abc" if label not in tagger.labels)
            tagger.feedback(given_item, ["a", "b"], {"a", "b"} & set(item.labels or ()))
    assert learnt(by_numbers) == learnt(by_text)


def test_suggestions_and_explanations_of_many():
    tagger = Tagger()
    stream = topics(300)
    for item in stream:
        tagger.learn(item)
    probes = topics(150)[100:]
    hashed = [tagger.features.hashed(item) for item in probes]
    mixed = [pair[number % 2] for number, pair in enumerate(zip(probes, hashed, strict=True))]
    expected = tagger.suggest_many(probes)
    for given_items in (hashed, mixed):
        found = tagger.suggest_many(given_items, threads=2)
        assert found == expected
        assert [each.audited for each in found] == [each.audited for each in expected]
        assert tagger.explain_many(given_items) == tagger.explain_many(probes)


def test_explanations_name_features_by_number_or_by_stored_name():
    by_numbers, by_text = Tagger(), Tagger()
    for item in topics(50):
        by_text.learn(item)
        by_numbers.learn(by_text.features.hashed(item))
    probe = topics(51)[-1]
    hashed = by_numbers.features.hashed(probe)
    expected, found = by_text.explain(probe, "a"), by_numbers.explain(hashed, "a")
    assert (found.score, found.base) == (expected.score, expected.base)
    assert by_text.explain(hashed, "a") == expected
    parts = dict(found.parts)
    numbers = [int(name.removeprefix("feature ")) for name in parts]
    assert sorted(numbers) == hashed.numbers.tolist()
    assert sorted(parts.values()) == sorted(part for _, part in expected.parts)
    assert by_numbers.explain(probe, "a") == expected  # the words of the item are known


def test_other_learners_of_a_tagger_suggest_for_them():
    features = TextFeatures(buckets=500)
    stream = topics(60)
    labels = [item.labels or () for item in stream]
    fitted = M3LClassifier().fit(features.transform(stream), labels)
    online = Tagger(features=features)
    for item in stream:
        online.learn(item)
    for tagger in (Tagger(fitted, features), online.compact()):
        for item in stream[:5]:
            same = tagger.features.hashed(item, match=True)
            assert tagger.suggest(same) == tagger.suggest(item)
            found, expected = tagger.explain(same), tagger.explain(item)
            assert (found.score, found.base) == (expected.score, expected.base)


def test_audit_depends_on_the_id_or_the_features():
    audit = Audit(0.5, answers=1000)
    hashed = TextFeatures().hashed
    for item in topics(50):
        assert audit.asks(hashed(item)) == audit.asks(item)
    nameless = [hashed(replace(item, id="")) for item in topics(200)]
    asked = [audit.asks(item) for item in nameless]
    assert asked == [audit.asks(replace(item, labels=("other",))) for item in nameless]
    assert 60 < sum(asked) < 140
