"""The optimal step on a block: zero duality gap, and agreement with a general solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import BlockProjection
from tests.online.block_streams import MARGINS, Block, learner, random_stream
from tests.reference.blocks import BlockGeometry, block_optimum, rows_of_sets
from tests.reference.geometries import FloatArray

GEOMETRIES: tuple[BlockGeometry, ...] = ("euclidean", "entropic")
GAP = 1e-8


def start(geometry: BlockGeometry, n: int) -> FloatArray:
    return np.zeros(n) if geometry == "euclidean" else np.full(n, 1.0 / n)


def primal(
    geometry: BlockGeometry, u: FloatArray, w: FloatArray, block: Block, margin: float, C: float
) -> float:
    """The primal objective of weights ``u`` on a block, centred on ``w``."""
    if geometry == "euclidean":
        distance = 0.5 * float((u - w) @ (u - w))
    else:
        there = u > 0.0
        distance = float(u[there] @ np.log(u[there] / w[there]))
    losses = np.maximum(0.0, margin - block.signed @ u) / block.v
    return distance + C * float(losses.max())


def check_step(
    ours: BlockProjection,
    geometry: BlockGeometry,
    block: Block,
    C: float,
    margin: float,
    compare: bool = False,
) -> None:
    """Check that the dual gain equals the primal objective of the new weights, and is optimal."""
    n = block.X.shape[1]
    begun = hasattr(ours, "n_features_in_")
    w = ours.coef_ if begun else start(geometry, n)
    before = ours.certificate_.dual if begun else 0.0
    ours.learn_block(block.X, block.y, None, block.weights)
    gained = ours.certificate_.dual - before
    cost = primal(geometry, ours.coef_, w, block, margin, C)
    # The dual is a running sum, and a large C multiplies the rounding error of a score.
    rounding = 1e-13 * (1.0 + abs(before)) + 1e-14 * C * margin
    assert gained <= cost + GAP * cost + rounding, "more than any weights allow"
    assert cost <= gained + GAP * cost + rounding, "not the best step"
    if compare:
        best, value = block_optimum(geometry, w, block.signed, block.v, margin, C)
        assert cost == pytest.approx(value, rel=1e-7, abs=1e-9)
        np.testing.assert_allclose(ours.coef_, best, atol=2e-4)


@pytest.mark.parametrize("geometry", GEOMETRIES)
class TestGap:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
    def test_random_blocks(self, geometry: BlockGeometry, C: float, weighted: bool) -> None:
        ours = learner(geometry, "optimal", C)
        # After many large steps some weights are too small for the conic solver.
        solvable = geometry == "euclidean" or C <= 1.0
        for block in random_stream(1, 15, most_rows=10, weighted=weighted):
            check_step(ours, geometry, block, C, MARGINS[geometry], compare=solvable)

    def test_more_rows_than_features(self, geometry: BlockGeometry) -> None:
        ours = learner(geometry, "optimal", 2.0)
        for block in random_stream(2, 10, n=4, most_rows=40):
            check_step(ours, geometry, block, 2.0, MARGINS[geometry])

    def test_equal_rows(self, geometry: BlockGeometry) -> None:
        ours, once = learner(geometry, "optimal", 2.0), learner(geometry, "optimal", 2.0)
        for block in random_stream(3, 15):
            thrice = Block(np.tile(block.X, (3, 1)), np.tile(block.y, 3), None, None)
            check_step(ours, geometry, thrice, 2.0, MARGINS[geometry])
            once.learn_block(block.X, block.y)
        np.testing.assert_allclose(ours.coef_, once.coef_, atol=1e-6)

    def test_opposite_rows(self, geometry: BlockGeometry) -> None:
        """No step helps both a row and its opposite."""
        ours = learner(geometry, "optimal", 2.0)
        for block in random_stream(4, 10):
            both = Block(np.tile(block.X, (2, 1)), np.r_[block.y, -block.y], None, None)
            check_step(ours, geometry, both, 2.0, MARGINS[geometry])

    def test_rows_of_very_different_norms(self, geometry: BlockGeometry) -> None:
        rng = np.random.default_rng(5)
        longest = 1e3 if geometry == "euclidean" else 10.0
        ours = learner(geometry, "optimal", 1.0)
        for block in random_stream(5, 15):
            scale = np.exp(rng.uniform(-np.log(longest), np.log(longest), size=(len(block.y), 1)))
            scaled = Block(block.X * scale, block.y, None, None)
            check_step(ours, geometry, scaled, 1.0, MARGINS[geometry])

    @pytest.mark.parametrize("C", [1e-6, 1e6])
    def test_extreme_budgets(self, geometry: BlockGeometry, C: float) -> None:
        ours = learner(geometry, "optimal", C)
        # An inseparable block would use the whole huge budget on the simplex.
        for block in random_stream(6, 10, n=30, noise=0.0):
            check_step(ours, geometry, block, C, MARGINS[geometry])

    @pytest.mark.parametrize("margin", [1e-3, 0.5, 3.0])
    def test_margins(self, geometry: BlockGeometry, margin: float) -> None:
        ours = learner(geometry, "optimal", 0.5, margin)
        for block in random_stream(7, 15):
            check_step(ours, geometry, block, 0.5, margin)

    def test_empty_rows_limit_the_gain_of_a_step(self, geometry: BlockGeometry) -> None:
        ours = learner(geometry, "optimal", 0.5)
        stream = random_stream(8, 15, empty=0.3)
        assert any(not row.any() for block in stream for row in block.X)
        for block in stream:
            check_step(ours, geometry, block, 0.5, MARGINS[geometry], compare=True)

    def test_large_blocks(self, geometry: BlockGeometry) -> None:
        rng = np.random.default_rng(9)
        ours = learner(geometry, "optimal", 5.0)
        for _ in range(2):
            X = rng.normal(size=(120, 60)) * (rng.random((120, 60)) < 0.3)
            block = Block(X, rng.choice([-1.0, 1.0], size=120), None, None)
            check_step(ours, geometry, block, 5.0, MARGINS[geometry])

    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 10**6),
        C=st.floats(1e-3, 50.0),
        n=st.integers(1, 6),
        weighted=st.booleans(),
        whole=st.booleans(),
    )
    def test_arbitrary_blocks(
        self, geometry: BlockGeometry, seed: int, C: float, n: int, weighted: bool, whole: bool
    ) -> None:
        """Small integers produce ties, equal rows and dependent rows."""
        ours = learner(geometry, "optimal", C)
        for X, y, _, weights in random_stream(seed, 3, n=n, most_rows=8, weighted=weighted):
            block = Block(np.round(X) if whole else X, y, None, weights)
            check_step(ours, geometry, block, C, MARGINS[geometry])


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_each_group_has_its_own_optimum(geometry: BlockGeometry) -> None:
    C, n = 0.8, 8
    ours = learner(geometry, "optimal", C)
    w = start(geometry, n)
    for block in random_stream(10, 12, sets=True, weighted=True):
        sets = rows_of_sets(len(block.y), block.groups)
        theta = w if geometry == "euclidean" else np.log(w)
        moved = theta.copy()
        for rows in sets:
            best, _ = block_optimum(
                geometry, w, block.signed[rows], block.v[rows], MARGINS[geometry], C / len(sets)
            )
            # The softmax is invariant to a shift of theta.
            moved += best - w if geometry == "euclidean" else np.log(best) - theta
        expected = moved
        if geometry == "entropic":
            expected = np.exp(moved - moved.max())
            expected /= expected.sum()
        ours.learn_block(block.X, block.y, block.groups, block.weights)
        np.testing.assert_allclose(ours.coef_, expected, atol=2e-4)
        w = ours.coef_


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_gains_at_least_as_much_as_every_scheme(geometry: BlockGeometry) -> None:
    for block in random_stream(11, 30, weighted=True):
        duals = {}
        for scheme in ("simperc", "conproj", "simproj", "max", "optimal"):
            ours = learner(geometry, scheme, 0.7)
            ours.learn_block(block.X, block.y, None, block.weights)
            duals[scheme] = ours.certificate_.dual
        assert max(duals.values()) <= duals["optimal"] + 1e-9 * (1.0 + duals["optimal"])


def test_single_precision_stores_the_same_step() -> None:
    double, single = (
        learner("euclidean", "optimal", 1.0),
        learner("euclidean", "optimal", 1.0, dtype="float32"),
    )
    for block in random_stream(12, 10):
        double.learn_block(block.X, block.y)
        single.learn_block(block.X, block.y)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-4)
