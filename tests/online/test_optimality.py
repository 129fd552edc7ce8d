"""Steps are optimal: checked by KKT conditions, by solvers, and by enumeration."""

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, note, settings
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from tagalong import LabelRanker
from tests.online.steps import (
    Situation,
    entropic_situations,
    quadratic,
    quadratic_situations,
    situations,
    step_of,
    theta_of,
)
from tests.online.streams import GEOMETRIES, MARGINS, UPDATES, Kind, feed, random_stream
from tests.reference.convex import round_optimum
from tests.reference.geometries import FloatArray, Geometry
from tests.reference.naive import RULES, Update
from tests.weights import dense_coef

KINDS: tuple[Kind, ...] = get_args(Kind)
ENUMERATED: tuple[Update, ...] = ("fixed", "single", "simperc", "conproj", "simproj")

properties = settings(derandomize=True, max_examples=80)
slow_properties = settings(properties, max_examples=40)


def random_situation(seed: int, geometry: Geometry, kind: Kind = "real") -> Situation:
    """A random state, row and labels, with scores close enough that many labels move."""
    rng = np.random.default_rng(seed)
    n_labels, n = 6, 5
    x = rng.normal(size=n)
    if kind == "binary":
        x = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    order = rng.permutation(n_labels).tolist()
    cut = int(rng.integers(1, n_labels))
    C = 10 ** rng.uniform(-1.5, 1)
    theta = rng.normal(size=(n_labels, n)) * (0.5 if geometry == "entropic" else 0.1)
    relevant, irrelevant = tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))
    return Situation(geometry, theta, x, relevant, irrelevant, C, MARGINS[geometry])


def assert_stationary(situation: Situation, alpha: FloatArray, tolerance: float = 1e-9) -> None:
    """Check the KKT conditions: one level per side, a margin apart unless the budget is used up."""
    after = situation.scores_after(alpha)
    above, below = list(situation.relevant), list(situation.irrelevant)
    u, v = after[above].min(), after[below].max()
    moved = np.abs(alpha) > tolerance
    np.testing.assert_allclose(after[above][moved[above]], u, rtol=0, atol=tolerance)
    np.testing.assert_allclose(after[below][moved[below]], v, rtol=0, atol=tolerance)
    mass = alpha[above].sum()
    assert alpha.sum() == pytest.approx(0.0, abs=tolerance)
    assert mass <= situation.C * (1 + tolerance)
    if mass < situation.C * (1 - tolerance):
        assert u - v >= situation.margin - tolerance
    if mass > tolerance:
        assert u - v <= situation.margin + tolerance


def assert_feasible(situation: Situation, update: Update) -> None:
    note(update)
    alpha = situation.step(update)
    above, below = list(situation.relevant), list(situation.irrelevant)
    precision = 1e-12 * (situation.C + 1.0)
    assert abs(alpha.sum()) <= precision
    assert (alpha[above] >= -precision).all()
    assert (alpha[below] <= precision).all()
    assert not alpha[situation.unknown].any()
    assert alpha[above].sum() <= situation.C + precision


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
            situation.theta @ x, situation.relevant, float(x @ x), C, situation.margin
        )
        np.testing.assert_allclose(
            situation.step("optimal"), expected, rtol=0, atol=1e-5 * max(1.0, C)
        )

    @pytest.mark.parametrize("seed", range(5))
    def test_moves_the_weights(self, seed: int) -> None:
        """In the Euclidean geometry coef_ itself moves by alpha ⊗ x."""
        situation = random_situation(seed, "euclidean")
        ranker = situation.ranker("optimal")
        before = dense_coef(ranker)
        alpha = step_of(ranker, situation.x, situation.relevant)
        assert alpha.any()
        np.testing.assert_allclose(
            dense_coef(ranker) - before, np.outer(alpha, situation.x), atol=1e-14
        )

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("C", [0.1, 5.0])
    def test_interior_point_equals_the_exact_solver(
        self, geometry: Geometry, kind: Kind, C: float
    ) -> None:
        """The steps agree to 1e-8 over a stream."""
        items = random_stream(5, 200, 12, 8, kind, weights=(0.5, 1.0, 2.0))
        params: dict[str, Any] = {
            "C": C,
            "margin": MARGINS[geometry],
            "average": False,
            "dtype": "float64",
        }
        exact, interior = (
            LabelRanker("optimal", geometry, solver=solver, **params)
            for solver in ("exact", "interior-point")
        )
        np.testing.assert_allclose(feed(interior, items, 8), feed(exact, items, 8), atol=1e-8)
        assert interior.certificate_.dual == pytest.approx(exact.certificate_.dual, rel=1e-8)
        assert exact.certificate_.solver_iterations == (0, 0.0)
        most, mean = interior.certificate_.solver_iterations
        assert 0 < mean < 25
        assert most < 100, "the solver ran into its limit"

    @properties
    @given(situations)
    def test_is_stationary_for_arbitrary_situations(self, situation: Situation) -> None:
        assert_stationary(situation, situation.step("optimal"), 1e-7)

    @slow_properties
    @given(situations)
    def test_interior_point_for_arbitrary_situations(self, situation: Situation) -> None:
        exact = situation.step("optimal")
        interior = situation.step("optimal", solver="interior-point")
        best = situation.gain(exact)
        assert situation.gain(interior) == pytest.approx(best, rel=1e-8, abs=1e-10)

    @properties
    @given(entropic_situations(40.0))
    def test_interior_point_is_feasible(self, situation: Situation) -> None:
        """Also for saturated scores."""
        alpha = situation.step("optimal", solver="interior-point")
        precision = 1e-8 * (1.0 + situation.C)
        assert abs(alpha.sum()) <= precision
        assert alpha[list(situation.relevant)].sum() <= situation.C + precision


class TestSingle:
    """Update II."""

    @pytest.mark.parametrize("seed", range(20))
    @pytest.mark.parametrize("kind", KINDS)
    def test_entropic_maximises_the_dual(self, seed: int, kind: Kind) -> None:
        """The closed form (binary rows) and the root (real rows) agree with direct maximisation."""
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
        assert alpha[r] == pytest.approx(-alpha[s], rel=1e-12)
        assert -loss(alpha[r]) >= -found.fun - 1e-14
        assert alpha[r] == pytest.approx(found.x, abs=1e-6)

    def test_an_unreachable_margin_uses_the_whole_budget(self) -> None:
        """On a simplex, the scores of a binary row differ by at most 1."""
        theta = np.random.default_rng(0).normal(size=(2, 4))
        x = np.array([1.0, 0.0, 1.0, 0.0])
        for margin in (1.0, 1.5):
            situation = Situation("entropic", theta, x, (1,), (0,), 3.0, margin)
            np.testing.assert_allclose(situation.step("single"), [-3.0, 3.0])


class TestSmooth:
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("seed", range(10))
    def test_converges_to_optimal(self, seed: int, geometry: Geometry) -> None:
        """The smooth gain exceeds the hinge gain by at most the entropy, C T log(pairs + 1)."""
        situation = random_situation(seed, geometry)
        alpha, best = situation.step("smooth", temperature=1e-7), situation.step("optimal")
        slack = situation.C * 1e-7 * np.log(len(situation.round.pairs) + 1)
        difference = situation.gain(best) - situation.gain(alpha)
        assert -1e-12 <= difference <= slack + 1e-12
        if geometry != "entropic":
            # The gain decreases by at least q |difference|² / 2 away from the optimal step.
            q = situation.x @ situation.x
            assert 0.5 * q * np.sum((alpha - best) ** 2) <= slack + 1e-12

    @properties
    @given(situations)
    def test_is_stationary(self, situation: Situation) -> None:
        """Each pair's share of the budget is the softmax of the losses after the step."""
        alpha = situation.step("smooth")
        after, T = situation.scores_after(alpha), situation.temperature
        pairs = situation.round.pairs
        exponents = [(situation.margin - after[r] + after[s]) / T for r, s in pairs]
        shares = np.exp(exponents - np.logaddexp.reduce([*exponents, 0.0]))
        expected = np.zeros(len(alpha))
        for (r, s), share in zip(pairs, shares, strict=True):
            expected[r] += situation.C * share
            expected[s] -= situation.C * share
        # Rounding errors of the scores are multiplied by C / T.
        atol = 1e-13 * situation.C**2 * float(situation.x @ situation.x) / T
        np.testing.assert_allclose(alpha, expected, rtol=1e-7, atol=atol + 1e-10)

    @pytest.mark.parametrize("temperature", [0.1, 1e-3, 1e-6])
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_margin_far_exceeded(self, geometry: Geometry, temperature: float) -> None:
        """A loss that underflows leads to a negligible step."""
        ranker = LabelRanker(
            "smooth",
            geometry,
            temperature=temperature,
            normalize=False,
            average=False,
            n_features=2,
            margin=MARGINS[geometry],
            dtype="float64",
        )
        ranker.add_labels(range(3)).learn_one(([0], [1.0]), [0])
        before = theta_of(ranker)
        for value in (10.0, 100.0, 1000.0, 1e5):
            ranker.learn_one(([0], [value]), [0])
        np.testing.assert_allclose(theta_of(ranker), before, atol=1e-6)
        assert np.isfinite(ranker.certificate_.dual)

    @pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
    @pytest.mark.parametrize("temperature", [0.02, 0.1, 1.0])
    def test_one_pair(self, C: float, temperature: float) -> None:
        """Two labels: the logit z of the share p of the budget is (margin - 2 q C p) / T."""
        situation = quadratic([0.0, 0.0], [0], C, temperature=temperature)
        z = brentq(lambda z: z - (1 - 2 * C * expit(z)) / temperature, -100, 100, xtol=1e-14)
        step = C * expit(z)
        np.testing.assert_allclose(situation.step("smooth"), [step, -step], rtol=1e-8)


class TestEveryRule:
    # Each situation tests every rule, because drawing it takes longer than the steps.

    @properties
    @given(situations | entropic_situations(40.0))
    def test_step_is_feasible(self, situation: Situation) -> None:
        for update in UPDATES:
            if (situation.geometry, update) != ("entropic", "simopt"):
                assert_feasible(situation, update)

    @properties
    @given(quadratic_situations())
    def test_step_equals_pair_enumeration(self, situation: Situation) -> None:
        """Sorting and prefix sums agree with all pairs, including ties and kinks."""
        for update in UPDATES:
            note(update)
            step, expected = situation.step(update), RULES[update](situation.round)
            np.testing.assert_allclose(
                step, expected.alpha, rtol=1e-7, atol=1e-8 * (1.0 + situation.C)
            )
            assert_feasible(situation, update)

    @properties
    @given(entropic_situations())
    def test_entropic_step_equals_pair_enumeration(self, situation: Situation) -> None:
        round_ = situation.round
        # Scores that are tied up to rounding may be ordered either way.
        assume(all(abs(round_.scores[r] - round_.scores[s]) > 1e-9 for r, s in round_.pairs))
        assume(len({*np.round(round_.scores, 9)}) == len(round_.scores))
        for update in ENUMERATED:
            note(update)
            expected = RULES[update](round_)
            np.testing.assert_allclose(situation.step(update), expected.alpha, rtol=1e-6, atol=1e-7)

    @pytest.mark.parametrize("update", ["single", "optimal"])
    @properties
    @given(situations)
    def test_a_satisfied_margin_means_no_update(self, update: Update, situation: Situation) -> None:
        scores, alpha = situation.round.scores, situation.step(update)
        gap = scores[list(situation.relevant)].min() - scores[list(situation.irrelevant)].max()
        assume(abs(gap - situation.margin) > 1e-12)
        assert alpha.any() == (gap < situation.margin)

    @properties
    @given(situations | entropic_situations(40.0))
    def test_optimal_gains_at_least_as_much_as_every_rule(self, situation: Situation) -> None:
        optimal = situation.gain(situation.step("optimal"))
        single = situation.gain(situation.step("single"))
        precision = 1e-10 * (1.0 + abs(optimal))
        assert optimal >= single - precision
        assert single >= -precision

    @pytest.mark.parametrize("update", ["single", "optimal", "smooth"])
    @properties
    @given(situations)
    def test_the_certificate_sums_the_gains(self, update: Update, situation: Situation) -> None:
        ranker = situation.ranker(update)
        before = ranker.certificate_.dual
        alpha = step_of(ranker, situation.x, situation.relevant, situation.unknown)
        counted, gain = ranker.certificate_.dual - before, situation.gain(alpha)
        precision = 1e-10 * (1.0 + abs(before) + situation.C)
        assert counted >= -precision
        if update == "smooth":
            entropy = situation.C * situation.temperature * np.log(len(situation.round.pairs) + 1)
            most = np.inf if situation.geometry == "adaptive" else gain + entropy
            assert gain - precision <= counted <= most + precision
        elif situation.geometry == "adaptive":
            # The current S makes the complexity of theta smaller.
            assert counted >= gain - precision
        else:
            assert counted == pytest.approx(gain, abs=precision)
