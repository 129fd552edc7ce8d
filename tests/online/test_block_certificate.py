"""The certificate of `BlockProjection`: dual values are lower bounds, and mistakes are bounded."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from tagalong.learning.certificates.mistake_bound import Certificate, NoBoundWarning
from tests.online.block_streams import (
    MARGINS,
    PAIRS,
    Block,
    complexity,
    learner,
    objective,
    random_stream,
    total_loss,
)
from tests.reference.blocks import BlockGeometry, Scheme, rows_of_sets, stream_optimum
from tests.reference.geometries import FloatArray

GEOMETRIES: tuple[BlockGeometry, ...] = ("euclidean", "entropic")
# C is small enough for SimPerc, whose step is C itself.
ASCENDING: tuple[Scheme, ...] = ("simperc", "conproj", "simproj", "max", "optimal")
BOUNDED: tuple[Scheme, ...] = ("simperc", "conproj", "max", "optimal")
SMALL: dict[BlockGeometry, float] = {"euclidean": 0.04, "entropic": 0.02}


def learnt(
    geometry: BlockGeometry,
    scheme: Scheme,
    C: float,
    stream: list[Block],
    margin: float | None = None,
) -> Certificate:
    ours = learner(geometry, scheme, C, margin)
    for block in stream:
        ours.learn_block(block.X, block.y, block.groups, block.weights)
    return ours.certificate_


def best_fixed(geometry: BlockGeometry, stream: list[Block], C: float) -> tuple[FloatArray, float]:
    trials = [(block.signed, rows_of_sets(len(block.y), block.groups), block.v) for block in stream]
    n = stream[0].X.shape[1]
    return stream_optimum(geometry, n, trials, MARGINS[geometry], C)


class TestDual:
    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    @pytest.mark.parametrize("C", [0.05, 2.0])
    @pytest.mark.parametrize(("sets", "weighted"), [(False, False), (True, False), (True, True)])
    def test_is_at_most_the_objective_of_fixed_weights(
        self, geometry: BlockGeometry, scheme: Scheme, C: float, sets: bool, weighted: bool
    ) -> None:
        stream = random_stream(1, 25, n=6, sets=sets, weighted=weighted, empty=0.05)
        dual = learnt(geometry, scheme, C, stream).dual
        best, value = best_fixed(geometry, stream, C)
        assert dual <= value + 1e-6 * (1.0 + abs(value))
        rng = np.random.default_rng(0)
        for reach in (0.01, 0.3, 3.0):
            w = best + reach * rng.normal(size=6)
            if geometry == "entropic":
                w = np.maximum(best, 1e-6) * np.exp(reach * rng.normal(size=6))
                w /= w.sum()
            assert dual <= objective(geometry, w, stream, MARGINS[geometry], C) + 1e-9

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("scheme", ASCENDING)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_never_decreases_with_one_group(
        self, geometry: BlockGeometry, scheme: Scheme, weighted: bool
    ) -> None:
        """The gain is concave in the coefficients, and each scheme averages ascending steps."""
        for C in [SMALL[geometry]] if scheme == "simperc" else [0.05, 1.0, 30.0]:
            ours, before = learner(geometry, scheme, C), 0.0
            for block in random_stream(2, 60, weighted=weighted, empty=0.05):
                ours.learn_block(block.X, block.y, None, block.weights)
                after = ours.certificate_.dual
                assert after >= before - 1e-11 * (1.0 + C)
                before = after
            assert before > 0.0

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_never_decreases_for_simperc_with_groups(self, geometry: BlockGeometry) -> None:
        ours, before = learner(geometry, "simperc", SMALL[geometry]), 0.0
        for block in random_stream(3, 60, sets=True):
            ours.learn_block(block.X, block.y, block.groups)
            after = ours.certificate_.dual
            assert after >= before - 1e-12
            before = after

    @pytest.mark.parametrize("scheme", ["conproj", "simproj", "simopt", "max", "optimal"])
    def test_can_decrease_with_groups(self, scheme: Scheme) -> None:
        """Groups with the same row take the same step, and their sum overshoots."""
        block = Block(np.full((3, 1), 2.0), np.ones(3), ["a", "b", "c"], None)
        assert learnt("euclidean", scheme, 30.0, [block]).dual == pytest.approx(-0.375)

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_can_decrease_for_steps_of_fixed_length(self, geometry: BlockGeometry) -> None:
        assert learnt(geometry, "simperc", 30.0, random_stream(4, 5)).dual < 0.0

    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_equals_the_dual_of_the_stored_weights(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        ours = learner(geometry, scheme, 2.0)
        for block in random_stream(5, 150, sets=True, weighted=True):
            ours.learn_block(block.X, block.y, block.groups, block.weights)
            native = ours._native
            size = 1.0 + native.state()["numbers"]["gain"]
            assert ours.certificate_.dual == pytest.approx(
                native.recompute_dual(), rel=1e-9, abs=1e-9 * size
            )


class TestMistakes:
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("scheme", BOUNDED)
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("C", [0.02, 0.5, 20.0])
    def test_each_mistake_increases_the_dual(
        self, geometry: BlockGeometry, scheme: Scheme, weighted: bool, C: float
    ) -> None:
        """The increase is at least the certificate's gain per mistake, the basis of the bounds."""
        ours = learner(geometry, scheme, C)
        gains = []
        before, mistakes = 0.0, 0.0
        for block in random_stream(6, 80, weighted=weighted):
            ours.learn_block(block.X, block.y, None, block.weights)
            now = ours.certificate_
            if now.mistakes > mistakes:
                gains.append(now.dual - before)
            before, mistakes = now.dual, now.mistakes
        least = ours.certificate_.gain_per_mistake
        assert len(gains) > 5
        assert least <= min(gains) + 1e-12
        if scheme != "simperc" and not weighted:
            assert least > 0.0

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    @pytest.mark.parametrize("scheme", BOUNDED)
    @pytest.mark.parametrize("noise", [0.0, 0.2])
    @pytest.mark.parametrize("empty", [0.0, 0.05])
    def test_bound_holds(
        self, geometry: BlockGeometry, scheme: Scheme, noise: float, empty: float
    ) -> None:
        C = SMALL[geometry]
        stream = random_stream(7, 100, n=6, noise=noise, empty=empty)
        certificate = learnt(geometry, scheme, C, stream)
        best, value = best_fixed(geometry, stream, C)
        best = np.maximum(best, 0.0) if geometry == "entropic" else best
        bound = certificate.bound(
            complexity(geometry, best), total_loss(best, stream, MARGINS[geometry])
        )
        assert 0 < certificate.mistakes <= bound < math.inf
        assert bound == pytest.approx(value / certificate.gain_per_mistake, rel=1e-4)

    def test_simperc_reaches_the_bound(self) -> None:
        """The bound is tight: with orthonormal rows it is an equality."""
        n, C = 12, 0.5
        stream = [Block(np.eye(n)[[i]], np.ones(1), None, None) for i in range(n)]
        certificate = learnt("euclidean", "simperc", C, stream)
        w = np.full(n, C)
        assert certificate.mistakes == n
        assert certificate.gain_per_mistake == pytest.approx(C - 0.5 * C**2)
        assert certificate.bound(0.5 * w @ w, n * (1 - C)) == pytest.approx(n)

    def test_tuned_bound_of_theorem_2(self) -> None:
        """At C = 2/(1 + sqrt(1 + 4L/B)) it is L + B/2 + ½ sqrt(B² + 4BL), rows of length 1."""
        stream = random_stream(8, 60, n=6)
        stream = [b._replace(X=b.X / np.linalg.norm(b.X, axis=1, keepdims=True)) for b in stream]
        for w in np.random.default_rng(8).normal(size=(5, 6)):
            B, L = float(w @ w), total_loss(w, stream, 1.0)
            C = 2.0 / (1.0 + math.sqrt(1.0 + 4.0 * L / B))
            certificate = learnt("euclidean", "simperc", C, stream)
            bound = certificate.bound(0.5 * B, L)
            assert bound == pytest.approx(L + B / 2 + 0.5 * math.sqrt(B**2 + 4 * B * L))
            assert certificate.mistakes <= bound

    def test_conproj_has_a_bound_for_large_budgets(self) -> None:
        """If the denominator C - ½C²R² would be negative, the bound uses the step 1/R²."""
        stream = [Block(2.0 * np.eye(5)[[i]], np.ones(1), None, None) for i in range(5)]
        certificate = learnt("euclidean", "conproj", 100.0, stream)
        w = np.full(5, 0.5)
        assert 100.0 - 0.5 * 100.0**2 * 4.0 < 0.0
        assert certificate.gain_per_mistake == pytest.approx(0.5 / 4.0)
        assert certificate.bound(0.5 * w @ w, 0.0) == pytest.approx(certificate.mistakes)

    def test_the_misprint_in_theorem_6_gives_a_wrong_bound(self) -> None:
        """An adversarial stream makes more mistakes than the misprint C - ½C² allows."""
        n, margin = 8, 0.05
        C = margin
        ours = learner("entropic", "simperc", C, margin)
        target = np.zeros(n)
        target[0] = 1.0
        ours.learn_block(np.zeros((1, n)), [1])
        started, rng = ours.certificate_.mistakes, np.random.default_rng(0)
        for _ in range(3000):
            # As little progress as possible toward the target, as much norm as possible elsewhere.
            w = ours.coef_
            x = linprog(
                rng.normal(size=n - 1),
                A_ub=[w[1:]],
                b_ub=[-margin * w[0]],
                bounds=[(-1, 1)] * (n - 1),
            ).x
            if x is None:
                break
            ours.learn_block([np.r_[margin, x]], [1])
        certificate = ours.certificate_
        mistakes, cost = certificate.mistakes - started, math.log(n)
        assert complexity("entropic", target) == pytest.approx(cost)
        misprint = cost / (C - 0.5 * C**2)
        assert misprint < mistakes <= certificate.bound(cost, 0.0) < math.inf


class TestNoBound:
    @pytest.mark.parametrize("scheme", ["simproj", "simopt"])
    def test_simproj_and_simopt(self, scheme: Scheme) -> None:
        certificate = learnt("euclidean", scheme, 0.1, random_stream(9, 10))
        with pytest.warns(NoBoundWarning, match=f"'{scheme}' has no mistake bound"):
            assert certificate.bound(1.0, 1.0) == math.inf

    def test_simproj_gains_less_than_a_bound_needs(self) -> None:
        """A misclassified row among many small losses has a small share: the gain can be tiny."""
        gains = []
        for copies in (1, 10, 100):
            ours = learner("euclidean", "simproj", 1.0)
            ours.learn_block([[0.999, 0.0]], [1])
            before = ours.certificate_.dual
            ours.learn_block([[0.0, 1.0]] + [[0.99, 0.0]] * copies, [1] * (copies + 1))
            assert ours.certificate_.mistakes == 2
            gains.append(ours.certificate_.dual - before)
        assert gains[0] > 4 * gains[1] > 16 * gains[2] > 0.0

    @pytest.mark.parametrize("scheme", ["conproj", "max", "optimal", "simproj", "simopt"])
    def test_groups(self, scheme: Scheme) -> None:
        certificate = learnt("euclidean", scheme, 0.1, random_stream(10, 10, sets=True))
        with pytest.warns(NoBoundWarning, match="on sets"):
            assert certificate.bound(1.0, 1.0) == math.inf

    def test_groups_of_simperc_count_as_fractions(self) -> None:
        """Corollary 5: the bound counts the fraction of groups with a mistake."""
        C = SMALL["euclidean"]
        stream = random_stream(11, 100, n=6, sets=True)
        certificate = learnt("euclidean", "simperc", C, stream)
        best, _ = best_fixed("euclidean", stream, C)
        bound = certificate.bound(0.5 * float(best @ best), total_loss(best, stream, 1.0))
        assert 0.0 < certificate.mistakes <= bound < math.inf
        assert certificate.mistakes != int(certificate.mistakes)

    def test_simperc_with_too_large_a_step(self) -> None:
        certificate = learnt("euclidean", "simperc", 10.0, random_stream(12, 10))
        with pytest.warns(NoBoundWarning, match="only while C"):
            assert certificate.bound(1.0, 1.0) == math.inf
