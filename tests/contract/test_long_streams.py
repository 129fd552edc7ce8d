"""Many labels, many features and long drift: the promises hold at full size."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import LabelRanker

pytestmark = pytest.mark.long
DRIFT_ROUNDS = int(os.environ.get("TAGALONG_DRIFT_ROUNDS", 1_000_000))


def assert_dual_holds(ranker: LabelRanker, promise: float) -> None:
    dual, recomputed = ranker.certificate_.dual, ranker._native.recompute_dual()
    assert np.isfinite(dual)
    assert dual == pytest.approx(recomputed, rel=promise, abs=promise)


@pytest.mark.parametrize("update", ["single", "optimal", "smooth"])
def test_a_hundred_thousand_labels(update: str) -> None:
    labels, rng = 100_000, np.random.default_rng(0)
    ranker = LabelRanker(update).add_labels(range(labels))
    for _ in range(20):
        x = (rng.integers(0, 50, 5), np.ones(5))
        ranker.learn_one(x, rng.integers(0, labels, 3).tolist())
    assert_dual_holds(ranker, 1e-4)
    assert np.isfinite(ranker.score_one(([0, 1], [1.0, 1.0]))[0]).all()


def test_a_million_features() -> None:
    rng, n = np.random.default_rng(1), 1_000_000
    X = sp.csr_array(sp.random_array((2_000, n), density=500 / n, rng=rng))
    ranker = LabelRanker("single", average=False).fit(X, np.eye(3)[rng.integers(0, 3, 2_000)])
    assert_dual_holds(ranker, 1e-4)
    assert np.isfinite(ranker.decision_function(X[:10])).all()


@pytest.mark.parametrize("geometry", ["euclidean", "adaptive", "entropic"])
@pytest.mark.parametrize(("dtype", "promise"), [("float32", 1e-4), ("float64", 1e-9)])
def test_the_truth_rotates(geometry: str, dtype: str, promise: float) -> None:
    """The best weights turn slowly, so that every round is a little wrong for ever."""
    rng, rows, n, labels = np.random.default_rng(2), 10_000, 8, 4
    hidden = rng.normal(size=(n, labels))
    ranker = LabelRanker("single", geometry, dtype=dtype, n_features=n)
    for step in range(DRIFT_ROUNDS // rows):
        X = rng.random((rows, n))
        turned = np.roll(hidden, step, axis=1) * np.cos(step) + hidden * np.sin(step)
        scores = X @ turned
        ranker.partial_fit(X, scores == scores.max(axis=1, keepdims=True))
    assert ranker.certificate_.rounds == DRIFT_ROUNDS
    assert np.isfinite(ranker.certificate_.loss)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert_dual_holds(ranker, promise)


def test_the_same_row_a_hundred_thousand_times() -> None:
    X, Y = np.ones((100_000, 3)), np.tile([1, 0, 0], (100_000, 1))
    for update in ("fixed", "single", "optimal", "smooth"):
        ranker = LabelRanker(update, dtype="float64").fit(X, Y)
        assert_dual_holds(ranker, 1e-9)
        assert np.isfinite(ranker.decision_function(X[:1])).all()
