"""The confidence of the native learners agrees with its reference implementation."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tagalong import LabelRanker
from tests.reference.confidence import PLACES, ConfidenceTwin

Array = npt.NDArray[Any]


def stream(rows: int, labels: int, seed: int, several: bool) -> tuple[Array, Array]:
    """Rows whose labels follow from linear scores with noise; features grow more frequent."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 12)) * (rng.random((rows, 12)) < 0.7)
    scores = X @ rng.normal(size=(12, labels)) + 1.5 * rng.normal(size=(rows, labels))
    best = np.argsort(-scores, axis=1)
    Y = np.zeros((rows, labels), dtype=int)
    np.put_along_axis(Y, best[:, :1], 1, axis=1)
    if several:
        second = rng.random(rows) < 0.4
        Y[second, best[second, 1]] = 1
    return X, Y


def twin_of(one_label: bool) -> ConfidenceTwin:
    return ConfidenceTwin(one_label=one_label)


@pytest.mark.parametrize(
    ("labels", "several", "rows"),
    # After 512 answers the results are refreshed after every sixteenth answer only.
    [
        (2, False, 90),
        (2, True, 90),
        (3, True, 90),
        (7, False, 150),
        (14, False, 90),
        (14, True, 540),
    ],
)
def test_every_round_is_judged_like_the_reference(labels: int, several: bool, rows: int) -> None:
    X, Y = stream(rows, labels, seed=labels, several=several)
    ranker = LabelRanker(dtype="float64", one_label=not several, race=None)
    rounds = ranker.watch(X, Y)
    assert rounds.places is not None
    twin = twin_of(not several)
    places = rounds.places
    for row in range(len(X)):
        known = int(places.known[row])
        found = twin.observe(
            rounds.scores[row], rounds.cutoffs[row], known, set(np.flatnonzero(Y[row]).tolist())
        )
        count = min(PLACES, labels)
        assert places.labels[row, :count].tolist() == found.labels
        assert places.in_runs[row] == found.in_runs
        np.testing.assert_allclose(
            places.probabilities[row, :count], found.probabilities, atol=2e-6, err_msg=f"row {row}"
        )
        np.testing.assert_allclose(places.assured[row, :count], found.assured, atol=1e-6)
        assert places.chosen[row, :count].tolist() == found.chosen
        assert places.whole[row] == pytest.approx(found.whole, abs=2e-6)


def test_answers_that_stand_for_others_and_unknown_labels_are_weighed_like_the_reference() -> None:
    X, Y = stream(150, 6, seed=3, several=True)
    rng = np.random.default_rng(4)
    ranker = LabelRanker(dtype="float64", one_label=False, race=None).add_labels(range(6))
    twin = twin_of(False)
    for row in range(len(X)):
        unknown = [int(rng.integers(6))] if rng.random() < 0.3 else []
        relevant = [label for label in np.flatnonzero(Y[row]).tolist() if label not in unknown]
        present = np.flatnonzero(X[row])
        stands_for = float(rng.choice([1.0, 10.0]))
        found = ranker.watch_one((present, X[row, present]), relevant, unknown, judged=stands_for)
        assert found.places is not None
        known = int(found.places.known[0])
        expected = twin.observe(
            found.scores, found.cutoff, known, relevant, unknown, stands_for=stands_for
        )
        assert found.places.labels[0, :6].tolist() == expected.labels
        np.testing.assert_allclose(
            found.places.probabilities[0, :6], expected.probabilities, atol=2e-6
        )
        np.testing.assert_allclose(found.places.assured[0, :6], expected.assured, atol=1e-6)


def test_sorted_streams_raise_the_same_alarm_as_the_reference() -> None:
    X, Y = stream(260, 6, seed=5, several=False)
    order = np.argsort(Y.argmax(axis=1), kind="stable")
    order = np.concatenate([order, np.random.default_rng(0).permutation(order)])
    ranker = LabelRanker(dtype="float64", one_label=True, race=None)
    rounds = ranker.watch(X[order], Y[order])
    assert rounds.places is not None
    twin = twin_of(True)
    alarms = []
    for row, at in enumerate(order):
        known = int(rounds.places.known[row])
        found = twin.observe(
            rounds.scores[row], rounds.cutoffs[row], known, set(np.flatnonzero(Y[at]).tolist())
        )
        alarms.append(found.in_runs)
        np.testing.assert_allclose(rounds.places.assured[row, :6], found.assured, atol=1e-6)
    assert rounds.places.in_runs.tolist() == alarms
    assert np.mean(alarms[120:260]) > 0.9  # sorted
    assert not any(alarms[-60:])  # shuffled


def test_known_features_are_those_with_weights() -> None:
    ranker = LabelRanker().add_labels(["a", "b"])
    ranker.learn_one({"one": 1.0, "two": 1.0}, ["a"])
    assert ranker.places_one({"two": 1.0, "three": 2.0}).known.tolist() == [1]
    assert ranker.places_one({"three": 2.0}).known.tolist() == [0]


@pytest.mark.parametrize(("race", "least"), [(None, 0.4), ("auto", 0.35)])
def test_confidence_stays_useful_over_long_streams(race: Any, least: float) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(20, 4))
    X = rng.normal(size=(30_000, 20)) * (rng.random((30_000, 20)) < rng.random((30_000, 1)))
    y = (X @ truth + rng.gumbel(size=(30_000, 4))).argmax(axis=1)
    ranker = LabelRanker(race=race)
    shares = []
    for part in (slice(0, 6000), slice(6000, 30_000)):
        ranker.partial_fit(X[part], y[part], classes=range(4))
        shares.append(ranker.coverage([0.9])[0].share)
    assert min(shares) > least
    assert abs(shares[1] - shares[0]) < 0.15


def test_watching_learns_the_same_precision_of_labels() -> None:
    # After 1,000 answers, later places learn from a sample only, watched or not.
    rng = np.random.default_rng(1)
    X = np.abs(rng.normal(size=(1300, 12))) * (rng.random((1300, 12)) < 0.4)
    scores = X @ rng.normal(size=(12, 5))
    Y = (scores > np.median(scores)).astype(int)
    learnt, watched = LabelRanker().partial_fit(X, Y), LabelRanker()
    watched.watch(X, Y)
    np.testing.assert_array_equal(watched.label_precision(), learnt.label_precision())
    assert learnt.label_precision()[:, 0, 0].max() > 50


def test_rounds_without_weight_have_no_judgement() -> None:
    X, Y = stream(60, 3, seed=1, several=False)
    weights = np.ones(60)
    weights[50] = 0
    places = LabelRanker().watch(X, Y, sample_weight=weights).places
    assert places is not None
    assert places.labels[50].max() == -1
    assert (places.whole[50], places.known[50]) == (0, 0)
    assert (places.whole[49] > 0, places.known[49] > 0) == (True, True)
