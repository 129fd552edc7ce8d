"""A race of learners notices that the answers have changed, and says so wherever users look."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction import DictVectorizer

from tagalong import LabelRanker, load
from tests.changing_answers import SWAPPED, SWAPPED_AT, changing_items

ROWS = 900


@pytest.fixture(scope="module")
def items() -> list[tuple[dict[str, float], str]]:
    return changing_items(ROWS)


def learnt(items: list[tuple[dict[str, float], str]], ranker: LabelRanker) -> LabelRanker:
    for words, label in items:
        ranker.watch_one(words, label)
    return ranker


@pytest.fixture(scope="module")
def ranker(items: list[tuple[dict[str, float], str]]) -> LabelRanker:
    return learnt(items, LabelRanker(race="auto"))


def test_a_change_is_dated_and_its_labels_are_named(ranker: LabelRanker) -> None:
    drift = ranker.drift
    assert drift is not None
    assert abs(drift.since - SWAPPED_AT) <= 40
    assert set(drift.labels) == set(SWAPPED)


def test_no_change_before(items: list[tuple[dict[str, float], str]]) -> None:
    assert learnt(items[: SWAPPED_AT - 1], LabelRanker(race="auto")).drift is None


def test_a_recent_change_is_active(items: list[tuple[dict[str, float], str]]) -> None:
    ranker = LabelRanker(race="auto")
    for words, label in items:
        ranker.watch_one(words, label)
        if ranker.drift is not None:
            assert ranker.drift.active
            return
    raise AssertionError("no change was noticed")


def test_rows_give_the_same_change_as_single_examples(
    items: list[tuple[dict[str, float], str]], ranker: LabelRanker
) -> None:
    rows = DictVectorizer(sort=False).fit_transform(words for words, _ in items)
    names = np.array([label for _, label in items])
    by_rows = LabelRanker(race="auto").partial_fit(rows, names, classes=np.unique(names))
    one_by_one = LabelRanker(race="auto")
    for row, name in zip(rows, names, strict=True):
        one_by_one.partial_fit(row, [name], classes=np.unique(names))
    assert by_rows.drift is not None
    assert by_rows.drift == one_by_one.drift


def test_a_file_keeps_the_change(ranker: LabelRanker, tmp_path: Path) -> None:
    ranker.save(tmp_path / "model")
    assert load(tmp_path / "model").drift == ranker.drift


def test_forgotten_and_renamed_labels_are_not_named(
    items: list[tuple[dict[str, float], str]],
) -> None:
    ranker = learnt(items, LabelRanker(race="auto"))
    first, second = SWAPPED
    ranker.forget_labels([first])
    ranker.rename_label(second, "new name")
    drift = ranker.drift
    assert drift is not None
    assert drift.labels == ("new name",)


def test_items_learnt_again_do_not_count(items: list[tuple[dict[str, float], str]]) -> None:
    again = LabelRanker(race="auto")
    for words, label in items:
        again.watch_one(words, label, judged=False)
    assert again.drift is None


def test_a_single_learner_does_not_look(items: list[tuple[dict[str, float], str]]) -> None:
    assert LabelRanker(race=None).drift is None
    assert learnt(items, LabelRanker(race=None)).drift is None
