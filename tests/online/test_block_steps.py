"""Single steps of `BlockProjection`: closed forms, the surrogate, counterexamples for SimOpt."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from tests.online.block_streams import learner
from tests.reference.blocks import (
    gain,
    own_step,
    simopt_step,
    surrogate_step,
    ternary_step,
    tilted_step,
)
from tests.reference.geometries import FloatArray
from tests.reference.program import Program


def some_weights(rng: np.random.Generator, n: int) -> FloatArray:
    return np.asarray(rng.dirichlet(np.full(n, 0.7)) + 1e-9)


def surrogate_program(losses: FloatArray, q: FloatArray, v: FloatArray, C: float) -> Program:
    program = Program(len(losses))
    program.quadratic[:], program.linear[:] = q, -losses
    program.require("nonnegative", (-v, C))
    for j in range(len(losses)):
        program.require("nonnegative", (program.unit(j), 0.0))
    return program


def surrogate_by_solver(losses: FloatArray, q: FloatArray, v: FloatArray, C: float) -> FloatArray:
    return surrogate_program(losses, q, v, C).minimise()[0]


class TestOneRow:
    """On a block of one row, all schemes but SimPerc take the optimal step."""

    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 10**6),
        ternary=st.booleans(),
        margin=st.floats(0.02, 0.95),
        C=st.floats(0.05, 20.0),
    )
    def test_entropic_step_maximises_the_dual(
        self, seed: int, ternary: bool, margin: float, C: float
    ) -> None:
        rng = np.random.default_rng(seed)
        x = rng.integers(-1, 2, size=7).astype(np.float64) if ternary else rng.normal(size=7)
        ours = learner("entropic", "simproj", C, margin)
        ours.learn_block(rng.normal(size=(2, 7)), [1, -1])
        w, before = ours.coef_, ours.certificate_.dual
        ours.learn_block([x], [1])
        found = minimize_scalar(
            lambda t: -gain("entropic", w, t * x, margin * t),
            bounds=(0.0, C),
            method="bounded",
            options={"xatol": 1e-12},
        )
        best = max(0.0, -found.fun, gain("entropic", w, C * x, margin * C)) if np.ptp(x) else 0.0
        assert ours.certificate_.dual - before == pytest.approx(best, rel=1e-7, abs=1e-10)

    @settings(max_examples=100)
    @given(seed=st.integers(0, 10**6), margin=st.floats(0.01, 0.99), cap=st.floats(0.01, 50.0))
    def test_closed_form_is_the_root(self, seed: int, margin: float, cap: float) -> None:
        rng = np.random.default_rng(seed)
        w = some_weights(rng, 9)
        z = rng.integers(-1, 2, size=9).astype(np.float64)
        z[0] = 1.0
        w /= w.sum()
        assert ternary_step(w, z, margin, cap) == pytest.approx(
            tilted_step(w, z, margin, cap), rel=1e-8, abs=1e-8
        )

    @pytest.mark.parametrize("scheme", ["conproj", "simproj", "simopt", "max", "optimal"])
    def test_euclidean_schemes_agree(self, scheme: str) -> None:
        x = np.array([3.0, 0.0, -1.0])
        for C in (0.01, 5.0):
            ours = learner("euclidean", scheme, C)  # type: ignore[arg-type]
            assert ours.learn_block([x], [-1]) == 1.0
            step = own_step("euclidean", np.zeros(3), -x, 1.0, C)
            np.testing.assert_allclose(ours.coef_, -step * x, rtol=1e-12)

    @pytest.mark.parametrize("scheme", ["conproj", "simproj", "max", "optimal"])
    def test_an_unreachable_margin_uses_the_whole_budget(self, scheme: str) -> None:
        """Rows in {-1, 0, 1} score below 1 on the simplex; without positive values, at most 0."""
        for x, margin in (([1.0, 0.0, -1.0], 1.0), ([-1.0, 0.0, -1.0], 0.2)):
            ours = learner("entropic", scheme, 2.0, margin)  # type: ignore[arg-type]
            ours.learn_block([x], [1])
            expected = np.exp(2.0 * np.array(x))
            np.testing.assert_allclose(ours.coef_, expected / expected.sum(), rtol=1e-8)


class TestSimOpt:
    @settings(max_examples=40)
    @given(seed=st.integers(0, 10**6), C=st.floats(1e-2, 20.0), rows=st.integers(1, 7))
    def test_the_closed_form_is_the_optimum_of_the_surrogate(
        self, seed: int, C: float, rows: int
    ) -> None:
        rng = np.random.default_rng(seed)
        losses, q = rng.uniform(0.0, 3.0, rows), np.exp(rng.uniform(-2.0, 2.0, rows))
        if rows > 2:
            losses[1] = losses[0]
        found, ones = simopt_step(losses, q, C), np.ones(rows)
        np.testing.assert_allclose(found, surrogate_step(losses, q, ones, C), atol=1e-9)
        # The solver guarantees a small objective gap, which bounds the distance less tightly.
        value = surrogate_program(losses, q, ones, C).minimise()[1]
        assert found.min() >= 0
        assert found.sum() <= C * (1 + 1e-12)
        assert 0.5 * q @ found**2 - losses @ found <= value + 1e-8 * max(1.0, abs(value))

    @pytest.mark.parametrize("C", [0.05, 0.5, 50.0])
    def test_weights_reach_the_surrogates_optimum(self, C: float) -> None:
        rng = np.random.default_rng(1)
        X, v = rng.normal(size=(6, 6)), np.exp(rng.uniform(-1.0, 1.0, 6))
        ours = learner("euclidean", "simopt", C)
        ours.learn_block(X, np.ones(6), weights=v)
        masses = np.linalg.solve(X.T, ours.coef_)
        best = surrogate_by_solver(np.ones(6), (X**2).sum(axis=1), v, C)
        np.testing.assert_allclose(masses, best, atol=1e-6)
        assert v @ masses <= C * (1 + 1e-9)

    @pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
    def test_is_optimal_on_orthogonal_rows(self, C: float) -> None:
        rng = np.random.default_rng(2)
        turned, _ = np.linalg.qr(rng.normal(size=(6, 6)))
        simopt, optimal = learner("euclidean", "simopt", C), learner("euclidean", "optimal", C)
        for _ in range(10):
            X = turned[rng.permutation(6)[:4]] * rng.uniform(0.5, 2.0, size=(4, 1))
            y = rng.choice([-1.0, 1.0], size=4)
            simopt.learn_block(X, y)
            optimal.learn_block(X, y)
        np.testing.assert_allclose(simopt.coef_, optimal.coef_, atol=1e-9)
        assert simopt.certificate_.dual == pytest.approx(optimal.certificate_.dual, rel=1e-9)

    def test_two_equal_rows_gain_nothing(self) -> None:
        """Each row takes the whole step, so w moves twice as far as the optimal step."""
        X = [[2.0, 0.0], [2.0, 0.0]]
        simopt, optimal = (
            learner("euclidean", "simopt", 10.0),
            learner("euclidean", "optimal", 10.0),
        )
        simopt.learn_block(X, [1, 1])
        optimal.learn_block(X, [1, 1])
        np.testing.assert_allclose(simopt.coef_, [1.0, 0.0])
        np.testing.assert_allclose(optimal.coef_, [0.5, 0.0])
        assert simopt.certificate_.dual == pytest.approx(0.0, abs=1e-15)
        assert optimal.certificate_.dual == pytest.approx(0.125)

    def test_three_equal_rows_decrease_the_dual(self) -> None:
        simopt = learner("euclidean", "simopt", 10.0)
        simopt.learn_block([[2.0, 0.0]] * 3, [1, 1, 1])
        assert simopt.certificate_.dual == pytest.approx(-0.375)

    @settings(max_examples=60)
    @given(seed=st.integers(0, 10**6), C=st.floats(1e-2, 1e2))
    def test_two_rows_never_decrease_the_dual(self, seed: int, C: float) -> None:
        """Σ a² >= ½ |Σ a u|² for two unit vectors: a decrease needs three rows."""
        rng = np.random.default_rng(seed)
        simopt, before = learner("euclidean", "simopt", C), 0.0
        for _ in range(5):
            row = rng.normal(size=3)
            X = [row, rng.choice([1.0, 0.2]) * row + rng.choice([0.0, 0.3]) * rng.normal(size=3)]
            simopt.learn_block(X, [1, 1])
            after = simopt.certificate_.dual
            assert after >= before - 1e-12 * (1.0 + abs(before))
            before = after


class TestKinks:
    def test_the_first_of_equal_losses_is_updated(self) -> None:
        ours = learner("euclidean", "max", 10.0)
        ours.learn_block([[0.0, 2.0], [1.0, 0.0], [0.0, 1.0]], [1, 1, 1])
        np.testing.assert_allclose(ours.coef_, [0.0, 0.5])

    @pytest.mark.parametrize(
        ("scheme", "expected"), [("simperc", 1.0), ("conproj", 0.25), ("simproj", 0.25)]
    )
    def test_a_score_of_0_is_a_mistake(self, scheme: str, expected: float) -> None:
        ours = learner("euclidean", scheme, 1.0)  # type: ignore[arg-type]
        ours.learn_block([[2.0, 0.0]], [1])
        assert ours.certificate_.mistakes == 1
        np.testing.assert_allclose(ours.coef_, [2.0 * expected, 0.0])

    @pytest.mark.parametrize(
        "scheme", ["simperc", "conproj", "simproj", "simopt", "max", "optimal"]
    )
    def test_a_row_at_the_margin_is_not_updated(self, scheme: str) -> None:
        ours = learner("euclidean", scheme, 1.0)  # type: ignore[arg-type]
        ours.learn_block([[1.0, 0.0]], [1])
        np.testing.assert_array_equal(ours.coef_, [1.0, 0.0])
        assert ours.learn_block([[1.0, 0.0], [2.0, 5.0]], [1, 1]) == 0.0
        np.testing.assert_array_equal(ours.coef_, [1.0, 0.0])
