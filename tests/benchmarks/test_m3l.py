"""What the benchmark of M3L measures by."""

import numpy as np
import pytest
from sklearn.svm import SVC

from benchmarks import m3l
from tagalong.batch.kernels import Kernel
from tests.batch.problems import data


@pytest.fixture
def problem() -> m3l.Set:
    return m3l.Set(*data(0, rows=80, labels=6))


def test_lower_bounds_sum_to_the_dual_and_lie_below_the_primal(problem: m3l.Set) -> None:
    model = m3l.fit(problem, tol=1e-3, max_iter=5000)
    bounds = m3l.lower_bounds(problem, model)
    assert bounds.sum() == pytest.approx(model.dual_objective_, rel=1e-5)
    values = [
        m3l.primal(problem.X, 2 * problem.Y[:, k] - 1, model.coef_[k].astype(float))
        for k in range(6)
    ]
    gap = sum(values) - bounds.sum()
    assert gap == pytest.approx(model.duality_gap_, abs=1e-3)
    assert (values >= bounds - 1e-4).all()
    peer = m3l.linear_svc
    peer.seconds = 0.0
    reached = m3l.primal(problem.X, 2 * problem.Y[:, 0] - 1, peer(problem.X, problem.Y[:, 0], 1e-6))
    assert reached == pytest.approx(bounds[0], rel=1e-3)


def test_the_gap_of_svc_closes_with_its_tolerance(problem: m3l.Set) -> None:
    gaps = [
        m3l.svc_gap(
            problem,
            0,
            SVC(C=2, gamma=0.1, tol=tol).fit(problem.X, problem.Y[:, 0]),
            Kernel("rbf", 0.1),
        )
        for tol in (0.5, 1e-6)
    ]
    assert -1e-9 < gaps[1] < 1e-5 < gaps[0]


def test_a_sample_has_labels_of_all_frequencies() -> None:
    Y = (np.arange(100)[:, None] < np.arange(1, 31)).astype(float)
    assert m3l.sample_of(Y, 3).tolist() == [29, 15, 0]
    assert len(m3l.sample_of(Y, 50)) == 30
