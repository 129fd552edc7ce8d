"""After any valid input all numbers of a model are finite."""

from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tests.contract.bits import assert_same, whole
from tests.weights import dense_coef

UPDATES = ["fixed", "single", "optimal", "simperc", "conproj", "simproj", "simopt", "smooth"]
GEOMETRIES = ["euclidean", "adaptive", "entropic"]

every_learner = pytest.mark.parametrize(
    ("update", "geometry"),
    [(u, g) for u in UPDATES for g in GEOMETRIES if (u, g) != ("simopt", "entropic")],
)

both_types = pytest.mark.parametrize("dtype", ["float32", "float64"])


def assert_finite(ranker: LabelRanker) -> None:
    state = ranker._native.state()
    weights = [array for name, array in state["arrays"].items() if name.endswith("theta")]
    assert weights
    assert all(np.isfinite(array).all() for array in weights)
    assert np.isfinite(list(state["numbers"].values())).all()
    assert np.isfinite(dense_coef(ranker)).all()


@both_types
@every_learner
@pytest.mark.parametrize("size", [1e-30, 1e-3, 1e2, 1e6, 1e18])
def test_rows_of_very_different_norms(update: str, geometry: str, size: float, dtype: str) -> None:
    ranker = LabelRanker(update, geometry, dtype=dtype, normalize=False)
    for scale in (1.0, size, 1.0):
        ranker.partial_fit(scale * np.eye(3) + 0.1, np.eye(3))
        assert_finite(ranker)


@both_types
@every_learner
def test_normalized_rows_of_any_norm(update: str, geometry: str, dtype: str) -> None:
    ranker = LabelRanker(update, geometry, dtype=dtype)
    for size in (1e18, 1e-300, 1.0, 1e-18):
        ranker.partial_fit(size * (np.eye(3) + 0.1), np.eye(3))
        assert_finite(ranker)


@both_types
@pytest.mark.parametrize("geometry", ["euclidean", "adaptive"])
@pytest.mark.parametrize("update", UPDATES)
def test_a_margin_far_exceeded(update: str, geometry: str, dtype: str) -> None:
    """The margin is exceeded a thousandfold, so the loss is zero."""
    ranker = LabelRanker(update, geometry, dtype=dtype, normalize=False, constant=0)
    ranker.add_labels(["a", "b"]).learn_one(([0], [1.0]), "a")
    before = ranker._native.state()["arrays"]["theta"].tobytes()
    ranker.learn_one(([0], [1000.0]), "a")
    assert_finite(ranker)
    assert ranker._native.state()["arrays"]["theta"].tobytes() == before


@both_types
@pytest.mark.parametrize("update", [update for update in UPDATES if update != "simopt"])
def test_a_label_that_is_never_relevant(update: str, dtype: str) -> None:
    """In the entropic geometry every coordinate of its dual vector decreases without bound."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((1500, 5)) + 0.5, np.zeros((1500, 3))
    Y[np.arange(1500), rng.integers(0, 2, 1500)] = 1
    ranker = LabelRanker(update, "entropic", C=1000, dtype=dtype).partial_fit(X, Y)
    assert_finite(ranker)


@pytest.mark.parametrize("temperature", [1e-12, 1e-4, 1e4, 1e12])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_any_temperature(geometry: str, temperature: float) -> None:
    ranker = LabelRanker("smooth", geometry, temperature=temperature)
    for _ in range(20):
        ranker.partial_fit(np.eye(4) + 0.1, np.eye(4))
    assert_finite(ranker)


@pytest.mark.parametrize(
    ("parameters", "weight"), [({"C": 1e300}, 1.0), ({}, 1e300)], ids=["budget", "weight"]
)
@both_types
@every_learner
def test_a_huge_budget(
    update: str, geometry: str, dtype: str, parameters: dict[str, Any], weight: float
) -> None:
    """A huge budget works or raises."""
    ranker = LabelRanker(update, geometry, dtype=dtype, **parameters)
    try:
        ranker.fit(np.eye(3), np.eye(3), sample_weight=np.full(3, weight))
    except ValueError as error:
        assert "1e+300" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(ranker.decision_function(np.eye(3))).all()


@pytest.mark.parametrize(("dtype", "value"), [("float32", 1.2e19), ("float64", 0.9e154)])
def test_duplicates_count_as_their_sum(dtype: str, value: float) -> None:
    """Each of two duplicates fits the storage type, but their sum does not."""
    ranker = LabelRanker(dtype=dtype, normalize=False).add_labels(["a", "b"])
    before = whole(ranker)
    with pytest.raises(ValueError, match="x is too long"):
        ranker.learn_one(([0, 0], [value, value]), "a")
    assert_same(whole(ranker), before)


@both_types
def test_a_constant_too_large_for_the_storage_type(dtype: str) -> None:
    with pytest.raises(ValueError, match="constant"):
        LabelRanker(dtype=dtype, constant=1e200).fit(np.eye(3), np.eye(3))
