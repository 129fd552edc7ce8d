"""decision_function multiplies by coef_, dense or sparse."""

from typing import Literal

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import LabelRanker
from tagalong.online import weights

RNG = np.random.default_rng(3)
X = RNG.random((60, 7)) * (RNG.random((60, 7)) < 0.6)
Y = RNG.random((60, 4)) < 0.4


@pytest.mark.parametrize("geometry", ["euclidean", "adaptive", "entropic"])
@pytest.mark.parametrize("average", ["auto", False])
def test_scores_are_products_with_coef(geometry: str, average: bool | Literal["auto"]) -> None:
    ranker = LabelRanker(
        geometry=geometry, average=average, constant=0, normalize=False, dtype="float64"
    ).fit(X, Y)
    assert ranker.coef_.shape == (4, 7)
    np.testing.assert_allclose(ranker.decision_function(X), X @ ranker.coef_.T, atol=1e-12)


def test_a_large_coef_is_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = LabelRanker(update="single").fit(X, Y)
    dense = ranker.coef_
    monkeypatch.setattr(weights, "MAX_DENSE_ENTRIES", 10)
    assert isinstance(ranker.coef_, sp.csr_array)
    np.testing.assert_array_equal(ranker.coef_.toarray(), dense)


def test_a_large_entropic_coef_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = LabelRanker(geometry="entropic", n_features=7).fit(X[:2], Y[:2])
    monkeypatch.setattr(weights, "MAX_DENSE_ENTRIES", 10)
    with pytest.raises(ValueError, match="coef_ would have 28 entries"):
        _ = ranker.coef_
