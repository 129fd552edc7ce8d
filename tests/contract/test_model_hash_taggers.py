"""Taggers with equal hashes suggest and learn alike; every change of a tagger changes its hash."""

import copy
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagalong
from tagalong import (
    Item,
    LabelRanker,
    PartialFeedbackRanker,
    Predtron,
    SharedLabelRanker,
    Tagger,
    model_hash,
)
from tagalong.features import TextFeatures
from tests.contract.readers import read_while_writing

LEARNERS: dict[str, Any] = {
    "default": LabelRanker(),
    "one learner": LabelRanker(race=None),
    "entropic": LabelRanker(geometry="entropic"),
    "shared": SharedLabelRanker(),
    "partial": PartialFeedbackRanker(covariance="diagonal"),
    "predtron": Predtron("label-ranking", step=0.5, average=True),
}
TEXTS = ["the invoice is due", "a flight to Lisbon", "mother's birthday", "flight and invoice"]
LABELS = [["money"], ["travel"], ["family"], ["money", "travel"]]

every_learner = pytest.mark.parametrize("learner", LEARNERS)


def taught(learner: str = "default", **parameters: Any) -> Tagger:
    tagger = Tagger(LEARNERS[learner], TextFeatures(buckets=256), **parameters)
    for number in range(12):
        tagger.learn({"body": TEXTS[number % 4]}, LABELS[number % 4])
    return tagger


@every_learner
def test_copies_have_the_same_hash(learner: str, tmp_path: Path) -> None:
    tagger = taught(learner, min_precision={"money": 0.99})
    before = tagger.model_hash()
    assert before == model_hash(tagger)
    assert len(before) == 64
    for _ in range(2):
        tagger.save(tmp_path / "model")
        assert tagger.model_hash() == before
    loaded = tagalong.load(tmp_path / "model")
    for again in (loaded, pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)):
        assert again.model_hash() == before
        again.learn("rain", ["weather"])
        assert again.model_hash() != before
    assert loaded.model_hash() == tagger.learn("rain", ["weather"]).model_hash()


@pytest.mark.parametrize("forgotten", [False, True])
@every_learner
def test_copies_without_labels_have_the_same_hash(
    learner: str, forgotten: bool, tmp_path: Path
) -> None:
    """Items may come before the first label, and all labels may be forgotten."""
    tagger = Tagger(LEARNERS[learner], TextFeatures(buckets=256))
    for text in TEXTS:
        if forgotten and learner != "partial":
            tagger.learn(text, ["one"])
        tagger.learn(text, [])
    if tagger.labels:
        tagger.forget_label("one")
    tagger.save(tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model")
    copies = [loaded, pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)]
    for text, labels in [("", []), *zip(TEXTS, LABELS, strict=True)]:
        for again in copies:
            assert again.model_hash() == tagger.model_hash()
            again.learn(text, labels)
        tagger.learn(text, labels)


@every_learner
def test_looking_at_a_tagger_does_not_change_its_hash(learner: str) -> None:
    tagger = taught(learner)
    before = tagger.model_hash()
    looked_at: list[Any] = [*TEXTS, "nothing known", {"subject": "invoice"}]
    for item in looked_at:
        tagger.suggest(item, k=None)
        tagger.explain(item, "money")
    tagger.suggest_many(looked_at)
    for name in ("certificate_", "drift", "labels_come_in_runs", "has_one_label"):
        getattr(tagger, name)
    tagger.coverage()
    tagger.label_precision()
    tagger.size()
    tagger.features.matches(TEXTS[0])
    assert tagger.model_hash() == before


CHANGES: dict[str, Callable[[Tagger], object]] = {
    "learn": lambda tagger: tagger.learn(TEXTS[0], ["money"]),
    "learn another item": lambda tagger: tagger.learn(TEXTS[1], ["money"]),
    "learn, not judged": lambda tagger: tagger.learn(TEXTS[0], ["money"], judged=False),
    "learn, filed": lambda tagger: tagger.learn(TEXTS[0], ["family"], filed=True),
    "learn, audited": lambda tagger: tagger.learn(TEXTS[0], ["money"], audited=True),
    "learn, of weight 2": lambda tagger: tagger.learn(TEXTS[0], ["money"], weight=2.0),
    "feedback": lambda tagger: tagger.feedback(TEXTS[0], ["money", "travel"], ["money"]),
    "correct": lambda tagger: tagger.correct(TEXTS[0], "travel", was="money"),
    "count_mistake": lambda tagger: tagger.count_mistake("money"),
    "add_labels": lambda tagger: tagger.add_labels(["new"]),
    "rename_label": lambda tagger: tagger.rename_label("money", "cash"),
    "merge_labels": lambda tagger: tagger.merge_labels(["money", "travel"], "money"),
    "forget_label": lambda tagger: tagger.forget_label("money"),
    "prune": lambda tagger: tagger.prune(3),
    "min_precision": lambda tagger: tagger.set_min_precision("money", 0.99),
    "never": lambda tagger: tagger.set_min_precision("money", "never"),
    "audit": lambda tagger: setattr(tagger, "audit", 0.1),
    "history": lambda tagger: tagger.history.note(3, [0]),
}


def test_every_change_gives_another_hash() -> None:
    hashes = {"nothing": taught().model_hash()}
    for name, change in CHANGES.items():
        changed = taught()
        change(changed)
        hashes[name] = changed.model_hash()
    assert len(set(hashes.values())) == len(hashes)


def test_the_order_in_which_targets_were_set_does_not_change_the_hash() -> None:
    one = taught().set_min_precision("money", 0.9).set_min_precision("travel", "never")
    other = taught().set_min_precision("travel", "never").set_min_precision("money", 0.9)
    assert one.model_hash() == other.model_hash()
    assert one.set_min_precision("money", None).model_hash() != other.model_hash()
    one.set_min_precision("money", 0.9)
    assert one.model_hash() == other.model_hash()


def test_notes_do_not_change_the_hash(tmp_path: Path) -> None:
    tagger = taught()
    before = tagger.model_hash()
    tagger.notes = {"seen": 16, "more": [1.5, None]}
    assert tagger.model_hash() == before
    tagger.save(tmp_path / "model")
    assert tagalong.load(tmp_path / "model").model_hash() == before


def test_names_of_words_do_not_change_the_hash() -> None:
    """They only show what was learnt: learning and suggestions are the same to the bit."""
    tagger = taught()
    named = tagger.model_hash()
    assert taught(names=False).model_hash() == named
    tagger.features.forget_names(tagger.learner.weights_by_feature()["features"])
    assert tagger.model_hash() == named


def test_fields_change_the_hash() -> None:
    """They decide how items with fields that were never learnt are read."""
    one, other = Tagger().learn({"body": "word"}, ["a"]), Tagger().learn({"subject": "word"}, ["a"])
    assert one.model_hash() != other.model_hash()


def test_a_compact_tagger_has_a_hash_of_its_own(tmp_path: Path) -> None:
    tagger = taught()
    small = tagger.compact()
    assert small.model_hash() == tagger.compact().model_hash() != tagger.model_hash()
    small.save(tmp_path / "small")
    loaded = tagalong.load(tmp_path / "small")
    assert loaded.model_hash() == small.model_hash()
    assert copy.deepcopy(loaded).model_hash() == small.model_hash()
    other = taught().learn("rain", ["weather"]).compact()
    assert other.model_hash() != small.model_hash()


def test_a_hash_is_that_of_a_model_between_two_rounds() -> None:
    items = [(text, labels) for text, labels in zip(TEXTS, LABELS, strict=True)] * 25
    alone = Tagger()
    possible = {alone.model_hash()} | {alone.learn(*item).model_hash() for item in items}
    shared = Tagger()

    def read() -> None:
        assert shared.model_hash() in possible
        assert model_hash(shared) in possible

    def learns() -> Iterator[Callable[[], object]]:
        for item in items:
            yield partial(shared.learn, *item)

    read_while_writing(learns(), read)
    assert shared.model_hash() == alone.model_hash()


# The order of words, and of labels that are known, has no effect.
words = st.frozensets(st.sampled_from("pqrstuvw"), max_size=5).map(sorted)
labels = st.frozensets(st.sampled_from("abcd"), max_size=3).map(sorted)
items = st.builds(Item, text=words.map(" ".join), labels=labels.map(tuple))
histories = st.lists(items, max_size=25)


def learnt(history: list[Item], together: bool) -> Tagger:
    """Return a tagger that has learnt a history, item by item or in batches."""
    tagger = Tagger()
    if not together:
        for item in history:
            tagger.learn(item)
    for start in range(0, len(history) if together else 0, 4):
        assert tagger.watch_together(history[start : start + 4]) is not None
    return tagger


@settings(max_examples=60)
@given(one=histories, other=histories, more=st.lists(items, max_size=5))
def test_equal_hashes_mean_the_same_history_and_future(
    one: list[Item], other: list[Item], more: list[Item]
) -> None:
    first, second, third = learnt(one, False), learnt(one, True), learnt(other, False)
    assert first.model_hash() == second.model_hash()
    assert (first.model_hash() == third.model_hash()) == (one == other)
    for item in more:
        assert first.suggest(item, k=None) == second.suggest(item, k=None)
        before = first.model_hash()
        first.learn(item)
        assert second.watch_together([item]) is not None
        assert before != first.model_hash() == second.model_hash()


@settings(max_examples=60)
@given(history=st.lists(items, min_size=1, max_size=25), at=st.integers(0), data=st.data())
def test_one_changed_item_gives_another_hash(
    history: list[Item], at: int, data: st.DataObject
) -> None:
    changed = list(history)
    changed[at % len(history)] = data.draw(items)
    hashes = [learnt(each, True).model_hash() for each in (history, changed)]
    assert (hashes[0] == hashes[1]) == (history == changed)
