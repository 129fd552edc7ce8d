"""Tests of `Tagger`: suggestions, learning, explanations, label operations, files."""

import math
import pickle
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import tagalong
from tagalong import Item, LabelRanker, Tagger
from tagalong.features import TextFeatures
from tagalong.learning.certificates import Certificate
from tests.contract.readers import read_while_writing
from tests.model_files import decoded

WORDS = ["invoice", "due", "flight", "hotel", "mother", "birthday", "meeting", "agenda", "rain"]
LABELS = ["money", "travel", "family", "work"]


def stream(count: int, seed: int = 0) -> list[Item]:
    rng = np.random.default_rng(seed)
    items = []
    for i in range(count):
        labels = tuple(sorted(rng.choice(LABELS, size=rng.integers(1, 3), replace=False).tolist()))
        about = [WORDS[2 * LABELS.index(label) + int(rng.integers(2))] for label in labels]
        items.append(Item(str(i), " ".join([*about, *rng.choice(WORDS, 2)]), labels=labels))
    return items


def trained(count: int = 60, **params: Any) -> Tagger:
    """Return a tagger that has learnt; it has copies of its parts, which tests share."""
    tagger = Tagger(**{name: clone(part, safe=False) for name, part in params.items()})
    for item in stream(count):
        tagger.learn(item)
    return tagger


def contents(tagger: Tagger) -> tuple[object, ...]:
    header, arrays = tagger.to_parts()
    return header, {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}


PARAMETERS: list[dict[str, Any]] = [
    {},
    {"features": TextFeatures(buckets=None, weighting="tfidf", words=(1, 2))},
    {"learner": LabelRanker(update="single", geometry="euclidean", dtype="float64")},
    {"learner": LabelRanker(geometry="entropic", update="optimal")},
    {"learner": LabelRanker(race=None)},
]


@pytest.mark.parametrize("params", PARAMETERS)
def test_same_bits_as_the_learner(params):
    items = stream(40)
    tagger = trained(40, **params)
    features = params.get("features", TextFeatures())
    features = TextFeatures(**features.get_params())
    learner = LabelRanker(**params.get("learner", LabelRanker()).get_params())
    if learner.geometry == "entropic":
        learner.n_features = 2**20
    for item in items:
        learner.learn_one(features.read(item), item.labels)
        features.read(item, learn=True)
    probe = "invoice and flight in the rain"
    mine = {s.label: s.score for s in tagger.suggest(probe, k=None)}
    scores, cutoff = learner.score_one(features.read(probe))
    assert mine == dict(zip(learner.classes_.tolist(), scores.tolist(), strict=True))
    assert tagger.certificate_ == learner.certificate_
    chosen = {s.label for s in tagger.suggest(probe, k=None) if s.chosen}
    assert chosen == {y for y, t in zip(learner.classes_, scores, strict=True) if t >= cutoff}


def test_suggestions_after_learning():
    tagger = trained()
    assert tagger.suggest("birthday of mother", k=1)[0].label == "family"
    assert tagger.suggest("flight and hotel", k=1)[0].label == "travel"


def test_no_suggestions_without_labels():
    assert Tagger().suggest("anything") == []


def test_ties_go_to_frequent_then_to_recent_labels():
    tagger = Tagger().add_labels(["never", "rare", "later", "common"])
    assert [s.label for s in tagger.suggest("x", k=None)] == ["never", "rare", "later", "common"]
    history = tagger.history
    history.note(4, [1])
    history.note(4, [2])
    history.note(4, [3])
    history.note(4, [3])
    assert [s.label for s in tagger.suggest("x", k=None)] == ["common", "later", "rare", "never"]


def test_number_of_suggestions():
    tagger = trained()
    assert len(tagger.suggest("rain", k=2)) == 2
    assert len(tagger.suggest("rain", k=None)) == len(tagger.suggest("rain", k=99)) == 4
    assert tagger.suggest("rain", k=0) == []


@pytest.mark.parametrize("params", PARAMETERS)
def test_suggestions_are_sorted_by_score_and_probability(params):
    for suggestions in [trained(**params).suggest(i, k=None) for i in stream(10, seed=1)]:
        scores = [s.score for s in suggestions]
        probabilities = [s.probability for s in suggestions]
        assert scores == sorted(scores, reverse=True)
        assert probabilities == sorted(probabilities, reverse=True)
        assert all(0 <= p <= 1 for p in probabilities)


def test_min_precision_decides_which_suggestions_are_sure():
    tagger = trained(400)
    item = stream(1, seed=5)[0]
    for min_precision in (0.2, 0.5, 0.9, 1.0):
        for s in tagger.suggest(item, k=None, min_precision=min_precision):
            assert s.sure == (s.probability >= min_precision)
    with pytest.raises(ValueError, match="min_precision must be above 0 and at most 1, got 0"):
        tagger.suggest(item, min_precision=0)


def test_no_suggestion_is_sure_after_five_items():
    tagger = trained(5)
    assert not any(s.sure for s in tagger.suggest(stream(5)[0], k=None))


def test_suggesting_and_explaining_change_nothing():
    tagger = trained()
    before = contents(tagger)
    tagger.suggest("invoice unheard-of", k=None)
    tagger.explain("invoice unheard-of", "work")
    tagger.size()
    assert contents(tagger) == before


@pytest.mark.parametrize("params", PARAMETERS)
@given(words=st.lists(st.sampled_from([*WORDS, "new", "words"]), max_size=8))
def test_explanations_add_up_to_the_score(params, words):
    tagger = TRAINED.setdefault(str(params), trained(**params))
    text = " ".join(words)
    for suggestion in tagger.suggest(text, k=None):
        found = tagger.explain(text, suggestion.label)
        assert found.score == suggestion.score
        # Up to one rounding error.
        size = math.fsum(abs(part) for _, part in found.parts) + abs(found.base)
        assert abs(found.total - found.score) <= 2**-53 * size
        assert {name for name, _ in found.parts} >= set(words)
        assert math.isclose(
            math.fsum(p for _, p in found.speaks_for)
            + math.fsum(p for _, p in found.speaks_against),
            math.fsum(p for _, p in found.parts),
            abs_tol=1e-12,
        )
        features, parts, _ = tagger.learner.explain_one(
            tagger.features.read(text), suggestion.label
        )
        constant = math.fsum(parts[features < 0])
        assert found.base == pytest.approx(constant, abs=2e-6 * (1 + abs(found.score)))


TRAINED: dict[str, Tagger] = {}


def test_explain_takes_the_best_label_by_default():
    tagger = trained()
    found = tagger.explain("flight")
    assert found.label == tagger.suggest("flight", k=1)[0].label == "travel"
    assert found.parts[0][0] == "flight"
    assert "flight" in str(found)
    with pytest.raises(ValueError, match="no labels yet"):
        Tagger().explain("flight")
    with pytest.raises(ValueError, match="there is no label 'nonsense'"):
        tagger.explain("flight", "nonsense")


def test_failed_learning_changes_nothing():
    tagger = trained()
    before = contents(tagger)
    with pytest.raises(ValueError, match="labels must be given"):
        tagger.learn("a text")
    with pytest.raises(ValueError, match="labels must be given"):
        tagger.learn(Item("1", "a text"))
    with pytest.raises(ValueError, match="weight must be positive, got -1"):
        tagger.learn("a text", ["money"], weight=-1)
    with pytest.raises(ValueError, match="values must be finite"):
        tagger.learn({"a": math.nan}, ["money"])
    with pytest.raises(ValueError):
        tagger.learn({"a": 1e300, "unheard": 1e300}, ["money"])
    assert contents(tagger) == before


def test_item_with_an_empty_set_of_labels_is_learnt():
    tagger = trained()
    tagger.learn(Item("1", "spam spam", labels=()))
    assert tagger.certificate_.rounds == 61


def test_labels_argument_replaces_the_labels_of_the_item():
    tagger = Tagger().learn(Item("1", "text", labels=("a",)), ["b"])
    assert tagger.labels == ["b"]


def test_new_labels_at_any_time():
    tagger = trained()
    tagger.learn("a wedding", ["events"])
    tagger.learn("a wedding feast", "events")
    assert tagger.suggest("wedding", k=1)[0].label == "events"


def test_feedback_ignores_labels_that_were_not_shown():
    tagger, other = trained(), trained()
    tagger.feedback("flight to mother", shown=["travel", "work"], accepted=["travel"])
    other.learn("flight to mother", ["travel"], unknown=["money", "family"])
    assert contents(tagger) == contents(other)
    with pytest.raises(ValueError, match="accepted: label 'family' is not in shown"):
        tagger.feedback("x", shown=["travel"], accepted=["family"])
    with pytest.raises(ValueError, match="shown: 'nonsense' is not a label"):
        tagger.feedback("x", shown=["nonsense"], accepted=[])
    assert contents(tagger) == contents(other)


def test_rejected_label_gets_a_lower_score():
    tagger = trained()
    before = {s.label: s.score for s in tagger.suggest("agenda", k=None)}
    for _ in range(5):
        tagger.feedback("agenda", shown=["work", "money"], accepted=["money"])
    after = {s.label: s.score for s in tagger.suggest("agenda", k=None)}
    assert after["work"] < before["work"]


def test_correct():
    tagger = trained()
    tagger.learn("quarterly figures", ["family"])
    counts = dict(zip(tagger.labels, tagger.history.count, strict=True))
    tagger.correct("quarterly figures", ["work"], was=["family"])
    assert tagger.suggest("quarterly figures", k=1)[0].label == "work"
    after = dict(zip(tagger.labels, tagger.history.count, strict=True))
    assert after == {**counts, "family": counts["family"] - 1, "work": counts["work"] + 1}
    with pytest.raises(ValueError, match="was: 'nonsense' is not a label"):
        tagger.correct("x", ["work"], was=["nonsense"])


def test_rename_changes_the_name_only():
    tagger, other = trained(), trained()
    tagger.rename_label("money", "finance")
    assert [s.score for s in tagger.suggest("invoice")] == [
        s.score for s in other.suggest("invoice")
    ]
    assert tagger.suggest("invoice", k=1)[0].label == "finance"
    assert tagger.certificate_ == other.certificate_
    with pytest.raises(ValueError, match="label 'travel' exists already; merge_labels"):
        tagger.rename_label("finance", "travel")
    with pytest.raises(ValueError, match="there is no label 'money'"):
        tagger.rename_label("money", "cash")


@pytest.mark.parametrize("params", PARAMETERS)
def test_forget_keeps_the_scores_of_other_labels(params):
    """The scores of a race are relative to those of all labels: they keep their order."""
    tagger = trained(**params)
    before = {s.label: s.score for s in tagger.suggest("invoice flight mother", k=None)}
    tagger.forget_label("travel")
    after = {s.label: s.score for s in tagger.suggest("invoice flight mother", k=None)}
    del before["travel"]
    assert list(after) == list(before)
    if "learner" in params:
        assert after == pytest.approx(before, rel=1e-6)
    assert tagger.certificate_.rounds == 0
    assert "'travel' was forgotten after 60 rounds" in str(tagger.certificate_)
    tagger.learn("a flight", ["travel"])
    assert tagger.labels[-1] == "travel"
    assert tagger.certificate_.rounds == 1


@pytest.mark.parametrize("params", PARAMETERS[:3])
def test_merged_label_is_suggested_for_the_items_of_its_parts(params):
    tagger = trained(**params)
    counts = dict(zip(tagger.labels, tagger.history.count, strict=True))
    tagger.merge_labels(["family", "work"], into="people")
    assert sorted(tagger.labels) == ["money", "people", "travel"]
    after = dict(zip(tagger.labels, tagger.history.count, strict=True))
    assert after["people"] == counts["family"] + counts["work"]
    for text in ("mother birthday", "meeting agenda"):
        assert tagger.suggest(text, k=1)[0].label == "people"
    assert isinstance(tagger.certificate_, Certificate)
    assert "were merged into 'people'" in str(tagger.certificate_.restarted)


def test_merge_into_an_existing_label():
    tagger = trained()
    tagger.merge_labels(["work"], into="money")
    assert "work" not in tagger.labels
    assert "money" in tagger.labels
    with pytest.raises(ValueError, match="at least two labels"):
        tagger.merge_labels(["money"], into="money")
    with pytest.raises(ValueError, match="there is no label 'nonsense'"):
        tagger.merge_labels(["money", "nonsense"], into="x")


@pytest.mark.parametrize("params", PARAMETERS)
def test_certificate_is_valid_after_forgetting_a_label(params):
    tagger = trained(**params)
    tagger.forget_label("travel")
    for item in stream(40, seed=2):
        tagger.learn(item)
    found = tagger.certificate_
    assert isinstance(found, Certificate)
    assert isinstance(tagger.learner, LabelRanker)
    native = tagger.learner._native
    assert found.rounds == 40
    assert native.recompute_dual() == pytest.approx(found.dual, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("race", ["auto", None])
def test_prune_keeps_informative_words(race):
    """Scores of a race are relative to counts of all words: labels keep their order."""
    tagger = trained(300, learner=LabelRanker(race=race))
    for i in range(200):
        tagger.learn(f"noise{i} noise", ["money", "work"][i % 2])
    before = tagger.suggest("invoice", k=None)
    full = tagger.size()
    report = tagger.prune(features=len(WORDS))
    assert report.features == len(WORDS) + 1  # plus the constant feature
    assert report.total_bytes < full.total_bytes
    after = tagger.suggest("invoice", k=None)
    assert [s.label for s in after] == [s.label for s in before]
    if race is None:
        assert [s.score for s in after] == [s.score for s in before]
    learner = cast(LabelRanker, tagger.learner)
    kept = set(learner.feature_lengths()[0].tolist())
    # In a race the word "noise" may take the place of one of them.
    assert len(kept & {tagger.features.read(word)[0][0] for word in WORDS}) >= len(WORDS) - 1
    assert isinstance(tagger.certificate_, Certificate)
    assert "pruned" in str(tagger.certificate_.restarted)
    assert tagger.prune(features=10_000) == report


@pytest.mark.parametrize("params", PARAMETERS)
def test_loaded_tagger_continues_to_the_same_bits(params, tmp_path: Path):
    tagger = trained(**params)
    tagger.notes = {"position": 60, "words": ["ä"]}
    tagger.save(tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model")
    assert contents(loaded) == contents(tagger)
    for item in stream(20, seed=3):
        tagger.learn(item)
        loaded.learn(item)
    assert contents(loaded) == contents(tagger)
    copy = pickle.loads(pickle.dumps(tagger))
    assert contents(copy) == contents(tagger)


def test_restarted_certificate_is_saved(tmp_path: Path):
    for params in PARAMETERS:
        tagger = trained(**params)
        tagger.forget_label("travel")
        for item in stream(10, seed=3):
            tagger.learn(item)
        tagger.save(tmp_path / "model")
        loaded = tagalong.load(tmp_path / "model")
        assert loaded.certificate_ == tagger.certificate_
        assert isinstance(tagger.learner, LabelRanker)
        assert loaded.learner._native.recompute_dual() == tagger.learner._native.recompute_dual()


def test_empty_tagger_can_be_saved(tmp_path: Path):
    Tagger().save(tmp_path / "model")
    assert tagalong.load(tmp_path / "model").suggest("x") == []


def test_names_false_saves_no_words_and_gives_the_same_bits(tmp_path: Path):
    tagger, nameless = trained(), trained(names=False)
    nameless.save(tmp_path / "nameless")
    tagger.save(tmp_path / "named")
    file = decoded(tmp_path / "nameless")
    assert not any(word.encode() in file for word in WORDS)
    assert b"invoice" in decoded(tmp_path / "named")
    loaded = tagalong.load(tmp_path / "nameless")
    for item in stream(10, seed=4):
        assert loaded.suggest(item) == tagger.suggest(item)
        assert loaded.explain(item) == tagger.explain(item)


def test_fitted_learner_is_used_and_unfitted_learner_is_copied():
    learner = LabelRanker()
    assert Tagger(learner).learner is not learner
    learner.learn_one(([1], [1.0]), ["a"])
    tagger = Tagger(learner)
    assert tagger.learner is learner
    assert tagger.suggest("x")[0].label == "a"


def test_invalid_parameters_are_named():
    with pytest.raises(ValueError, match="C must be positive"):
        Tagger(LabelRanker(C=-1))
    with pytest.raises(ValueError, match="names must be True or False, got 3"):
        Tagger(names=3)  # type: ignore[arg-type]


def test_suggest_while_another_thread_learns():
    tagger = trained()

    def suggest() -> None:
        found = tagger.suggest("invoice flight", k=None)
        assert len({s.label for s in found}) == len(found)
        tagger.explain("invoice flight", found[0].label)

    steps = [partial(tagger.learn, item) for item in stream(200, seed=6)]
    for position in range(0, 200, 20):
        steps.insert(position, partial(tagger.learn, "new", [f"label{position}"]))
    read_while_writing(steps, suggest)


def test_probabilities_of_merged_labels_are_at_most_one():
    tagger = Tagger()
    for number in range(60):
        tagger.learn(f"word{number % 7}", ["a", "b"] if number % 3 else ["c"])
    tagger.merge_labels(["a", "b"], "ab")
    assert all(0 <= found.probability <= 1 for found in tagger.suggest("unknown"))


def test_failed_answer_to_an_audited_item_is_not_counted():
    tagger = Tagger().learn("one", ["a"])
    before = pickle.dumps(tagger)
    with pytest.raises(ValueError, match="not hashable"):
        tagger.learn("one", [["bad"]], audited=True)
    assert pickle.dumps(tagger) == before


def test_answers_that_are_no_evidence_are_not_counted_as_audited():
    tagger = Tagger().learn("one", ["a"])
    before = tagger.to_parts()[0]["audit"]
    tagger.learn("one", ["a"], judged=False, audited=True)
    assert tagger.to_parts()[0]["audit"] == before


@pytest.mark.parametrize("judged", ["x", -1, float("nan"), 1e9])
def test_invalid_judged_changes_nothing(judged):
    tagger = Tagger().learn("one", ["a"])
    before = pickle.dumps(tagger)
    with pytest.raises(ValueError, match="judged must be True or False"):
        tagger.learn("one", ["new"], judged=judged)
    with pytest.raises(ValueError, match="judged must be True or False"):
        tagger.watch_together([Item(text="one", labels=("new",))], judged=judged)
    assert pickle.dumps(tagger) == before


def test_items_learnt_together_have_one_label_if_all_have():
    tagger = Tagger(LabelRanker(one_label=True)).add_labels(["a", "b"])
    assert tagger.watch_together([Item(text="one", labels=("a", "b"))]) is None
