"""`BlockProjection` agrees with the naive twin, trial by trial, for all input formats."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import BlockProjection
from tests.online.block_streams import (
    MARGINS,
    PAIRS,
    TWINS,
    Block,
    Rows,
    learner,
    random_stream,
    twin,
)
from tests.reference.blocks import BlockGeometry, NaiveBlocks, Scheme

CLOSE = {"float64": 1e-8, "float32": 2e-3}


def assert_equal(ours: BlockProjection, naive: NaiveBlocks, close: float) -> None:
    certificate = ours.certificate_
    np.testing.assert_allclose(ours.coef_, naive.coef, rtol=close, atol=close)
    size = 1.0 + abs(naive.gain)
    assert certificate.dual == pytest.approx(naive.dual, rel=close, abs=close * size)
    assert certificate.loss == pytest.approx(naive.loss, rel=close, abs=close)


def follow(ours: BlockProjection, naive: NaiveBlocks, stream: list[Block], close: float) -> None:
    for t, block in enumerate(stream):
        # Dense and sparse matrices alternate.
        X = sp.csr_array(block.X) if t % 2 else block.X
        loss = ours.learn_block(X, block.y, block.groups, block.weights)
        assert loss == pytest.approx(naive.learn(*block), rel=close, abs=close)
        assert_equal(ours, naive, close)


class TestEveryTrial:
    @pytest.mark.parametrize(("geometry", "scheme"), TWINS)
    @pytest.mark.parametrize("rows", ["real", "ternary"])
    @pytest.mark.parametrize("C", [0.05, 1.0, 40.0])
    def test_without_groups_and_weights(
        self, geometry: BlockGeometry, scheme: Scheme, rows: Rows, C: float
    ) -> None:
        stream = random_stream(1, 40, rows=rows)
        naive = twin(geometry, scheme, C, 8)
        ours = learner(geometry, scheme, C)
        follow(ours, naive, stream, CLOSE["float64"])
        assert ours.certificate_.mistakes == naive.mistakes > 0
        assert ours.certificate_.rounds == len(stream)

    @pytest.mark.parametrize(("geometry", "scheme"), TWINS)
    @pytest.mark.parametrize(("sets", "weighted"), [(True, False), (False, True), (True, True)])
    def test_groups_and_weights(
        self, geometry: BlockGeometry, scheme: Scheme, sets: bool, weighted: bool
    ) -> None:
        stream = random_stream(2, 40, sets=sets, weighted=weighted)
        naive = twin(geometry, scheme, 0.7, 8)
        ours = learner(geometry, scheme, 0.7)
        follow(ours, naive, stream, CLOSE["float64"])
        assert ours.certificate_.mistakes == pytest.approx(naive.mistakes, rel=1e-12)

    @pytest.mark.parametrize(("geometry", "scheme"), TWINS)
    def test_single_precision(self, geometry: BlockGeometry, scheme: Scheme) -> None:
        """With a loose tolerance, and while no mistake depends on rounding."""
        stream = random_stream(3, 25)
        naive = twin(geometry, scheme, 0.3, 8)
        follow(learner(geometry, scheme, 0.3, dtype="float32"), naive, stream, CLOSE["float32"])

    @pytest.mark.parametrize(("geometry", "scheme"), TWINS)
    def test_rows_without_features(self, geometry: BlockGeometry, scheme: Scheme) -> None:
        stream = random_stream(4, 40, empty=0.3)
        assert any(not row.any() for block in stream for row in block.X)
        naive = twin(geometry, scheme, 0.5, 8)
        ours = learner(geometry, scheme, 0.5)
        follow(ours, naive, stream, CLOSE["float64"])
        assert ours.certificate_.mistakes == naive.mistakes

    @settings(max_examples=40)
    @given(
        pair=st.sampled_from(TWINS),
        seed=st.integers(0, 10**6),
        C=st.floats(1e-3, 1e2),
        margin=st.floats(0.01, 0.9),
        n=st.integers(2, 12),
        sets=st.booleans(),
        weighted=st.booleans(),
    )
    def test_arbitrary_blocks(
        self,
        pair: tuple[BlockGeometry, Scheme],
        seed: int,
        C: float,
        margin: float,
        n: int,
        sets: bool,
        weighted: bool,
    ) -> None:
        stream = random_stream(seed, 6, n=n, sets=sets, weighted=weighted)
        naive = twin(*pair, C, n, margin)
        # Tiny weights on the simplex differ by more in relative terms.
        follow(learner(*pair, C, margin), naive, stream, 1e-7)


class TestInputFormats:
    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_dense_and_sparse_give_the_same_bits(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        dense, sparse = learner(geometry, scheme, 1.0), learner(geometry, scheme, 1.0)
        for block in random_stream(5, 20, sets=True, weighted=True):
            shuffled = sp.coo_array(block.X)
            parts = np.random.default_rng(0).permutation(shuffled.nnz)
            rows, columns = shuffled.coords
            csr = sp.csr_array(
                (shuffled.data[parts], (rows[parts], columns[parts])), shape=block.X.shape
            )
            pairs: list[tuple[BlockProjection, Any]] = [(dense, block.X), (sparse, csr)]
            losses = [one.learn_block(X, block.y, block.groups, block.weights) for one, X in pairs]
            assert losses[0] == losses[1]
        assert dense.coef_.tobytes() == sparse.coef_.tobytes()
        assert dense.certificate_ == sparse.certificate_

    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_order_of_the_rows_does_not_matter(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        straight, mixed = learner(geometry, scheme, 0.8), learner(geometry, scheme, 0.8)
        rng = np.random.default_rng(6)
        # A relative gap of g bounds the distance of the weights by sqrt(g).
        close = 1e-5 if scheme == "optimal" else 1e-9
        for X, y, groups, weights in random_stream(6, 25, sets=True, weighted=True):
            assert groups is not None
            assert weights is not None
            order = rng.permutation(len(y))
            loss = straight.learn_block(X, y, groups, weights)
            again = mixed.learn_block(
                X[order], y[order], [groups[j] for j in order], weights[order]
            )
            assert again == pytest.approx(loss, rel=close, abs=1e-3 * close)
        np.testing.assert_allclose(mixed.coef_, straight.coef_, rtol=100 * close, atol=close)
        assert mixed.certificate_.dual == pytest.approx(straight.certificate_.dual, rel=close)

    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_negating_a_row_and_its_sign_changes_nothing(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        plain, turned = learner(geometry, scheme, 0.8), learner(geometry, scheme, 0.8)
        for block in random_stream(7, 20):
            plain.learn_block(block.X, block.y)
            turned.learn_block(block.signed, np.ones(len(block.y)))
        assert plain.coef_.tobytes() == turned.coef_.tobytes()


class TestGroups:
    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_one_group_per_row_is_the_average_loss(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        ours = learner(geometry, scheme, 0.8)
        first, *others = random_stream(8, 15)
        ours.learn_block(first.X, first.y)
        for block in others:
            values = block.signed @ ours.coef_
            losses = np.maximum(0.0, MARGINS[geometry] - values)
            found = ours.learn_block(block.X, block.y, groups=np.arange(len(block.y)))
            assert found == pytest.approx(losses.mean(), rel=1e-12, abs=1e-15)

    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_one_group_equals_no_groups(self, geometry: BlockGeometry, scheme: Scheme) -> None:
        plain, one_set = learner(geometry, scheme, 0.8), learner(geometry, scheme, 0.8)
        for block in random_stream(9, 15):
            plain.learn_block(block.X, block.y)
            one_set.learn_block(block.X, block.y, groups=["α"] * len(block.y))
        assert plain.coef_.tobytes() == one_set.coef_.tobytes()
        assert plain.certificate_ == one_set.certificate_

    @pytest.mark.parametrize("scheme", ["conproj", "simproj", "simopt", "max", "optimal"])
    def test_groups_of_one_row_take_their_own_steps(self, scheme: Scheme) -> None:
        """With one row per group, all schemes but SimPerc agree."""
        block = Block(np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), np.ones(3), None, None)
        ours = learner("euclidean", scheme, 0.6)
        ours.learn_block(block.X, block.y, groups=[2, 0, 1])
        steps = np.minimum(0.6 / 3, 1 / (block.X**2).sum(axis=1))
        np.testing.assert_allclose(ours.coef_, steps @ block.X, rtol=1e-12)
