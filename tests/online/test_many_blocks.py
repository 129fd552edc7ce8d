"""learn_blocks gives the same bits as learn_block for each block."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.bits import assert_same, whole
from tests.online.block_streams import PAIRS, Block, learner, random_stream
from tests.reference.blocks import BlockGeometry, Scheme


def joined(stream: list[Block], sparse: bool) -> dict[str, Any]:
    X = np.vstack([block.X for block in stream])
    first = stream[0]
    return {
        "X": sp.csr_array(X) if sparse else X,
        "y": np.concatenate([block.y for block in stream]),
        "sizes": [len(block.y) for block in stream],
        "groups": None
        if first.groups is None
        else np.concatenate([block.groups for block in stream if block.groups is not None]),
        "weights": None if first.weights is None else np.concatenate([b.v for b in stream]),
    }


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
def test_same_bits_as_one_block_per_call(
    geometry: BlockGeometry, scheme: Scheme, sets: bool, sparse: bool
) -> None:
    stream = random_stream(5, 20, sets=sets, weighted=sets)
    many, single = (learner(geometry, scheme, 0.7) for _ in range(2))
    losses = many.learn_blocks(**joined(stream, sparse))
    assert losses.tolist() == [
        single.learn_block(block.X, block.y, block.groups, block.weights) for block in stream
    ]
    assert_same(whole(many), whole(single))


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 30), max_size=6), seed=st.integers(0, 99))
def test_any_sizes(cuts: list[int], seed: int) -> None:
    """Blocks may be empty, and a stream may be split into calls anywhere."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 5)), rng.choice([-1.0, 1.0], size=30)
    places = [0, *sorted(cuts), 30]
    sizes = np.diff(places)
    many, single = (learner("euclidean", "simproj", 0.7) for _ in range(2))
    losses = many.learn_blocks(X, y, sizes)
    assert len(losses) == len(sizes)
    assert losses[sizes == 0].sum() == 0
    assert many.certificate_.rounds == len(sizes)
    for start, end in pairwise(places):
        if end > start:
            single.learn_block(X[start:end], y[start:end])
    assert many.coef_.tobytes() == single.coef_.tobytes()
    assert many.certificate_.dual == single.certificate_.dual


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([1, 2], "sizes must sum to the 2 rows of X, got 3"),
        ([3, -1], "sizes: block 1 has -1 rows; sizes must be 0 or more"),
        ([1.0, 1.0], "sizes must have one integer per block"),
        ([[1, 1]], "sizes must have one integer per block"),
    ],
)
def test_invalid_sizes_raise(sizes: Any, message: str) -> None:
    ours = learner("euclidean", "simproj", 1.0)
    ours.learn_block([[1.0, 2.0]], [1])
    before = whole(ours)
    with pytest.raises(ValueError, match=message):
        ours.learn_blocks(np.ones((2, 2)), [1, -1], sizes)
    assert_same(whole(ours), before)


def test_an_invalid_row_prevents_learning_all_blocks() -> None:
    ours = learner("euclidean", "simproj", 1.0)
    ours.learn_block([[1.0, 2.0]], [1])
    before = whole(ours)
    with pytest.raises(ValueError, match="row 3, column 1 is NaN"):
        ours.learn_blocks([[1.0, 1.0]] * 3 + [[1.0, np.nan]], [1, -1, 1, -1], [2, 2])
    assert_same(whole(ours), before)
