"""The reference implementation of confidence, on streams whose true chances are known."""

import math

import numpy as np
import pytest

from tests.reference.confidence import (
    ALL_PLACES,
    ConfidenceTwin,
    Histogram,
    JudgedPlaces,
    LabelPrecision,
    RunDetector,
    increasing,
    splitmix64,
)
from tests.reference.simulated import (
    SimulatedAnswer,
    simulated_answers,
    simulated_items,
)

KNOWN = 30


def run(
    answers: list[SimulatedAnswer], one_label: bool = True, places: int = 1
) -> tuple[ConfidenceTwin, list[JudgedPlaces]]:
    twin = ConfidenceTwin(one_label, places)
    cutoff = math.inf if one_label else 0.0
    return twin, [twin.observe(one.scores, cutoff, KNOWN, one.relevant) for one in answers]


def true_chances(
    answers: list[SimulatedAnswer], found: list[JudgedPlaces], target: float, begin: int = 1000
) -> list[float]:
    """The true chances of the first suggestions that are sure."""
    return [
        float(answer.chances[places.labels[0]])
        for answer, places in zip(answers[begin:], found[begin:], strict=True)
        if places.assured[0] >= target
    ]


def test_what_is_sure_is_right_as_often_as_was_asked():
    runs = []
    for seed in range(2):
        answers = list(simulated_answers(seed, 3000, labels=4))
        runs.append((answers, run(answers)[1]))
    for target in (0.9, 0.95):
        chances = [x for answers, found in runs for x in true_chances(answers, found, target)]
        best = [one.chances.max() for answers, _ in runs for one in answers[1000:]]
        ranked = np.sort(best)[::-1]
        reaches = np.cumsum(ranked) >= target * np.arange(1, len(ranked) + 1)
        assert np.mean(chances) >= target - 0.015
        # compared with a threshold on the true chances themselves
        assert len(chances) > 0.85 * (np.flatnonzero(reaches).max() + 1)


@pytest.mark.parametrize("one_label", [True, False])
def test_probabilities_are_close_to_the_true_chances(one_label):
    answers = list(simulated_answers(0, 2000, labels=6, one_label=one_label))
    _, found = run(answers, one_label, places=5)
    errors = [
        abs(chance - answer.chances[label])
        for answer, places in zip(answers[1000:], found[1000:], strict=True)
        for label, chance in zip(places.labels, places.probabilities, strict=True)
    ]
    assert np.mean(errors) < 0.05


def test_chances_of_exclusive_labels_sum_to_one():
    answers = list(simulated_answers(0, 300, labels=6))
    _, found = run(answers, places=10)
    for places in found[20:]:
        assert sum(places.probabilities) == pytest.approx(1.0)
        assert places.probabilities == sorted(places.probabilities, reverse=True)


def test_a_change_stops_the_marks():
    answers = list(simulated_answers(0, 3000, labels=4, change_after=2000))
    _, found = run(answers)
    before = len(true_chances(answers[:2000], found[:2000], 0.95))
    chances = true_chances(answers, found, 0.95, begin=2000)
    assert before > 300
    assert len(chances) < 0.3 * before
    # the first of them came as a surprise
    assert np.mean(chances[len(chances) // 2 :]) > 0.87


def test_a_poor_label_is_blocked_and_the_others_are_not():
    answers = list(simulated_answers(0, 3000, labels=5, poor_label=0))
    _, found = run(answers)
    late = found[1000:]
    poor = [places.assured[0] >= 0.9 for places in late if places.labels[0] == 0]
    others = [places.assured[0] >= 0.9 for places in late if places.labels[0] != 0]
    assert np.mean(poor) < 0.2
    assert np.mean(others) > 0.4


def test_a_block_at_a_low_target_leaves_higher_levels_alone():
    precision = LabelPrecision()
    for _ in range(60):
        precision.count(0, 0.92, right=False)
        precision.count(0, 0.97, right=True)
    assert precision.blocked(0, 0.9)
    assert not precision.blocked(0, 0.95)
    assert precision.capped(0, 0.97) == 0.97
    assert precision.capped(0, 0.94) < 0.9
    assert precision.capped(1, 0.94) == 0.94


def test_nothing_known_gives_base_rates():
    answers = list(simulated_answers(0, 500, labels=5))
    twin, _ = run(answers)
    places = twin.judge(answers[0].scores, math.inf, known=0)
    assert places.assured == [0.0]
    assert places.probabilities[0] == pytest.approx(0.2, abs=0.06)
    # fewer known features than any answer had
    assert twin.judge(np.array([9.0, 0, 0, 0, 0]), math.inf, known=2).assured == [0.0]


def test_unknown_relevance_teaches_the_place_nothing():
    twin = ConfidenceTwin(places=2)
    scores = np.array([2.0, 1.0, 0.0])
    twin.observe(scores, 0.5, KNOWN, [1], unknown=[0])
    assert [rule.rounds for rule in twin.rules] == [0, 1]
    assert twin.whole.rounds == 0
    assert twin.occurrences == {1: 1}


def test_later_places_learn_from_every_eighth_answer_after_the_first_ones():
    twin = ConfidenceTwin(places=3)
    twin.answers = ALL_PLACES - 2
    for _ in range(10):
        twin.observe(np.arange(12.0), 0.5, KNOWN, [11])
    assert [rule.rounds for rule in twin.rules] == [10, 3, 3]
    assert twin.whole.rounds == 3


def test_a_place_needs_a_label_after_it():
    twin = ConfidenceTwin(places=3)
    twin.observe(np.arange(2.0), 0.5, KNOWN, [0])
    assert [rule.rounds for rule in twin.rules] == [1, 0, 0]


def test_answers_that_stand_for_many_are_worth_few():
    histogram = Histogram()
    for _ in range(20):
        histogram.add(3.0, right=True, evidence=1.0, stands_for=50.0, total=1e9)
    histogram.refresh()
    few = histogram.assured(3.0)
    for _ in range(200):
        histogram.add(3.0, right=True, evidence=1.0, stands_for=50.0, total=1e9)
    histogram.refresh()
    assert 0.9 < few < histogram.assured(3.0)
    # an answer that stands for 50 outweighs 10 wrong ones that stand for themselves
    for _ in range(10):
        histogram.add(3.0, right=False, evidence=1.0, stands_for=1.0, total=1e9)
    histogram.refresh()
    assert histogram.assured(3.0) > 0.97


@pytest.mark.parametrize("run_length", [1, 40])
def test_runs_of_labels_raise_an_alarm(run_length):
    detector, alarms, evidence = RunDetector(), [], []
    for item in simulated_items(0, 600, run_length=run_length):
        evidence.append(detector.observe([item.label]))
        alarms.append(detector.alarm)
    if run_length == 1:
        assert not any(alarms)
        assert set(evidence) == {1.0}
    else:
        assert all(alarms[100:])
        assert np.mean(evidence[200:]) < 0.1


def test_the_reservoir_is_a_sample_of_all_answers():
    detector = RunDetector()
    for number in range(2000):
        detector.observe([number])
    kept = [next(iter(one)) for one in detector.reservoir]
    assert len(set(kept)) == RunDetector.SIZE
    assert 700 < np.mean(kept) < 1300


def test_splitmix64_gives_the_published_numbers():
    assert splitmix64(0) == 0xE220A8397B1DCDAF
    assert splitmix64(1234567) == 6457827717110365317


def test_increasing_pools_violators():
    found = increasing(np.array([0.1, 0.4, 0.2, 0.3, 0.9]), np.array([1.0, 1.0, 2.0, 1.0, 1.0]))
    assert found.tolist() == pytest.approx([0.1, 0.8 / 3, 0.8 / 3, 0.3, 0.9])


def test_simulated_chances_are_true():
    items = list(simulated_items(0, 4000))
    best = np.array([item.chances.max() for item in items])
    right = np.array([item.chances.argmax() == item.label for item in items])
    assert best.mean() == pytest.approx(right.mean(), abs=0.02)
    sure = best > 0.9
    assert best[sure].mean() == pytest.approx(right[sure].mean(), abs=0.02)
    assert 0.2 < sure.mean() < 0.8
