"""Long tests of LabelRanker: a million rounds, and fuzzing."""

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from tagalong import LabelRanker
from tests.online.streams import (
    GEOMETRIES,
    UPDATES,
    Kind,
    assert_sound,
    combinations,
    feed,
    random_stream,
)
from tests.reference.geometries import Geometry
from tests.reference.naive import Update
from tests.weights import dense_coef

pytestmark = pytest.mark.long


def sparse_stream(
    rows: int, n: int, n_labels: int, kind: Kind
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Rows with a few features each, and labels that a linear ranker mostly predicts."""
    rng = np.random.default_rng(8)
    X = sparse.csr_array(sparse.random_array((rows, n), density=0.04, rng=rng))
    if kind == "binary":
        X.data[:] = 1.0
    scores = X @ rng.normal(size=(n, n_labels)) + 0.3 * rng.normal(size=(rows, n_labels))
    cut = np.sort(scores, axis=1)[:, -3:-2]
    return X, sparse.csr_array(scores > cut)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
@pytest.mark.parametrize(("geometry", "update"), combinations(*UPDATES))
def test_a_million_rounds(geometry: Geometry, update: Update, dtype: str, tolerance: float) -> None:
    """The running dual still equals that of the stored theta, and all weights are finite."""
    kind: Kind = "binary" if geometry == "entropic" else "real"
    X, Y = sparse_stream(10_000, 200, 10, kind)
    ranker = LabelRanker(update, geometry, C=1.0, average=False, dtype=dtype)
    for _ in range(100):
        ranker.partial_fit(X, Y)
    certificate = ranker.certificate_
    assert certificate.rounds == 1_000_000
    assert np.isfinite(dense_coef(ranker)).all()
    assert certificate.dual == pytest.approx(ranker._native.recompute_dual(), rel=tolerance)


@st.composite
def rankers(draw: st.DrawFn) -> LabelRanker:
    """All valid combinations of parameters, most of them over several powers of ten."""
    geometry = draw(st.sampled_from(GEOMETRIES))
    update = draw(st.sampled_from([u for g, u in combinations(*UPDATES) if g == geometry]))
    entropic = geometry == "entropic"
    solvers = ["exact", "interior-point"] if update == "optimal" else ["exact"]

    def power(low: float, high: float) -> float:
        return float(10 ** draw(st.floats(low, high)))

    return LabelRanker(
        update,
        geometry,
        C=power(-3, 1.5),
        margin=power(-2, 1),
        temperature=power(-3, 1),
        average=draw(st.sampled_from([False] if entropic else [False, True, "auto"])),
        constant=draw(st.sampled_from([0.0, 0.1, 0.5, -2.0])),
        normalize=draw(st.booleans()),
        solver=draw(st.sampled_from(solvers)),
        dtype=draw(st.sampled_from(["float32", "float64"])),
    )


@st.composite
def streams(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `random_stream`."""
    return {
        "seed": draw(st.integers(0, 2**32 - 1)),
        "rounds": draw(st.integers(1, 80)),
        "n": draw(st.integers(1, 30)),
        "n_labels": draw(st.integers(2, 12)),
        "kind": draw(st.sampled_from(get_args(Kind))),
        "weights": draw(st.sampled_from([(1.0,), (1.0, 0.01), (0.5, 3.0, 0.0)])),
        "unknown": draw(st.sampled_from([0.0, 0.1, 0.6])),
    }


@settings(max_examples=3000, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(rankers(), streams(), st.sampled_from([1.0, 1.0, 0.01, 30.0]), st.integers(2, 20))
def test_fuzz(ranker: LabelRanker, stream: dict[str, Any], scale: float, batch: int) -> None:
    """For any parameters and any stream, the invariants hold."""
    items = [item._replace(x=scale * item.x) for item in random_stream(**stream)]
    largest = max(2.0, *(np.abs(item.x).max() for item in items))
    before = 0.0
    for start in range(0, len(items), batch):
        part = items[start : start + batch]
        if not any(item.weight for item in part):
            continue
        scores = feed(ranker, part, stream["n_labels"])
        assert np.isfinite(scores).all()
        assert_sound(ranker, before, largest)
        before = ranker.certificate_.dual
    X = np.array([item.x for item in items])
    if ranker.__sklearn_is_fitted__():
        best = ranker.rank(X, 1)[:, 0]
        np.testing.assert_array_equal(best, ranker.decision_function(X).argmax(axis=1))
