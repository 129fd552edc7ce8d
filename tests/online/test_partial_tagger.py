"""A tagger with a PartialFeedbackRanker, which learns through ``feedback``."""

from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong import PartialFeedbackRanker, Tagger

TEXTS = {
    "money": "the invoice is due",
    "travel": "a flight to Lisbon",
    "family": "the birthday of mother",
}


def trained(rounds: int = 40, **settings: Any) -> Tagger:
    settings = {"exploration": 0.02, "width": "determinant", **settings}
    learner = PartialFeedbackRanker(covariance="diagonal", **settings)
    tagger = Tagger(learner).add_labels(TEXTS)
    for i in range(rounds):
        for label, text in TEXTS.items():
            shown = [found.label for found in tagger.suggest(f"{text} {i}", k=1)]
            tagger.feedback(f"{text} {i}", shown, [label] if label in shown else [])
    return tagger


def test_it_learns_from_accepted_labels() -> None:
    tagger = trained()
    for label, text in TEXTS.items():
        (first, *others) = tagger.suggest(text)
        assert first.label == label
        assert first.chosen
        assert not first.explores
        assert all(found.probability <= first.probability for found in others)
    assert tagger.certificate_.rounds == 120
    assert tagger.history.items == 120


def test_exploring_suggestions_are_marked() -> None:
    tagger = trained(rounds=10, exploration=0.2).add_labels(["new"])
    (found,) = tagger.suggest("the invoice is due", k=1)
    assert (found.label, found.explores, found.chosen) == ("new", True, False)
    assert str(found).startswith("?")
    assert tagger.suggest("the invoice", k=0) == []
    strict = trained(rounds=10, exploration=0.2, max_explore=0, miss_weight=0.6).add_labels(["new"])
    assert [one.label for one in strict.suggest("the invoice is due", k=1)] == ["money"]


def test_explanations_add_up() -> None:
    tagger = trained(rounds=10)
    explained = tagger.explain("the invoice is due", "money")
    assert explained.total == pytest.approx(explained.score)
    assert explained.speaks_for[0][0] in ("invoice", "due", "is")


def test_a_loaded_tagger_is_equal(tmp_path: Path) -> None:
    tagger = trained(rounds=10)
    path = tmp_path / "tagger.tagalong"
    tagger.save(path)
    again = tagalong.load(path)
    assert again.suggest("a flight") == tagger.suggest("a flight")


def test_invalid_feedback_changes_nothing() -> None:
    tagger = trained(rounds=2)
    before = tagger.features.size_in_bytes, tagger.certificate_.rounds
    with pytest.raises(ValueError, match="accepted: label 'travel' is not in shown"):
        tagger.feedback("entirely new words", ["money"], ["travel"])
    with pytest.raises(ValueError, match="shown: 'odd' is not a label"):
        tagger.feedback("entirely new words", ["odd"], [])
    assert (tagger.features.size_in_bytes, tagger.certificate_.rounds) == before


def test_unsupported_label_operations_raise() -> None:
    tagger = trained(rounds=2)
    tagger.rename_label("money", "cash")
    assert tagger.labels == ["cash", "travel", "family"]
    for change in (
        lambda: tagger.forget_label("cash"),
        lambda: tagger.merge_labels(["cash", "travel"], "both"),
        lambda: tagger.prune(1),
    ):
        with pytest.raises(ValueError, match="can be renamed, but not forgotten or merged"):
            change()
