"""Built-in problems: decoders against enumeration of all sets (2^m) and rankings (m!)."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from tagalong import Predtron
from tagalong import _native as core
from tagalong.problems import (
    REJECT,
    Binary,
    LabelRanking,
    Multiclass,
    Multilabel,
    Ordinal,
    SubsetRanking,
    check_problem,
)
from tests.problems.kinds import Kind, every_kind, orders


@every_kind
def test_check_problem_passes(kind: Kind) -> None:
    check_problem(kind.problem, kind.answers, kind.predictions, rounds=8)


def augmented_score(problem: Any, prediction: Any, scores: Any, y: Any) -> float:
    return float(problem.represent(prediction) @ scores) + problem.loss(prediction, y)


numbers = st.sampled_from([-2.0, -1.0, -0.3, 0.0, 0.1, 0.5, 1.0, 4.0])


@every_kind
@given(data=st.data())
@settings(max_examples=10)
def test_the_augmented_decoder_finds_the_maximum(kind: Kind, data: Any) -> None:
    """The scores have many ties."""
    problem = kind.problem
    size = problem.dimension
    scores = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
    y = data.draw(st.sampled_from(range(len(kind.answers))).map(kind.answers.__getitem__))
    found = problem.augmented_decode(scores, y)
    best = max(augmented_score(problem, prediction, scores, y) for prediction in kind.predictions)
    assert augmented_score(problem, found, scores, y) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6, 7])
def test_merging_finds_the_best_ranking(m: int) -> None:
    rng = np.random.default_rng(m)
    problem = LabelRanking("-i^1.1", dimension=m)
    f, _ = problem.places(m)
    every = np.array(orders(m))
    for _ in range(20):
        scores = rng.choice([rng.normal(size=m), rng.integers(-2, 3, m).astype(float)])
        relevant = np.flatnonzero(rng.random(m) < 0.5).astype(np.int32)
        discount = np.sort(rng.random(m))[::-1].copy()
        order = core.merge_ranking(scores, relevant, f, discount)
        assert sorted(order) == list(range(m))
        is_relevant = np.isin(np.arange(m), relevant)
        values = (scores[every] * f - is_relevant[every] * discount).sum(axis=1)
        ours = float((scores[order] * f - is_relevant[order] * discount).sum())
        assert ours == pytest.approx(values.max(), abs=1e-12)


@pytest.mark.parametrize("m, relevant", [(40, 4), (40, 20), (60, 59), (400, 4)])
def test_merging_is_as_good_as_linear_assignment(m: int, relevant: int) -> None:
    rng = np.random.default_rng(0)
    problem = LabelRanking(dimension=m)
    y = np.zeros(m)
    y[rng.choice(m, relevant, replace=False)] = 1
    f, discounts = problem.places(m)
    for scale in (1e-3, 1.0, 30.0):
        scores = scale * rng.normal(size=m)
        order = problem.augmented_decode(scores, y)
        table = np.outer(scores, f) - np.outer(y, discounts / discounts[:relevant].sum())
        items, positions = linear_sum_assignment(table, maximize=True)
        ours = table[order, np.arange(m)].sum()
        assert ours == pytest.approx(table[items, positions].sum(), rel=1e-12)


def test_losses_equal_hand_computed_ones() -> None:
    assert Multilabel("hamming").loss([1, 1, 0, 0], [1, 0, 1, 0]) == 2
    assert Multilabel("subset").loss([1, 1, 0, 0], [1, 0, 1, 0]) == 1
    assert Multilabel("error_set").loss([1, 1, 0, 0], [0, 0, 1, 0]) == 2
    assert Ordinal(5).loss(4, 1) == 3
    assert Binary((3.0, 2.0)).loss(1, 0) == 3
    assert Binary((3.0, 2.0), (0.5, 0.25)).loss(REJECT, 1) == 0.25
    # The grades in ranked order are 0, 2, 1; the ideal order is 2, 1, 0.
    dcg, ideal = 3 / np.log2(3) + 1 / 2, 3 + 1 / np.log2(3)
    assert SubsetRanking().loss([0, 1, 2], [0, 2, 1]) == pytest.approx(1 - dcg / ideal)
    assert SubsetRanking(k=1).loss([0, 1, 2], [0, 2, 1]) == 1
    assert LabelRanking(loss="precision", k=2).loss([0, 1, 2], [0, 1, 0]) == 0
    assert LabelRanking(loss="precision", k=2).loss([0, 1, 2], [0, 1, 1]) == 0.5
    assert LabelRanking().loss([1, 0], [0, 0]) == 0


def test_a_correct_ranking_has_a_loss_of_exactly_zero() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        y = rng.integers(0, 5, 30)
        problem = SubsetRanking(dimension=30)
        assert problem.loss(problem.correct(y, rng.normal(size=30)), y) == 0.0


def test_ties_between_correct_rankings() -> None:
    scores = np.array([0.1, 3.0, 2.0, 0.5])
    assert LabelRanking().correct([1, 0, 1, 0], scores).tolist() == [2, 0, 1, 3]
    assert LabelRanking(ties="index").correct([1, 0, 1, 0], scores).tolist() == [0, 2, 1, 3]


def test_ties_are_decoded_to_the_lowest_index() -> None:
    assert Binary().decode(np.zeros(1)) == 0
    assert Multiclass(0.2, 3).decode(np.zeros(3)) == 0
    assert Multiclass(0.2, 3).decode(np.ones(3)) is REJECT
    assert Multilabel(dimension=2).decode(np.zeros(2)).tolist() == [0, 0]
    assert LabelRanking().decode(np.array([1.0, 2.0, 1.0, 2.0])).tolist() == [1, 3, 0, 2]


@every_kind
def test_worst_decode_has_the_largest_loss_among_ties(kind: Kind) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        scores = rng.integers(-1, 2, kind.problem.dimension).astype(float)
        y = kind.answers[int(rng.integers(len(kind.answers)))]
        similarities = [float(kind.problem.represent(p) @ scores) for p in kind.predictions]
        losses = [
            kind.problem.loss(prediction, y)
            for prediction, similarity in zip(kind.predictions, similarities, strict=True)
            if similarity >= max(similarities) - 1e-12
        ]
        found = kind.problem.worst_decode(scores, y)
        assert float(kind.problem.represent(found) @ scores) == pytest.approx(max(similarities))
        assert kind.problem.loss(found, y) == pytest.approx(max(losses))


def test_copies_of_reject_are_reject() -> None:
    assert repr(REJECT) == "REJECT"
    for again in (copy.copy(REJECT), copy.deepcopy(REJECT), pickle.loads(pickle.dumps(REJECT))):
        assert again is REJECT


@every_kind
def test_problems_compare_and_hash_by_value(kind: Kind) -> None:
    problem = kind.problem
    assert problem == copy.deepcopy(problem)
    assert problem != Binary((7.0, 7.0))
    assert hash(problem) == hash(copy.deepcopy(problem))
    assert type(problem).__name__ in repr(problem)
    cloned = clone(Predtron(problem))
    assert cloned.problem == problem


THREE: Any = (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Binary((1, 0)), "costs must be positive, got 0"),
        (lambda: Binary(THREE), "costs must be two numbers"),
        (lambda: Binary(reject=1.5), "reject must be at most 1, got 1.5"),
        (lambda: Binary(reject=THREE), "reject must be one cost, or one cost per class"),
        (lambda: Multiclass(reject=-1), "reject must be positive, got -1"),
        (lambda: Ordinal(0), "levels must be at least 1, got 0"),
        (lambda: Ordinal(["a", "b", "a"]), "levels must be distinct"),
        (lambda: Multilabel("f1"), "loss must be one of 'hamming', 'subset', 'error_set'"),
        (lambda: LabelRanking("i"), "position must be one of '-i', '-i\\^1.1'"),
        (lambda: LabelRanking(ties="random"), "ties must be one of 'score', 'index'"),
        (lambda: LabelRanking(loss="precision"), "k must be given for loss='precision'"),
        (lambda: LabelRanking(k=0), "k must be at least 1, got 0"),
        (
            lambda: LabelRanking(lambda i: i).places(3),
            r"position must be decreasing, but position\(1\) is 1 and position\(2\) is 2",
        ),
        (lambda: Multiclass().represent(1), "number of classes is not known yet"),
    ],
)
def test_invalid_arguments_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
