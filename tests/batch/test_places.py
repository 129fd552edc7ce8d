"""Tests of the confidence of batch models in the first places of their rankings."""

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import M3LClassifier
from tagalong.learning.examples import SparseRows

RNG = np.random.default_rng(0)
COLUMNS = 12


def rows(count: int) -> sp.csr_array:
    """Rows in which the last two of the columns never occur."""
    X = RNG.normal(size=(count, COLUMNS)) * (RNG.random((count, COLUMNS)) < 0.5)
    X[:, -2:] = 0
    return sp.csr_array(X)


X = rows(120)
Y = (X.toarray()[:, :3] + 0.5 * RNG.normal(size=(120, 3))) > 0.2
ASKED = [
    (np.array([0, 3], np.int32), np.array([1.0, -1.0])),
    (np.array([1, 10, 400], np.int32), np.array([1.0, 1.0, 1.0])),
    (np.array([11, 99], np.int32), np.array([1.0, 1.0])),
]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("dense", [False, True])
def test_confidence_of_places(kernel: str, dense: bool) -> None:
    model = M3LClassifier(kernel=kernel, max_iter=2000, tol=0.1)
    model.fit(X.toarray() if dense else X, Y)
    asked = SparseRows.of_pairs(ASKED)
    before = model.find_places(asked)
    assert not before.whole.any()
    assert not before.assured.any()
    fresh = rows(60)
    model.calibrate(fresh.toarray() if dense else fresh, fresh.toarray()[:, :3] > 0.2)
    places = model.find_places(asked, k=2)
    assert places.known.tolist() == [2, 1, 0]
    assert (places.assured[:2] == places.probabilities[:2]).all()
    assert places.probabilities.all()
    assert not places.assured[2].any()
    for pair, whole in zip(ASKED, places.whole, strict=True):
        scores, cutoff = model.score_one(pair)
        chances = model.probabilities(scores)
        product = np.prod(np.where(scores >= cutoff, chances, 1 - chances))
        assert whole == pytest.approx(product)
        assert 0 < whole < 1
