"""M3L without a prior, in parts: each task solves some of the labels, exactly as one machine would.

Without a prior the problem is a sum over labels. The linear solver computes sixteen labels at a
time; a part is a range of these blocks, and the solver gets the whole problem with the range. So
the blocks, the random orders and the starting points are those of the whole problem. The solver
for other kernels treats every label by itself; a part is a set of labels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from tagalong import _native as core
from tagalong.batch.m3l.models import KernelModel
from tagalong.batch.m3l.training import (
    Solution,
    Summary,
    Training,
    is_single_precision,
    kernel_solution,
    linear_model,
    solve_kernel,
)
from tagalong.distributed.environments import check_width
from tagalong.distributed.workers import Workers, run_tasks
from tagalong.learning.examples import as_matrix

__all__ = ["LabelSolver", "cut"]

Array = npt.NDArray[Any]
Part = tuple[int, int]

# A linear part starts with the solution for a label that is never relevant (rare labels start from
# it), so many parts repeat this work; few parts wait for the slowest.
LINEAR_PARTS_PER_WORKER = 2
# Every part of another kernel computes the kernel matrix.
KERNEL_PARTS_PER_WORKER = 1


@dataclass(frozen=True)
class LinearPart:
    """The solution of a range of blocks.

    Parameters
    ----------
    part : (int, int)
        The first block, and the one after the last.
    labels : array of int
        The labels of these blocks.
    features, weights, dual, place : array
        As in the native solution, but only the weights of the part's labels.
    statuses : array of shape (independent parts, 3)
        Dual value, gap and violation.
    passes : int
        The largest number of passes.
    """

    part: Part
    labels: Array
    features: Array
    weights: Array
    dual: Array
    place: Array
    statuses: Array
    passes: int


@dataclass(frozen=True)
class KernelPart:
    """The solution of some labels: the rows with a nonzero dual variable, and these variables."""

    part: Part
    support: Array
    dual: Array
    summary: Summary


class LabelSolver:
    """A solver for ``M3LClassifier.fit_with`` that divides the labels among workers.

    Parameters
    ----------
    workers : Workers
        The workers.

    Attributes
    ----------
    parts : int
        Number of parts that were solved.
    repeated : int
        How often a part was solved again because its worker was lost.
    converged : bool
        Whether all labels have converged.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.parts = 0
        self.repeated = 0
        self.converged = False

    def __call__(self, training: Training) -> Solution:
        """Solve a problem without a prior."""
        training.problem()  # raises the errors of wrong parameters before anything is sent
        labels = len(training.labels)
        if training.estimator.kernel == "linear":
            blocks = -(-labels // core.M3L_LANES)
            linear = self._solve(training, solve_blocks, blocks, LINEAR_PARTS_PER_WORKER)
            solution = joined_blocks(training, linear)
        else:
            parts = self._solve(training, solve_labels, labels, KERNEL_PARTS_PER_WORKER)
            solution = joined_labels(training, parts)
        self.converged = solution.summary.converged
        return solution

    def _solve(
        self, training: Training, function: Callable[..., Any], units: int, per_worker: int
    ) -> list[Any]:
        """Solve parts of the blocks or labels; return their solutions in order."""
        # A fitted estimator would take its old model along.
        shared = self._workers.send(replace(training, estimator=clone(training.estimator)))
        parts = cut(units, per_worker * max(1, self._workers.count))
        found = {}
        for outcome in run_tasks(self._workers, function, parts, shared, core.vector_width()):
            found[outcome.task] = outcome.result
            self.repeated += outcome.repeated
        self.parts = len(parts)
        return [found[part] for part in parts]


def cut(units: int, parts: int) -> list[Part]:
    """Cut a range of numbers into nearly equal parts, none of them empty."""
    borders = np.linspace(0, units, min(parts, units) + 1).round().astype(int).tolist()
    return list(pairwise(borders))


def solve_blocks(part: Part, training: Training, width: str) -> LinearPart:
    """Solve the labels of a range of blocks, on a worker with the client's vector width."""
    check_width(width)
    settings = training.settings
    single = is_single_precision(settings)
    start = training.start
    if start is not None:
        start = np.ascontiguousarray(start, dtype=np.float32 if single else np.float64)
    native_solve: Any = core.m3l_linear32 if single else core.m3l_linear64
    native = native_solve(
        as_matrix(training.rows), training.problem(), settings, start=start, blocks=part
    )
    block = native.place // core.M3L_LANES
    labels = np.flatnonzero((part[0] <= block) & (block < part[1]))
    return LinearPart(
        part,
        labels,
        native.features,
        native.weights[:, labels],
        native.dual,
        native.place,
        native.parts,
        native.passes,
    )


def joined_blocks(training: Training, parts: list[LinearPart]) -> Solution:
    """Return the solution of the whole problem."""
    first = parts[0]
    weights = np.empty((len(first.features), len(training.labels)), dtype=first.weights.dtype)
    for each in parts:
        weights[:, each.labels] = each.weights
    # The solver adds up its parts in this order; the sum has the same bits.
    dual_value = gap = violation = 0.0
    for value, part_gap, part_violation in np.concatenate([each.statuses for each in parts]):
        dual_value += float(value)
        gap += float(part_gap)
        violation = max(violation, float(part_violation))
    summary = Summary(
        dual_objective=dual_value,
        duality_gap=gap,
        violation=violation,
        passes=max(each.passes for each in parts),
        converged=violation < training.settings.tolerance,
    )
    columns = training.rows.shape[1]
    model = linear_model(first.features, weights, columns, training.settings.constant)
    dual = np.concatenate([each.dual for each in parts])
    return Solution(model, dual, first.place, summary)


def solve_labels(part: Part, training: Training, width: str) -> KernelPart:
    """Solve some of the labels with a kernel, on a worker with the client's vector width."""
    check_width(width)
    which = np.arange(*part)
    start = None if training.start is None else np.ascontiguousarray(training.start[:, which])
    problem = training.problem_of(which)
    settings, kernel = training.settings, training.kernel()
    solution = solve_kernel(training.rows, kernel, problem, settings, start, verbose=False)
    found = solution.summary
    summary = Summary(
        found.dual_objective, found.duality_gap, found.violation, found.passes, found.converged
    )
    model = solution.model
    assert isinstance(model, KernelModel)
    return KernelPart(part, model.support, solution.dual, summary)


def joined_labels(training: Training, parts: list[KernelPart]) -> Solution:
    """Return the solution of the whole problem."""
    dual = np.zeros((training.rows.shape[0], len(training.labels)))
    for each in parts:
        dual[each.support, each.part[0] : each.part[1]] = each.dual
    summaries = [each.summary for each in parts]
    summary = Summary(
        dual_objective=sum(each.dual_objective for each in summaries),
        duality_gap=sum(each.duality_gap for each in summaries),
        violation=max(each.violation for each in summaries),
        passes=sum(each.passes for each in summaries),
        converged=all(each.converged for each in summaries),
    )
    return kernel_solution(training.rows, training.kernel(), dual, None, summary)
