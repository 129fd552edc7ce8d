"""After a million rounds, weights are finite and running sums are exact."""

from typing import Any

import numpy as np
import pytest

from tagalong import Predtron
from tests.contract.bits import native_of
from tests.reference.predtron import exponents
from tests.weights import dense_coef


@pytest.mark.long
@pytest.mark.parametrize("problem", ["multiclass", "label-ranking", "multilabel"])
@pytest.mark.parametrize("norm", ["l2", "l1", "group"])
@pytest.mark.parametrize("parameters", [{}, {"step": 1.0}, {"update": "loss"}], ids=str)
def test_weights_stay_finite_over_a_million_rounds(
    problem: str, norm: str, parameters: dict[str, Any]
) -> None:
    """Random targets: every round may be a mistake."""
    rng = np.random.default_rng(0)
    model = Predtron(problem, norm, **parameters)
    for _ in range(100):
        X = rng.normal(size=(10_000, 5))
        Y = np.eye(4, dtype=int)[rng.integers(0, 4, 10_000)]
        model.partial_fit(X, Y)
    assert model.certificate_.rounds == 1_000_000
    assert model.certificate_.mistakes > 300_000
    assert np.isfinite(dense_coef(model)).all()
    assert np.isfinite(model.decision_function(X)).all()
    if norm == "l1":
        arrays = native_of(model).state()["arrays"]
        theta = arrays["theta"].astype(float)
        _, s = exponents(20)
        size = (np.abs(theta) ** s).sum() ** (1 / s)
        expected = theta * (np.abs(theta) / size) ** (s - 2)
        found = dense_coef(model).T[arrays["features"]]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max())
