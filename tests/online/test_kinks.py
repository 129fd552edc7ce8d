"""Ties and kinks of the update rules, and rounds without an update."""

import numpy as np
import pytest

from tagalong import LabelRanker
from tests.online.steps import Situation, quadratic, ranker_at, step_of
from tests.online.streams import GEOMETRIES, UPDATES, combinations
from tests.reference.geometries import Geometry
from tests.reference.naive import Update
from tests.weights import dense_coef


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("fixed", [-10.0, 10.0, 0.0, 0.0]),
        ("single", [-0.5, 0.5, 0.0, 0.0]),
        ("optimal", [-0.5, 0.5, -0.5, 0.5]),
        ("simperc", [-5.0, 5.0, -5.0, 5.0]),
        ("conproj", [-0.25, 0.25, -0.25, 0.25]),
        ("simproj", [-0.25, 0.25, -0.25, 0.25]),
        ("simopt", [-1.0, 1.0, -1.0, 1.0]),
    ],
)
def test_all_scores_equal(update: Update, expected: list[float]) -> None:
    """Of equal scores, the lowest index is the worst; rules over all pairs treat them equally."""
    for level in (0.0, 0.75):
        situation = quadratic([level] * 4, [1, 3], C=10.0)
        np.testing.assert_array_equal(situation.step(update), expected)


@pytest.mark.parametrize("update", ["fixed", "single"])
def test_lowest_index_is_the_worst_of_equal_scores(update: Update) -> None:
    scores = [3.0, 2.0, -1.0, 3.0, -1.0, 2.0]
    alpha = quadratic(scores, [2, 4, 5], C=0.5).step(update)
    np.testing.assert_array_equal(alpha, [-0.5, 0.0, 0.5, 0.0, 0.0, 0.0])


def test_ranking_breaks_ties_by_index() -> None:
    ranker = ranker_at(np.array([[1.0], [2.0], [1.0], [2.0], [0.0]]), "euclidean")
    assert ranker.rank_one(([0], [1.0])) == [1, 3, 0, 2, 4]
    assert ranker.rank_one(([0], [1.0]), 3) == [1, 3, 0]
    assert ranker.rank_one(([0], [0.0])) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("update", ["fixed", "simperc", "conproj"])
def test_equal_scores_are_a_mistake(update: Update) -> None:
    tied, right = (
        quadratic([0.5, other], [0], C=0.25).ranker(update) for other in (0.5, 0.5 - 1e-9)
    )
    assert step_of(tied, np.ones(1), [0]).any()
    assert not step_of(right, np.ones(1), [0]).any()
    assert (tied.certificate_.mistakes, right.certificate_.mistakes) == (1, 0)


@pytest.mark.parametrize("update", ["simperc", "conproj"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("seed", range(20))
def test_tied_pairs_besides_the_worst_count_as_mistakes(
    seed: int, geometry: Geometry, update: Update
) -> None:
    """Labels 0 and 2 have equal scores, label 1 scores higher; label 0 is relevant."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=4)
    theta = rng.normal(size=(3, 4))
    theta[2] = theta[0]
    theta[1] = theta[0] + 3.0 * x
    alpha = Situation(geometry, theta, x, (0,), (1, 2), 0.25, 0.9).step(update)
    assert alpha[1] < 0.0
    assert alpha[2] < 0.0


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("length", [0.5, 1.0, 2.0])
def test_margin_exactly_met(update: Update, length: float) -> None:
    """No loss and, except for the smooth loss, no step."""
    ranker = quadratic([1.25, 0.25, -2.0], [0], C=1.0, length=length).ranker(update)
    alpha = step_of(ranker, np.array([length]), [0])
    assert alpha.any() == (update == "smooth")
    assert (ranker.certificate_.mistakes, ranker.certificate_.loss) == (0, 0.0)


@pytest.mark.parametrize("factor", [1 - 2**-20, 1.0, 1 + 2**-20])
def test_budget_at_the_kink(factor: float) -> None:
    """The step that reaches the margin equals the budget."""
    spent = min(1.0, factor)
    alpha = quadratic([0.0, 0.0], [0], C=0.5 * factor).step("single")
    np.testing.assert_allclose(alpha, [0.5 * spent, -0.5 * spent], rtol=1e-15)
    alpha = quadratic([0.0] * 4, [0, 1], C=factor).step("optimal")
    np.testing.assert_allclose(alpha, 0.5 * spent * np.array([1, 1, -1, -1]), rtol=1e-15)
    alpha = quadratic([0.0] * 4, [0, 1], C=2 * factor).step("simopt")
    np.testing.assert_allclose(alpha, spent * np.array([1, 1, -1, -1]), rtol=1e-15)
    alpha = quadratic([0.0] * 4, [0, 1], C=0.5 * factor).step("simproj")
    np.testing.assert_allclose(alpha, 0.25 * spent * np.array([1, 1, -1, -1]), rtol=1e-15)


def test_budget_at_which_another_label_joins() -> None:
    """Label 1 starts to move when label 0 reaches its score, at a mass of 0.5."""
    scores = [0.0, 0.5, 0.0]
    np.testing.assert_array_equal(
        quadratic(scores, [0, 1], C=0.5).step("optimal"), [0.5, 0.0, -0.5]
    )
    np.testing.assert_allclose(
        quadratic(scores, [0, 1], C=0.625, margin=9.0).step("optimal"), [0.5625, 0.0625, -0.625]
    )


def test_pair_at_the_budget() -> None:
    """One of two pairs needs exactly C, the other less."""
    alpha = quadratic([0.0, 0.0, -0.5], [0], C=0.5).step("simproj")
    np.testing.assert_array_equal(alpha, [0.375, -0.25, -0.125])


@pytest.mark.parametrize(
    ("update", "solver"),
    [
        ("single", "exact"),
        ("optimal", "exact"),
        ("optimal", "interior-point"),
        ("conproj", "exact"),
        ("simproj", "exact"),
    ],
)
@pytest.mark.parametrize("value", [1.0, -1.0, 0.5])
@pytest.mark.parametrize("seed", range(8))
def test_constant_row_of_the_simplex(seed: int, update: Update, solver: str, value: float) -> None:
    """No step changes a score, so using the whole budget costs nothing and gains the most."""
    theta = np.random.default_rng(seed).normal(size=(3, 4))
    situation = Situation("entropic", theta, np.full(4, value), (0,), (1, 2), 2.0, 0.3)
    alpha = situation.step(update, solver=solver)
    assert alpha[0] == pytest.approx(2.0)
    assert alpha[1:].sum() == pytest.approx(-2.0)


@pytest.mark.parametrize(("geometry", "update"), combinations(*UPDATES))
@pytest.mark.parametrize(
    ("relevant", "unknown"), [([], []), ([0, 1, 2], []), ([0], [1, 2]), ([], [0, 1])]
)
def test_rounds_without_a_pair(
    geometry: Geometry, update: Update, relevant: list[int], unknown: list[int]
) -> None:
    theta = np.random.default_rng(0).normal(size=(3, 4))
    ranker = ranker_at(theta, geometry, update=update)
    before = ranker.certificate_
    assert not step_of(ranker, np.array([1.0, 2.0, 0.0, 0.5]), relevant, unknown).any()
    after = ranker.certificate_
    assert (after.rounds, after.mistakes, after.loss) == (1, 0, 0.0)
    assert after.dual == before.dual


@pytest.mark.parametrize(("geometry", "update"), combinations(*UPDATES))
def test_empty_row(geometry: Geometry, update: Update) -> None:
    """All scores are 0, which is a mistake, but there are no weights to update."""
    theta = np.random.default_rng(0).normal(size=(3, 4))
    ranker = ranker_at(theta, geometry, update=update, margin=0.5)
    before = ranker.certificate_.dual
    assert not step_of(ranker, np.zeros(4), [1]).any()
    after = ranker.certificate_
    assert (after.rounds, after.mistakes, after.loss) == (1, 1, 0.5)
    assert after.dual == before
    assert np.isfinite(dense_coef(ranker)).all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_empty_row_with_a_constant(geometry: Geometry) -> None:
    """The constant feature alone learns the label frequencies."""
    ranker = LabelRanker("single", geometry, constant=0.5, n_features=3, margin=0.2)
    ranker.add_labels(list("abc")).learn_one(([], []), "c")
    assert ranker.rank_one(([], [])) == ["c", "b", "a"]


@pytest.mark.parametrize("update", UPDATES)
def test_duplicate_labels_of_an_example(update: Update) -> None:
    once, twice, batch = (
        quadratic([0.5, 0.0, 0.25, 0.0], [1, 3], C=2.0).ranker(update) for _ in range(3)
    )
    x = np.ones(1)
    alpha = step_of(once, x, [1, 3], [2])
    np.testing.assert_array_equal(step_of(twice, x, [3, 1, 3, 1], [2, 2]), alpha)
    assert twice.certificate_ == once.certificate_
    batch.partial_fit([[1.0], [1.0]], [[1, 1, 3], [0, 0]])
    once_more = quadratic([0.5, 0.0, 0.25, 0.0], [1, 3], C=2.0).ranker(update)
    once_more.partial_fit([[1.0], [1.0]], [[1, 3], [0]])
    np.testing.assert_array_equal(dense_coef(batch), dense_coef(once_more))
    assert batch.certificate_ == once_more.certificate_
