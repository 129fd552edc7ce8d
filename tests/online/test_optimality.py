"""Steps are what their problems ask for: by optimality conditions, by solvers, at the kinks."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.optimize import minimize_scalar

from tagalong import LabelRanker
from tests.online.steps import (
    Situation,
    entropic_situations,
    quadratic,
    quadratic_situations,
    ranker_at,
    situations,
    step_of,
)
from tests.online.streams import GEOMETRIES, MARGINS, UPDATES, Kind, feed, random_stream
from tests.reference.convex import round_optimum
from tests.reference.geometries import FloatArray, Geometry
from tests.reference.naive import RULES, Update

KINDS: tuple[Kind, ...] = get_args(Kind)

properties = settings(deadline=None, derandomize=True, max_examples=150)
slow_properties = settings(properties, max_examples=40)


def random_situation(seed: int, geometry: Geometry, kind: Kind = "real") -> Situation:
    """A state, a row and labels drawn at random; C over a wide range."""
    rng = np.random.default_rng(seed)
    n_labels, n = 6, 5
    x = rng.normal(size=n)
    if kind == "binary":
        x = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    order = rng.permutation(n_labels).tolist()
    cut = int(rng.integers(1, n_labels))
    C = 10 ** rng.uniform(-2, 1)
    theta = rng.normal(size=(n_labels, n))
    relevant, irrelevant = tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))
    return Situation(geometry, theta, x, relevant, irrelevant, C, MARGINS[geometry])


def assert_stationary(situation: Situation, alpha: FloatArray, tolerance: float = 1e-9) -> None:
    """Karush-Kuhn-Tucker: one level per side, the margin apart unless the budget is spent."""
    after = situation.scores_after(alpha)
    above, below = list(situation.relevant), list(situation.irrelevant)
    u, v = after[above].min(), after[below].max()
    moved = np.abs(alpha) > tolerance
    np.testing.assert_allclose(after[above][moved[above]], u, rtol=0, atol=tolerance)
    np.testing.assert_allclose(after[below][moved[below]], v, rtol=0, atol=tolerance)
    mass = alpha[above].sum()
    if mass < situation.C * (1 - tolerance):
        assert u - v >= situation.margin - tolerance
    if mass > tolerance:
        assert u - v <= situation.margin + tolerance


class TestOptimal:
    """Update III."""

    @pytest.mark.parametrize("solver", ["exact", "interior-point"])
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("seed", range(10))
    def test_is_stationary(self, seed: int, geometry: Geometry, kind: Kind, solver: str) -> None:
        situation = random_situation(seed, geometry, kind)
        assert_stationary(situation, situation.step("optimal", solver=solver), 1e-8)

    @pytest.mark.parametrize("seed", range(20))
    def test_equals_the_conic_solver(self, seed: int) -> None:
        pytest.importorskip("clarabel")
        situation = random_situation(seed, "euclidean")
        x, C = situation.x, situation.C
        expected = round_optimum(
            situation.theta @ x, situation.relevant, x @ x, C, situation.margin
        )
        np.testing.assert_allclose(
            situation.step("optimal"), expected, rtol=0, atol=1e-5 * max(1.0, C)
        )

    @pytest.mark.parametrize("seed", range(10))
    def test_shows_in_the_weights(self, seed: int) -> None:
        """In the Euclidean geometry coef_ itself moves by alpha ⊗ x."""
        situation = random_situation(seed, "euclidean")
        ranker = situation.ranker("optimal")
        before = ranker.coef_
        alpha = step_of(ranker, situation.x, situation.relevant)
        assert alpha.any()
        np.testing.assert_allclose(ranker.coef_ - before, np.outer(alpha, situation.x), atol=1e-14)

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("C", [0.1, 5.0])
    def test_interior_point_equals_the_exact_solver(
        self, geometry: Geometry, kind: Kind, C: float
    ) -> None:
        """To 1e-8, over a stream."""
        items = random_stream(5, 200, 12, 8, kind, weights=(0.5, 1.0, 2.0))
        params = {"geometry": geometry, "C": C, "margin": MARGINS[geometry], "dtype": "float64"}
        exact, interior = (
            LabelRanker("optimal", average=False, solver=solver, **params)
            for solver in ("exact", "interior-point")
        )
        np.testing.assert_allclose(feed(interior, items, 8), feed(exact, items, 8), atol=1e-8)
        most, mean = interior.certificate_.solver_iterations
        assert 0 < mean <= most <= 30
        assert exact.certificate_.solver_iterations == (0, 0.0)
        assert interior.certificate_.dual == pytest.approx(exact.certificate_.dual, rel=1e-8)

    @properties
    @given(situations)
    def test_is_stationary_anywhere(self, situation: Situation) -> None:
        assert_stationary(situation, situation.step("optimal"), 1e-7)

    @slow_properties
    @given(situations)
    def test_interior_point_anywhere(self, situation: Situation) -> None:
        exact = situation.step("optimal")
        interior = situation.step("optimal", solver="interior-point")
        best = situation.gain(exact)
        assert situation.gain(interior) == pytest.approx(best, rel=1e-8, abs=1e-10)


class TestSingle:
    """Update II."""

    @pytest.mark.parametrize("seed", range(20))
    @pytest.mark.parametrize("kind", KINDS)
    def test_entropic_maximises_the_dual(self, seed: int, kind: Kind) -> None:
        """The closed form (binary rows) and the root (real rows), against plain maximisation."""
        situation = random_situation(seed, "entropic", kind)
        alpha = situation.step("single")
        r, s = situation.round.worst_pair

        def loss(tau: float) -> float:
            trial = np.zeros(len(alpha))
            trial[r], trial[s] = tau, -tau
            return -situation.gain(trial)

        found = minimize_scalar(
            loss, bounds=(0, situation.C), method="bounded", options={"xatol": 1e-10}
        )
        others = np.delete(alpha, [r, s])
        assert not others.any()
        assert alpha[r] == -alpha[s]
        assert -loss(alpha[r]) >= -found.fun - 1e-14
        assert alpha[r] == pytest.approx(found.x, abs=1e-6)

    def test_margin_beyond_reach_takes_the_whole_budget(self) -> None:
        """Weights on a simplex cannot put scores of a binary row further apart than 1."""
        theta = np.random.default_rng(0).normal(size=(2, 4))
        x = np.array([1.0, 0.0, 1.0, 0.0])
        for margin in (1.0, 1.5):
            situation = Situation("entropic", theta, x, (1,), (0,), 3.0, margin)
            np.testing.assert_allclose(situation.step("single"), [-3.0, 3.0])


class TestSmooth:
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("seed", range(10))
    def test_tends_to_optimal(self, seed: int, geometry: Geometry) -> None:
        """The smooth gain exceeds the other by at most the entropy, C T log(pairs + 1)."""
        situation = random_situation(seed, geometry)
        alpha, best = situation.step("smooth", temperature=1e-7), situation.step("optimal")
        slack = situation.C * 1e-7 * np.log(len(situation.round.pairs) + 1)
        difference = situation.gain(best) - situation.gain(alpha)
        assert -1e-12 <= difference <= slack + 1e-12
        if geometry != "entropic":
            # The gain falls by at least q |difference|² / 2 away from the best step.
            q = situation.x @ situation.x
            assert 0.5 * q * np.sum((alpha - best) ** 2) <= slack + 1e-12

    @properties
    @given(situations)
    def test_is_stationary(self, situation: Situation) -> None:
        """Each pair has the share of the budget that the scores after the step give it."""
        alpha = situation.step("smooth")
        after, T = situation.scores_after(alpha), situation.temperature
        pairs = situation.round.pairs
        exponents = [(situation.margin - after[r] + after[s]) / T for r, s in pairs]
        shares = np.exp(exponents - np.logaddexp.reduce([*exponents, 0.0]))
        expected = np.zeros(len(alpha))
        for (r, s), share in zip(pairs, shares, strict=True):
            expected[r] += situation.C * share
            expected[s] -= situation.C * share
        # Rounding of the scores is magnified by C / T.
        atol = 1e-13 * situation.C**2 * (situation.x @ situation.x) / T
        np.testing.assert_allclose(alpha, expected, rtol=1e-6, atol=atol + 1e-10)


class TestEveryRule:
    @pytest.mark.parametrize("update", UPDATES)
    @properties
    @given(situations)
    def test_step_is_feasible(self, update: Update, situation: Situation) -> None:
        assume((situation.geometry, update) != ("entropic", "simopt"))
        alpha = situation.step(update)
        above, below = list(situation.relevant), list(situation.irrelevant)
        precision = 1e-12 * (situation.C + 1.0)
        assert abs(alpha.sum()) <= precision
        assert (alpha[above] >= -precision).all()
        assert (alpha[below] <= precision).all()
        assert not alpha[situation.unknown].any()
        assert alpha[above].sum() <= situation.C + precision

    @pytest.mark.parametrize("update", UPDATES)
    @properties
    @given(quadratic_situations())
    def test_step_equals_pair_enumeration(self, update: Update, situation: Situation) -> None:
        """Sorting and prefix sums against all pairs, ties and kinks included."""
        expected = RULES[update](situation.round)
        np.testing.assert_allclose(
            situation.step(update), expected.alpha, rtol=1e-7, atol=1e-8 * (1.0 + situation.C)
        )

    @pytest.mark.parametrize("update", ["fixed", "single", "simperc", "conproj", "simproj"])
    @properties
    @given(entropic_situations())
    def test_entropic_step_equals_pair_enumeration(
        self, update: Update, situation: Situation
    ) -> None:
        round_ = situation.round
        # What is tied but for rounding may be broken either way.
        assume(all(abs(round_.scores[r] - round_.scores[s]) > 1e-9 for r, s in round_.pairs))
        assume(len({*np.round(round_.scores, 9)}) == len(round_.scores))
        expected = RULES[update](round_)
        np.testing.assert_allclose(situation.step(update), expected.alpha, rtol=1e-6, atol=1e-7)

    @pytest.mark.parametrize("update", ["single", "optimal"])
    @properties
    @given(situations)
    def test_satisfied_margin_means_no_update(self, update: Update, situation: Situation) -> None:
        scores, alpha = situation.round.scores, situation.step(update)
        gap = scores[list(situation.relevant)].min() - scores[list(situation.irrelevant)].max()
        assume(abs(gap - situation.margin) > 1e-12)
        assert alpha.any() == (gap < situation.margin)

    @properties
    @given(situations)
    def test_optimal_gains_most(self, situation: Situation) -> None:
        optimal = situation.gain(situation.step("optimal"))
        single = situation.gain(situation.step("single"))
        precision = 1e-10 * (1.0 + abs(optimal))
        assert optimal >= single - precision
        assert single >= -precision

    @pytest.mark.parametrize("update", ["single", "optimal", "smooth"])
    @properties
    @given(situations)
    def test_the_certificate_counts_the_gain(self, update: Update, situation: Situation) -> None:
        ranker = situation.ranker(update)
        before = ranker.certificate_.dual
        alpha = step_of(ranker, situation.x, situation.relevant, situation.unknown)
        counted, gain = ranker.certificate_.dual - before, situation.gain(alpha)
        precision = 1e-10 * (1.0 + abs(before) + situation.C)
        assert counted >= -precision
        if update == "smooth":
            most = situation.C * situation.temperature * np.log(len(situation.round.pairs) + 1)
            assert gain - precision <= counted <= gain + most + precision
        else:
            assert counted == pytest.approx(gain, abs=precision)


class TestTiesAndKinks:
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
    def test_all_scores_equal(self, update: Update, expected: list[float]) -> None:
        """The lowest index is the worst of equals; rules over all pairs treat them alike."""
        for level in (0.0, 0.75):
            situation = quadratic([level] * 4, [1, 3], C=10.0)
            np.testing.assert_array_equal(situation.step(update), expected)

    @pytest.mark.parametrize("update", ["fixed", "single"])
    def test_lowest_index_is_the_worst_of_equals(self, update: Update) -> None:
        scores = [3.0, 2.0, -1.0, 3.0, -1.0, 2.0]
        alpha = quadratic(scores, [2, 4, 5], C=0.5).step(update)
        np.testing.assert_array_equal(alpha, [-0.5, 0.0, 0.5, 0.0, 0.0, 0.0])

    def test_ranking_breaks_ties_by_index(self) -> None:
        ranker = ranker_at(np.array([[1.0], [2.0], [1.0], [2.0], [0.0]]), "euclidean")
        assert ranker.rank_one(([0], [1.0])) == [1, 3, 0, 2, 4]
        assert ranker.rank_one(([0], [1.0]), 3) == [1, 3, 0]
        assert ranker.rank_one(([0], [0.0])) == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize("update", ["fixed", "simperc", "conproj"])
    def test_equal_scores_are_a_mistake(self, update: Update) -> None:
        tied, right = (
            quadratic([0.5, other], [0], C=0.25).ranker(update) for other in (0.5, 0.5 - 1e-9)
        )
        assert step_of(tied, np.ones(1), [0]).any()
        assert not step_of(right, np.ones(1), [0]).any()
        assert (tied.certificate_.mistakes, right.certificate_.mistakes) == (1, 0)

    @pytest.mark.parametrize("update", ["simperc", "conproj"])
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("seed", range(20))
    def test_pairs_tied_behind_the_worst_are_mistaken_too(
        self, seed: int, geometry: Geometry, update: Update
    ) -> None:
        """Labels 0 and 2 are equal, label 1 is above both; 0 is relevant."""
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.5, 1.0, size=4)
        theta = rng.normal(size=(3, 4))
        theta[2] = theta[0]
        theta[1] = theta[0] + 0.5 * x
        alpha = Situation(geometry, theta, x, (0,), (1, 2), 0.25, 0.9).step(update)
        assert alpha[1] < 0.0
        assert alpha[2] < 0.0

    @pytest.mark.parametrize("update", UPDATES)
    @pytest.mark.parametrize("length", [0.5, 1.0, 2.0])
    def test_margin_exactly_met(self, update: Update, length: float) -> None:
        """No loss and, but for the smooth loss, no step."""
        ranker = quadratic([1.25, 0.25, -2.0], [0], C=1.0, length=length).ranker(update)
        alpha = step_of(ranker, np.array([length]), [0])
        assert alpha.any() == (update == "smooth")
        assert (ranker.certificate_.mistakes, ranker.certificate_.loss) == (0, 0.0)

    @pytest.mark.parametrize("factor", [1 - 2**-20, 1.0, 1 + 2**-20])
    def test_budget_at_the_kink(self, factor: float) -> None:
        """The step that the margin asks for is just the budget."""
        spent = min(1.0, factor)
        alpha = quadratic([0.0, 0.0], [0], C=0.5 * factor).step("single")
        np.testing.assert_allclose(alpha, [0.5 * spent, -0.5 * spent], rtol=1e-15)
        alpha = quadratic([0.0] * 4, [0, 1], C=factor).step("optimal")
        np.testing.assert_allclose(alpha, 0.5 * spent * np.array([1, 1, -1, -1]), rtol=1e-15)
        alpha = quadratic([0.0] * 4, [0, 1], C=2 * factor).step("simopt")
        np.testing.assert_allclose(alpha, spent * np.array([1, 1, -1, -1]), rtol=1e-15)
        alpha = quadratic([0.0] * 4, [0, 1], C=0.5 * factor).step("simproj")
        np.testing.assert_allclose(alpha, 0.25 * spent * np.array([1, 1, -1, -1]), rtol=1e-15)

    def test_budget_at_which_another_label_joins(self) -> None:
        """Label 1 starts to move once label 0 has come up to it, at a mass of 0.5."""
        scores = [0.0, 0.5, 0.0]
        np.testing.assert_array_equal(
            quadratic(scores, [0, 1], C=0.5).step("optimal"), [0.5, 0.0, -0.5]
        )
        np.testing.assert_allclose(
            quadratic(scores, [0, 1], C=0.625, margin=9.0).step("optimal"), [0.5625, 0.0625, -0.625]
        )

    def test_pair_at_the_budget(self) -> None:
        """Of two pairs one asks for exactly C, the other for less."""
        alpha = quadratic([0.0, 0.0, -0.5], [0], C=0.5).step("simproj")
        np.testing.assert_array_equal(alpha, [0.375, -0.25, -0.125])

    @pytest.mark.parametrize("update", UPDATES)
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize(
        ("relevant", "unknown"), [([], []), ([0, 1, 2], []), ([0], [1, 2]), ([], [0, 1])]
    )
    def test_rounds_without_a_pair(
        self, geometry: Geometry, update: Update, relevant: list[int], unknown: list[int]
    ) -> None:
        if (geometry, update) == ("entropic", "simopt"):
            pytest.skip("simopt does not exist in the entropic geometry")
        theta = np.random.default_rng(0).normal(size=(3, 4))
        ranker = ranker_at(theta, geometry, update=update)
        before = ranker.certificate_
        assert not step_of(ranker, np.array([1.0, 2.0, 0.0, 0.5]), relevant, unknown).any()
        after = ranker.certificate_
        assert (after.rounds, after.mistakes, after.loss) == (1, 0, 0.0)
        assert after.dual == before.dual

    @pytest.mark.parametrize("update", UPDATES)
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_empty_row(self, geometry: Geometry, update: Update) -> None:
        """All scores are 0, which is a mistake, but there is nothing to move."""
        if (geometry, update) == ("entropic", "simopt"):
            pytest.skip("simopt does not exist in the entropic geometry")
        theta = np.random.default_rng(0).normal(size=(3, 4))
        ranker = ranker_at(theta, geometry, update=update, margin=0.5)
        before = ranker.certificate_.dual
        assert not step_of(ranker, np.zeros(4), [1]).any()
        after = ranker.certificate_
        assert (after.rounds, after.mistakes, after.loss) == (1, 1, 0.5)
        assert after.dual == before
        assert np.isfinite(ranker.coef_).all()

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_empty_row_with_a_constant(self, geometry: Geometry) -> None:
        """The constant feature alone can learn which label is common."""
        ranker = LabelRanker("single", geometry, constant=0.5, n_features=3, margin=0.2)
        ranker.add_labels("abc").learn_one(([], []), "c")
        assert ranker.rank_one(([], [])) == ["c", "b", "a"]

    @pytest.mark.parametrize("update", UPDATES)
    def test_labels_named_twice(self, update: Update) -> None:
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
        np.testing.assert_array_equal(batch.coef_, once_more.coef_)
        assert batch.certificate_ == once_more.certificate_
