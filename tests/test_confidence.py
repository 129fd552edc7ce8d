"""The promises of confidence, on simulated streams whose truth is known."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tagalong
from tagalong import LabelRanker
from tests.reference.simulated import SimulatedItem, simulated_items

Array = npt.NDArray[Any]


class Watched:
    """A default learner after a stream, with what it said of the first place of each item."""

    def __init__(self, items: Iterable[SimulatedItem], **parameters: Any):
        self.ranker = LabelRanker(**parameters).add_labels(range(10))
        said = []
        for item in items:
            places = self.ranker.watch_one(item.pair, [item.label]).places
            assert places is not None
            best = int(places.labels[0, 0])
            said.append(
                (
                    places.probabilities[0, 0],
                    places.assured[0, 0],
                    item.chances[best],
                    best == item.label,
                    places.in_runs[0],
                )
            )
        columns = np.array(said, dtype=float).T
        self.probability, self.assured, self.chance, self.right, self.in_runs = columns

    def sure(self, target: float, start: int = 0, stop: int | None = None) -> Array:
        return self.assured[start:stop] >= target


@pytest.fixture(scope="module")
def stationary() -> list[Watched]:
    return [Watched(simulated_items(seed, 4000)) for seed in range(4)]


@pytest.mark.parametrize("target", [0.9, 0.95, 0.99])
def test_of_what_is_sure_the_asked_share_is_right(stationary: list[Watched], target: float) -> None:
    """Judged by the true chances, which have less noise than the answers."""
    chances = np.concatenate([one.chance[one.sure(target)] for one in stationary])
    assert len(chances) > (100 if target == 0.99 else 800)
    allowed = 3 * np.sqrt(target * (1 - target) / len(chances))
    assert chances.mean() > target - allowed


def test_much_of_what_could_be_filed_is_sure(stationary: list[Watched]) -> None:
    """Compared with the best threshold on the probability, in hindsight."""
    found = possible = 0
    for one in stationary:
        by_probability = one.chance[1000:][np.argsort(-one.probability[1000:])]
        precise = np.cumsum(by_probability) / np.arange(1, len(by_probability) + 1) >= 0.95
        possible += np.flatnonzero(precise).max(initial=-1) + 1
        found += one.sure(0.95, 1000).sum()
    assert found > 0.8 * possible > 1000


def test_probabilities_are_calibrated(stationary: list[Watched]) -> None:
    said = np.concatenate([one.probability[500:] for one in stationary])
    true = np.concatenate([one.chance[500:] for one in stationary])
    bins = np.minimum((said * 15).astype(int), 14)
    error = sum(abs((said - true)[bins == b].sum()) for b in range(15)) / len(said)
    assert error < 0.02


def test_the_first_five_places_stay_calibrated_when_the_world_changes() -> None:
    """All labels swap their meaning at item 1,000, which is among the items that are measured."""
    said, right = [], []
    for seed in range(3):
        ranker = LabelRanker().add_labels(range(10))
        for number, item in enumerate(simulated_items(seed, 4000, swap_after=1000)):
            places = ranker.watch_one(item.pair, [item.label]).places
            assert places is not None
            if number >= 500:
                said.append(places.probabilities[0, :5])
                right.append(places.labels[0, :5] == item.label)
    probabilities, outcomes = np.concatenate(said), np.concatenate(right)
    bins = np.minimum((probabilities * 15).astype(int), 14)
    gaps = np.bincount(bins, probabilities - outcomes)
    assert np.abs(gaps).sum() / len(probabilities) < 0.03
    assert probabilities.max() > 0.9


def test_something_is_sure_before_500_items(stationary: list[Watched]) -> None:
    """These items are hard: only a quarter of the streams' best suggestions are certain."""
    assert any(one.sure(0.9, 0, 500).any() for one in stationary)


def test_five_items_are_too_few_for_anything_to_be_sure() -> None:
    assert not Watched(simulated_items(0, 30)).assured[:10].any()


def test_when_the_world_changes_the_marks_stop_and_come_back() -> None:
    one = Watched(simulated_items(1, 6000, swap_after=2500))
    assert one.sure(0.95, 2000, 2500).mean() > 0.1
    wrongly = one.sure(0.95, 2500, 3500) & (one.right[2500:3500] == 0)
    assert wrongly.sum() < 40
    assert not one.sure(0.95, 2600, 2700).any()
    assert one.sure(0.95, 5000).sum() > 20
    assert one.chance[5000:][one.sure(0.95, 5000)].mean() > 0.93


def test_nothing_is_sure_after_a_sorted_stream() -> None:
    items = sorted(simulated_items(2, 1500), key=lambda item: item.label)
    shuffled = list(simulated_items(3, 1500))
    one = Watched([*items, *shuffled])
    assert one.right[:1500].mean() > 0.9  # what a sorted stream seems to show
    assert not one.assured[1500:1700].any()
    # The false certainty of the sorted part is forgotten before anything is marked again.
    assert not one.ranker.labels_come_in_runs
    marked = one.sure(0.95, 1500)
    assert marked.any()
    assert one.chance[1500:][marked].mean() > 0.93
    in_order = Watched(items)
    assert in_order.ranker.labels_come_in_runs
    assert in_order.in_runs[200:].mean() > 0.8
    assert not in_order.assured[in_order.in_runs > 0].any()


def test_later_passes_leave_confidence_as_it_was() -> None:
    items = list(simulated_items(4, 800))
    one = Watched(items)
    before = one.ranker.coverage()
    state = one.ranker.to_parts()[1]["confidence"].copy()
    scores = one.ranker.score_one(items[0].pair)[0].copy()
    for item in items:
        one.ranker.learn_one(item.pair, [item.label], judged=False)
    assert one.ranker.coverage() == before
    assert one.ranker.to_parts()[1]["confidence"].tobytes() == state.tobytes()
    assert one.ranker.score_one(items[0].pair)[0].tolist() != scores.tolist()
    assert one.ranker.cutoff_ == pytest.approx(Watched(items).ranker.cutoff_)


def test_a_label_that_falls_short_is_not_marked_until_it_recovers() -> None:
    one = Watched(simulated_items(5, 3000))
    ranker = one.ranker
    probes = list(simulated_items(6, 400))

    def marked() -> Array:
        found = [ranker.places_one(item.pair, k=1) for item in probes]
        return np.bincount(
            [int(places.labels[0, 0]) for places in found if places.assured[0, 0] >= 0.95],
            minlength=10,
        )

    usual = marked()
    label = int(usual.argmax())
    for _ in range(12):
        ranker.count_mistake(label)
    blocked = marked()
    assert blocked[label] == 0
    others = np.arange(10) != label
    assert blocked[others].tolist() == usual[others].tolist()
    for item in simulated_items(7, 3000):
        ranker.learn_one(item.pair, [item.label])
    assert marked()[label] > 0


def test_an_item_without_known_features_has_base_rates_only() -> None:
    ranker = LabelRanker().add_labels(["often", "seldom"])
    for number in range(100):
        ranker.learn_one({f"word{number % 7}": 1.0}, ["seldom" if number % 10 == 0 else "often"])
    places = ranker.places_one({"never seen": 1.0})
    assert places.known.tolist() == [0]
    assert places.assured.tolist() == [[0.0, 0.0]]
    chance = dict(zip(places.labels[0].tolist(), places.probabilities[0].tolist(), strict=True))
    assert chance[0] == pytest.approx(0.9, abs=0.15)


def test_one_label_is_noticed_and_given_up() -> None:
    ranker = LabelRanker()
    for item in simulated_items(8, 40):
        ranker.learn_one(item.pair, [item.label])
    assert ranker.has_one_label
    places = ranker.places_one(next(simulated_items(9, 1)).pair)
    assert places.chosen.sum() == 1
    assert places.probabilities.sum() == pytest.approx(1)
    ranker.learn_one(([1], [1.0]), [0, 1])
    assert not ranker.has_one_label


def test_one_label_can_be_told_and_is_then_enforced() -> None:
    ranker = LabelRanker(one_label=True)
    ranker.learn_one(([1], [1.0]), ["a"])
    assert ranker.has_one_label
    with pytest.raises(ValueError, match="2 labels, but one_label=True"):
        ranker.learn_one(([1], [1.0]), ["a", "b"])
    with pytest.raises(ValueError, match="row 1 has 2 labels, but one_label=True"):
        LabelRanker(one_label=True).fit(np.eye(2), [["a"], ["a", "b"]])
    assert not LabelRanker(one_label=False).fit(np.eye(30), [["a"]] * 30).has_one_label


@pytest.mark.parametrize("judged", [-1, 0.5, np.nan, 1e9, "yes", None])
def test_a_wrong_number_of_answers_is_refused(judged: Any) -> None:
    ranker = LabelRanker().fit(np.eye(3), ["a", "b", "c"])
    before = ranker.to_parts()[1]["confidence"].tobytes()
    with pytest.raises(ValueError, match="judged must be"):
        ranker.learn_one(([0], [1.0]), ["a"], judged=judged)
    with pytest.raises(ValueError, match="judged must be"):
        ranker.partial_fit(np.eye(3), ["a", "b", "c"], judged=judged)
    assert ranker.to_parts()[1]["confidence"].tobytes() == before


def test_confidence_is_saved_and_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    items = list(simulated_items(10, 900))
    one = Watched(items[:700])
    one.ranker.save(tmp_path / "model.tagalong")
    loaded = tagalong.load(tmp_path / "model.tagalong")
    for item in items[700:]:
        mine, theirs = (
            ranker.watch_one(item.pair, [item.label]).places for ranker in (one.ranker, loaded)
        )
        assert mine is not None
        assert theirs is not None
        assert mine.probabilities.tobytes() == theirs.probabilities.tobytes()
        assert mine.assured.tobytes() == theirs.assured.tobytes()
        assert mine.whole.tobytes() == theirs.whole.tobytes()


@pytest.mark.parametrize(("race", "too_low"), [(None, 0.08), ("auto", 0.3)])
def test_rows_with_equally_many_features_tell_nothing_about_missing_ones(
    race: Any, too_low: float
) -> None:
    """One column fewer than in all rows so far is no reason to be sure.

    A race is too careful with such rows.
    """
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(5, 40))

    def rows(count: int, missing: int) -> tuple[Array, Array]:
        X = rng.normal(size=(count, 40))
        X[:, :missing] = 0
        return X, np.argmax(X @ weights.T + 4 * rng.gumbel(size=(count, 5)), axis=1)

    X, y = rows(6000, missing=0)
    ranker = LabelRanker(race=race).fit(X, y)
    for missing in (1, 4):
        X, y = rows(1000, missing)
        right = ranker.predict(X) == y
        excess = ranker.predict_proba(X).max(axis=1).mean() - right.mean()
        assert -too_low < excess < 0.08


def test_confidence_stays_sound_on_a_long_stream() -> None:
    one = Watched(simulated_items(11, 25_000))
    assert one.sure(0.9, 20_000).mean() > 0.1
    assert one.chance[20_000:][one.sure(0.9, 20_000)].mean() > 0.87
    assert abs((one.probability - one.chance)[20_000:].mean()) < 0.03
