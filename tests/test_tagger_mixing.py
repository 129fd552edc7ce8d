"""Mixtures of taggers: words, labels, counts."""

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, Tagger, mix
from tagalong.features import TextFeatures

SHARDS = [
    [("Your invoice is due", ["money"]), ("The flight to Lisbon", ["travel"])],
    [
        ("Hotel in Rome", ["travel"]),
        ("An invoice from the bank", ["money"]),
        ("Birthday", ["family"]),
    ],
]


def learnt(shard, start=None, **features):
    tagger = start
    if tagger is None:
        tagger = Tagger(LabelRanker(race=None), TextFeatures(**features))
        tagger.add_labels(["money", "travel", "family"])
    for text, labels in shard:
        tagger.learn(text, labels)
    return tagger


def copied(tagger):
    return Tagger.from_parts(*tagger.to_parts())


@pytest.mark.parametrize(
    "features", [{}, {"buckets": None}, {"weighting": "tfidf"}, {"names": False}]
)
def test_mixed_taggers_know_what_each_has_learnt(features, tmp_path):
    mixed = mix([learnt(shard, **features) for shard in SHARDS])
    assert mixed.labels == ["money", "travel", "family"]
    for text, label in [("bank", "money"), ("Lisbon", "travel"), ("Rome", "travel")]:
        assert mixed.suggest(text, k=1)[0].label == label
        assert not mixed.suggest(text, k=1)[0].sure
    assert mixed.history.items == 5
    assert mixed.history.count.tolist() == [2, 2, 1]
    assert mixed.history.last.tolist() == [4, 3, 5]
    assert mixed.explain("bank", "money").speaks_for[0][0] == "bank"
    mixed.save(tmp_path / "mixed.tagalong")
    assert tagalong.load(tmp_path / "mixed.tagalong").model_hash() == mixed.model_hash()
    mixed.learn("A train to Paris", ["travel"])
    assert mixed.certificate_.rounds == 6


@pytest.mark.parametrize("features", [{"buckets": None}, {"weighting": "tfidf"}])
def test_features_are_those_of_the_joined_streams(features):
    taggers = [learnt(shard, **features) for shard in SHARDS]
    mixed = mix(taggers, "sum")
    assert mixed.features.fields == ("",)
    once = TextFeatures(**features)
    for shard in SHARDS:
        once.partial_fit([text for text, _ in shard])
    for text in ("invoice lisbon", "rome", "the bank", "unknown"):
        mine, theirs = mixed.features.read(text), once.read(text)
        assert np.array_equal(mine[0], theirs[0])
        assert np.array_equal(mine[1], theirs[1])


def test_base_counts_once():
    base = learnt(SHARDS[0])
    taggers = [learnt(SHARDS[1][:1], copied(base)), learnt(SHARDS[1][1:], copied(base))]
    mixed = mix(taggers, base=base)
    assert mixed.history.items == 5
    assert mixed.history.count.tolist() == [2, 2, 1]
    assert mixed.history.last.tolist() == [4, 3, 5]
    assert mixed.certificate_.rounds == 5
    assert mixed.features.to_parts()[0]["numbers"]["items"] == 5


def test_settings_of_taggers():
    taggers = [learnt(shard) for shard in SHARDS]
    taggers[0].set_min_precision("money", 0.9)
    taggers[1].set_min_precision("money", 0.99)
    taggers[0].notes = {"same": 1, "other": 2}
    taggers[1].notes = {"same": 1, "other": 3}
    mixed = mix(taggers)
    assert dict(mixed.min_precision) == {"money": 0.99}
    assert mixed.notes == {"same": 1}
    taggers[1].audit = 0.5
    with pytest.raises(ValueError, match=r"same audit to be mixed, got 0\.02 and 0\.5"):
        mix(taggers)


def test_taggers_that_do_not_fit_are_refused():
    first = learnt(SHARDS[0])
    with pytest.raises(ValueError, match=r"buckets is 1048576 in tagger 0 and 1024 in tagger 1"):
        mix([first, learnt(SHARDS[1], buckets=1024)])
    with pytest.raises(ValueError, match="tagger 1 is a race"):
        mix([first, learnt(SHARDS[1], Tagger())])
    with pytest.raises(ValueError, match="a LabelRanker and a Tagger"):
        mix([first, LabelRanker(race=None)])
    with pytest.raises(
        ValueError, match=r"taggers must .* C is 10\.0 in tagger 0 and 2\.0 in tagger 1"
    ):
        mix([first, learnt(SHARDS[1], Tagger(LabelRanker(race=None, C=2.0)))])


@pytest.mark.parametrize("features", [{"buckets": None}, {"weighting": "tfidf"}, {}])
def test_a_base_that_the_taggers_have_not_started_from_is_refused(features):
    base = learnt(SHARDS[1], **features)
    with pytest.raises(ValueError, match="tagger 0 has not started from base"):
        mix([learnt(SHARDS[0], **features)], base=base)
    longer = learnt(SHARDS[0] * 3, **features)  # more items, but not those of the base
    with pytest.raises(ValueError, match="tagger 0 has not started from base"):
        mix([longer], base=base)
