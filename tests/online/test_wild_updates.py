"""A single update on numbers of any magnitude is feasible, for every rule and geometry."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tagalong import LabelRanker
from tagalong.learning.update_rules import LABEL_RULES
from tests.online.streams import arrays

CASES = [
    (update, geometry)
    for update, rule in LABEL_RULES.items()
    for geometry in ("euclidean", "adaptive", "entropic")
    if geometry != "entropic" or rule.entropic
]
K = 4
wild = st.floats(-1e100, 1e100, allow_nan=False) | st.floats(-2, 2)
positive = st.floats(1e-9, 1e9)


def last_theta(ranker: LabelRanker) -> npt.NDArray[np.float64]:
    """Return the dual vectors at the last feature, (K,); zero before its first update."""
    state = arrays(ranker)
    (row,) = np.nonzero(state["features"] == 2)
    return np.asarray(state["theta"][row[0]]) if len(row) else np.zeros(K)


@pytest.mark.parametrize(("update", "geometry"), CASES)
@given(
    rows=st.lists(st.tuples(wild, wild), min_size=1, max_size=3),
    labels=st.lists(st.sets(st.integers(0, K - 1), min_size=1), min_size=3, max_size=3),
    C=positive,
    margin=positive,
)
def test_amounts_are_within_the_budget(
    update: str,
    geometry: str,
    rows: list[tuple[float, float]],
    labels: list[set[int]],
    C: float,
    margin: float,
) -> None:
    """The last feature is 1 in every row, so there theta moves by the coefficients alpha."""
    plain: dict[str, Any] = {"normalize": False, "constant": 0, "average": False, "n_features": 3}
    ranker = LabelRanker(update, geometry, C=C, margin=margin, dtype="float64", **plain)
    ranker.add_labels(range(K))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for row, relevant in zip(rows, labels, strict=False):
            before = last_theta(ranker)
            ranker.learn_one((np.arange(3), [*row, 1.0]), relevant)
            alpha = last_theta(ranker) - before
            up, down = alpha[list(relevant)], np.delete(alpha, list(relevant))
            assert (up >= 0).all()
            assert (down <= 0).all()
            assert up.sum() <= C * (1 + 1e-9)
            assert up.sum() == pytest.approx(-down.sum(), rel=1e-6, abs=1e-9 * C)
    assert np.isfinite(ranker.certificate_.dual)
    assert np.isfinite(ranker.score_one((np.arange(3), [1.0, 1.0, 1.0]))[0]).all()
