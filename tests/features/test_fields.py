"""Tests of fields in `TextFeatures`: back-off, the learnt fields, and matching of others."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagalong
from tagalong import Item, LabelRanker, ModelFileError, Tagger
from tagalong.features import TextFeatures
from tests.model_files import forge, parts

FIELDS = ["", "subject", "body", "from"]
words = st.lists(st.sampled_from(["invoice", "flight", "due", "hotel", "bank"]), max_size=8)
field_texts = st.dictionaries(st.sampled_from(FIELDS), words.map(" ".join), max_size=4)
mails = field_texts.map(lambda text: Item(text=text))
settings = st.fixed_dictionaries(
    {
        "backoff": st.booleans(),
        "buckets": st.sampled_from([None, 16, 2**20]),
        "weighting": st.sampled_from(["log", "tfidf"]),
        "chars": st.sampled_from([None, (2, 3)]),
    }
)


def bits(pair: tuple[Any, Any]) -> list[bytes]:
    return [pair[0].tobytes(), pair[1].tobytes()]


def named_counts(features: TextFeatures, item: Item | str, match: bool = False) -> dict[str, float]:
    names = features.describe(item, match)
    return dict(zip(names, features.read(item, match=match)[1].tolist(), strict=True))


@given(field_texts)
def test_backoff_adds_the_words_without_their_field(text):
    """Every word without a field; those of all fields but the longest one also with the field."""
    features = TextFeatures(weighting="count", buckets=None, backoff=True)
    longest = max(text, key=lambda field: len(text[field].split()), default="")
    expected = Counter(word for part in text.values() for word in part.split())
    for field, part in text.items():
        if field not in ("", longest):
            expected.update(f"{field}:{word}" for word in part.split())
    assert named_counts(features, Item(text=text)) == dict(expected)


@given(words.map(" ".join), st.booleans())
def test_backoff_does_not_change_plain_texts(text, as_field):
    item = Item(text={"": text}) if as_field else text
    with_backoff, without = TextFeatures(backoff=True), TextFeatures(backoff=False)
    assert bits(with_backoff.read(item)) == bits(without.read(item))


@given(st.lists(mails, min_size=1, max_size=5), mails, settings)
def test_items_with_learnt_fields_are_never_changed_by_matching(before, item, params):
    everywhere = Item(text=dict.fromkeys(FIELDS, "hello"))
    features = TextFeatures(**params).partial_fit([everywhere, *before])
    assert features.matches(item) == {}
    assert bits(features.read(item, match=True)) == bits(features.read(item))
    assert features.describe(item, match=True) == features.describe(item)


@given(st.lists(mails, max_size=5), st.lists(mails, max_size=4), settings)
def test_matching_is_pure_and_the_same_for_many_items(before, items, params):
    features = TextFeatures(**params).partial_fit(before)
    state = pickle.dumps(features)
    rows = features.read_rows(items, match=True)
    assert len(rows.indptr) == len(items) + 1
    for i, item in enumerate(items):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        expected = features.read(item, match=True)
        assert bits((rows.indices[part], rows.values[part])) == bits(expected)
        assert bits(features.look(item, match=True).pairs()) == bits(expected)
        assert len(features.describe(item, match=True)) == len(expected[0])
    assert pickle.dumps(features) == state


@given(st.lists(mails, max_size=6))
def test_fields_are_sorted_by_the_number_of_items(items):
    features = TextFeatures(buckets=64).partial_fit(items)
    counts = Counter(
        field for item in items for field, part in dict(item.text).items() if part.split()
    )
    assert sorted(features.fields) == sorted(counts)
    frequencies = [counts[field] for field in features.fields]
    assert frequencies == sorted(frequencies, reverse=True)


MAIL = Item(text={"subject": "Flight to Lisbon", "body": "we regret that the plane is delayed"})


@pytest.mark.parametrize(
    "params, text, expected",
    [
        ({"buckets": None}, "Lisbon flight", "subject"),
        ({"buckets": None}, "the plane to Lisbon is late", "body"),
        ({"buckets": None}, "nothing known here", None),
        ({"weighting": "tfidf"}, "Lisbon flight", "subject"),
        ({"weighting": "tfidf"}, "nothing known here", None),
        ({}, "Lisbon flight", "body"),  # hashed words: the field with the most words
        ({"names": False}, "Lisbon flight", "body"),
    ],
)
def test_plain_text_is_matched_to_the_field_it_most_likely_is(params, text, expected):
    features = TextFeatures(backoff=False, **params).fit([MAIL])
    assert features.matches(text) == {"": expected}
    as_field = Item(text={expected or "": text})
    assert bits(features.read(text, match=True)) == bits(features.read(as_field))
    assert features.describe(text, match=True) == features.describe(as_field)


@pytest.mark.parametrize("backoff", [True, False])
def test_fields_match_plain_text_if_only_that_was_learnt(backoff):
    features = TextFeatures(backoff=backoff, buckets=None).fit(["the plane to Lisbon is delayed"])
    assert features.fields == ("",)
    item = Item(text={"subject": "Lisbon", "body": "the plane", "footer": "unsubscribe"})
    assert features.matches(item) == {"subject": "", "body": "", "footer": None}
    known = Item(text={"subject": "Lisbon", "body": "the plane"})
    plain = named_counts(features, "Lisbon the plane")
    assert named_counts(features, known, match=True) == plain


def test_with_backoff_a_new_field_is_plain_text_and_plain_text_is_known():
    features = TextFeatures().fit([MAIL])
    assert features.matches("the plane to Lisbon") == {}
    item = Item(text={"title": "Lisbon", "body": "the plane is late"})
    assert features.matches(item) == {"title": ""}
    assert "title:lisbon" in features.describe(item)
    assert "title:lisbon" not in features.describe(item, match=True)


def test_nothing_is_matched_before_anything_is_learnt():
    assert TextFeatures(buckets=None).matches(MAIL) == {}
    assert TextFeatures().fields == ()


def test_a_matched_item_cannot_be_learnt():
    features = TextFeatures(backoff=False).fit([MAIL])
    with pytest.raises(ValueError, match="match=True cannot be learnt"):
        features.read("the plane", learn=True, match=True)
    assert features.fields == ("body", "subject")


def test_too_many_fields_end_the_counting():
    features = TextFeatures(backoff=False)
    features.partial_fit(Item(text={f"column {i}": "word"}) for i in range(256))
    assert len(features.fields) == 256
    assert features.matches("word") != {}
    features.partial_fit([Item(text={"one more": "word"})])
    assert features.fields == ()
    assert features.matches("word") == {}
    assert pickle.loads(pickle.dumps(features)).fields == ()


TOPICS = {
    "money": ["invoice due", "the invoice of may is due, please pay the bank"],
    "travel": ["flight delayed", "we regret that the flight from the airport is delayed"],
    "family": ["birthday", "your mother has her birthday, please bring a cake"],
}


def mail_tagger(**params: Any) -> Tagger:
    tagger = Tagger(LabelRanker(), TextFeatures(**params))
    for _ in range(4):
        for label, (subject, body) in TOPICS.items():
            tagger.learn(Item(text={"subject": subject, "body": body}), [label])
    return tagger


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("backoff", [True, False])
@pytest.mark.parametrize("buckets", [None, 2**20])
@pytest.mark.parametrize("label", TOPICS)
def test_a_tagger_of_mails_knows_plain_texts(backoff, buckets, names, label):
    tagger = mail_tagger(backoff=backoff, buckets=buckets, names=names)
    text = TOPICS[label][1].split(" the ")[-1]
    assert tagger.suggest(text, k=1)[0].label == label
    explained = tagger.explain(text, label)
    assert {name.rpartition(":")[0] for name, _ in explained.parts} == {"" if backoff else "body"}
    assert explained.speaks_for


@pytest.mark.parametrize("backoff", [True, False])
def test_a_tagger_of_plain_texts_knows_mails(backoff):
    tagger = Tagger(features=TextFeatures(backoff=backoff))
    for _ in range(4):
        for label, texts in TOPICS.items():
            tagger.learn(" ".join(texts), [label])
    for label, (subject, body) in TOPICS.items():
        item = Item(text={"subject": subject, "body": body})
        assert tagger.suggest(item, k=1)[0].label == label
        assert tagger.suggest(Item(text={"subject": subject}), k=1)[0].label == label


@pytest.mark.parametrize("backoff", [True, False])
def test_fields_and_backoff_are_saved(backoff, tmp_path):
    tagger = mail_tagger(backoff=backoff)
    tagger.save(tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model")
    assert loaded.features.get_params() == tagger.features.get_params()
    assert sorted(loaded.features.fields) == ["body", "subject"]
    assert loaded.features.matches("hello") == tagger.features.matches("hello")
    assert loaded.suggest("the flight") == tagger.suggest("the flight")


def test_files_of_older_versions_have_no_backoff_and_match_no_fields(tmp_path):
    path = tmp_path / "model"
    mail_tagger(backoff=False).save(path)
    header, arrays = parts(path)
    assert "backoff" not in header["features"]["params"]
    del header["features"]["numbers"]["fields"]
    forge(path, header, arrays)
    loaded = tagalong.load(path)
    assert not loaded.features.backoff
    loaded.learn(Item(text={"title": "cake"}), ["family"])
    assert loaded.features.fields == ()
    assert loaded.features.matches(Item(text={"subject": "flight", "": "plane"})) == {}
    old = tagalong.load(Path("tests/data/tagger-format2.tagalong"))
    assert not old.features.backoff


@pytest.mark.parametrize(
    "fields",
    [
        3,
        [["subject", 1]],
        [["subject", 0, 4]],
        [["subject", 5, 4]],
        [["subject", -1, 4]],
        [["subject", 1, 4, 9]],
        [["subject", 1, 4], ["subject", 1, 4]],
        [[7, 1, 4]],
        [[f"field {i}", 1, 4] for i in range(257)],
    ],
)
def test_a_file_with_unsound_fields_is_refused(fields, tmp_path):
    path = tmp_path / "model"
    mail_tagger().save(path)
    header, arrays = parts(path)
    header["features"]["numbers"]["fields"] = fields
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match=str(path)):
        tagalong.load(path)


def test_features_of_a_batch_are_those_of_single_items():
    items: list[Item | str] = [MAIL, Item(text={"subject": "Re: plane", "body": "late"}), "Lisbon"]
    together = TextFeatures().read_texts(items)
    single = TextFeatures()
    assert together is not None
    for i, item in enumerate(items):
        indices, values = single.read(item, learn=True)
        part = slice(together.indptr[i], together.indptr[i + 1])
        assert np.array_equal(together.indices[part], indices)
        assert np.array_equal(together.values[part], values)
