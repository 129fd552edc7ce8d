"""The duality gaps and label samples of the M3L benchmark."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmarks import m3l, m3l_constant, m3l_schedule
from benchmarks.liblinear import Array, linear_svc
from tagalong import _native as core
from tagalong.batch.m3l.kernels import Kernel
from tests.batch.problems import data
from tests.weights import dense_coef


@pytest.fixture
def problem() -> m3l.Dataset:
    return m3l.Dataset(*data(0, rows=80, labels=6))


def test_the_gap_of_linear_svc_closes_around_our_optimum(
    problem: m3l.Dataset, capfd: pytest.CaptureFixture[str]
) -> None:
    model = m3l.fit(problem, tol=1e-3, max_iter=5000)
    signs = 2 * problem.Y.T - 1

    def value(weights: Iterable[Array]) -> float:
        return sum(m3l.primal(problem.X, y, w) for y, w in zip(signs, weights, strict=True))

    primal, dual_optimum = value(dense_coef(model).astype(float)), model.dual_objective_
    assert primal - dual_optimum == pytest.approx(model.duality_gap_, abs=1e-3)
    gaps = []
    for eps in (0.5, 1e-6):
        peers = [linear_svc(problem.X, y, eps) for y in signs]
        reached, dual = value([peer.weights for peer in peers]), sum(peer.dual for peer in peers)
        assert dual <= primal + 1e-5 * dual_optimum
        assert reached >= dual_optimum * (1 - 1e-5)
        gaps.append((reached - dual) / dual_optimum)
    assert gaps[1] < 1e-4 < gaps[0]
    assert capfd.readouterr().out == ""


def test_the_gap_of_svc_closes_with_its_tolerance(problem: m3l.Dataset) -> None:
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
    assert m3l.spread_sample(Y, 3).tolist() == [29, 15, 0]
    assert len(m3l.spread_sample(Y, 50)) == 30


def test_measures_of_the_constant_feature() -> None:
    truth = np.array([[1.0, 0, 0, 0, 1], [0, 1, 0, 0, 0]])
    scores = np.array([[0.5, 0.4, -1, -2, -0.1], [0.2, -0.1, -3, -4, -5]])
    # Right labels are at places 1 and 3, and at place 2. One of three predicted labels is right.
    found = m3l_constant.measures(truth, scores)
    assert found == ["0.500", "0.500", "0.300", f"{(5 / 6 + 1 / 2) / 2:.3f}", f"{2 / 6:.3f}"]


def test_every_schedule_reaches_the_optimum(problem: m3l.Dataset) -> None:
    """Other numbers of passes and steps are solved alike; they take another way."""
    data = m3l.Dataset(sp.csr_matrix(problem.X), problem.Y)
    usual = m3l.fit(data, tol=1e-3).dual_objective_
    found = {
        choice: m3l_schedule.solve(data, 1e-3, *choice).summary for choice in m3l_schedule.CHOICES
    }
    assert m3l_schedule.CHOICES[0] == (75, 40)
    assert found[75, 40].dual_objective == usual
    for summary in found.values():
        assert summary.converged
        assert summary.dual_objective == pytest.approx(usual, rel=1e-3)
    assert len({summary.passes for summary in found.values()}) > 1


@pytest.mark.parametrize("numbers", [{"coordinate_passes": 0}, {"cg_steps": -1}])
def test_impossible_schedules_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="coordinate_passes must be at least 1, cg_steps"):
        core.M3LSettings(tolerance=0.1, most_passes=1, threads=1, seed=0, cache_bytes=1, **numbers)
