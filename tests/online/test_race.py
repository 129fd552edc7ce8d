"""The race agrees with its naive twin, round by round, and goes on after it was saved."""

import pickle
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import LabelRanker
from tests.contract.bits import native_of
from tests.reference.geometries import FloatArray
from tests.reference.race import KINDS, NaiveRace

ROUNDS, LABELS = 640, 6
Rounds = Iterator[tuple[FloatArray, list[int]]]


def numbers(seed: int, rounds: int, features: int = 7) -> Rounds:
    """Dense rows whose columns have unlike means and scales; the labels follow from sums."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(LABELS, features))
    scales, means = 10.0 ** rng.uniform(-2, 2, features), rng.normal(size=features)
    for t in range(rounds):
        z = rng.normal(size=features)
        strength = weights @ z + 0.5 * rng.normal(size=LABELS)
        relevant = [0] if t == 0 else [int(k) for k in np.flatnonzero(strength > 1)]
        yield scales * (z + means), relevant


def words(seed: int, rounds: int, features: int = 90) -> Rounds:
    """Rows of words. The first word is in every row, frequent ones say nothing."""
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        relevant = sorted({int(rng.integers(LABELS)), int(rng.integers(LABELS))})
        relevant = [0] if t == 0 else relevant[: 1 + int(rng.random() < 0.4)]
        x = np.zeros(features)
        x[rng.integers(20, size=4)] = 1
        for label in relevant:
            own = 20 + label * 11 + rng.integers(11, size=2)
            x[own[rng.random(2) < 0.7]] = rng.integers(1, 4)
        x[0] = 1
        yield x, relevant


STREAMS: dict[str, Callable[[int, int], Rounds]] = {"dense": numbers, "sparse": words}


def in_order_of_occurrence(rounds: Rounds) -> list[tuple[FloatArray, list[int]]]:
    """Number the labels in the order in which a learner meets them."""
    number: dict[int, int] = {}
    out = []
    for x, relevant in rounds:
        out.append((x, sorted(number.setdefault(label, len(number)) for label in relevant)))
    return out


@pytest.mark.parametrize("kind", STREAMS)
def test_the_race_is_that_of_the_definition(kind: str) -> None:
    stream = in_order_of_occurrence(STREAMS[kind](3, ROUNDS))
    ranker = LabelRanker(dtype="float64")
    twin = NaiveRace(len(stream[0][0]), LABELS)
    for t, (x, relevant) in enumerate(stream):
        row = sp.csr_array(x[None, :])
        if t:
            found = ranker.decision_function(row)[0]
            np.testing.assert_allclose(found, twin.score(x), rtol=1e-9, atol=1e-9, err_msg=str(t))
        ranker.partial_fit(row, [relevant], "grow")
        twin.learn(x, relevant)
    standings = native_of(ranker).standings()
    assert [one.name for one in standings if one.running] == twin.running
    assert {one.name: one.left for one in standings if not one.running} == twin.departures
    assert max(twin.departures.values()) > ROUNDS - 200, "nobody was beaten"
    weights = [one.weight for one in standings if one.running]
    np.testing.assert_allclose(weights, twin.weights, rtol=1e-9)
    assert ranker.drift is None, "the twin does not start again after a change"


def test_the_twin_has_all_contestants() -> None:
    ranker = LabelRanker().partial_fit(np.eye(2), [[0], [1]], classes=[0, 1])
    assert [one.name for one in native_of(ranker).standings()] == list(KINDS)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("rounds", [15, 60, 620])
def test_a_restored_race_continues_with_the_same_bits(kind: str, rounds: int) -> None:
    rows, relevant = zip(*STREAMS[kind](5, rounds + 60), strict=True)
    X, Y = sp.csr_array(np.array(rows)), list(relevant)
    ranker = LabelRanker().partial_fit(X[:rounds], Y[:rounds], "grow")
    restored = pickle.loads(pickle.dumps(ranker))
    for model in (ranker, restored):
        model.partial_fit(X[rounds:], Y[rounds:])
    np.testing.assert_array_equal(restored.decision_function(X), ranker.decision_function(X))
    assert restored.cutoff_ == ranker.cutoff_
    states = [native_of(model).state()["arrays"] for model in (ranker, restored)]
    assert states[0].keys() == states[1].keys()
    for name, array in states[0].items():
        np.testing.assert_array_equal(array, states[1][name], err_msg=name)
