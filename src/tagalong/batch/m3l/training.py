"""Conversion of M3LClassifier's inputs to a native problem, and of the solution to a model."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core
from tagalong import parameters
from tagalong.batch.m3l.kernels import Kernel, make_kernel
from tagalong.batch.m3l.losses import Costs, LabelCounts, make_costs, per_label
from tagalong.batch.m3l.matrices import as_dense, is_sparse
from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.batch.m3l.priors import checked_prior, cooccurrence_prior
from tagalong.learning.examples import as_matrix
from tagalong.learning.input_types import MatrixLike, Rows
from tagalong.learning.labels import Labels, Targets

__all__ = [
    "Solution",
    "Summary",
    "Training",
    "by_label",
    "indicator_of",
    "is_single_precision",
    "kernel_solution",
    "linear_model",
    "make_problem",
    "native_problem",
    "row_weights",
    "solve",
    "solve_kernel",
    "solve_linear",
    "thread_count",
]

Array = npt.NDArray[Any]

# The linear solver uses single precision down to this tolerance, double precision below it.
SINGLE_PRECISION_UNTIL = 1e-4
SECONDS_BETWEEN_LINES = 2.0
# Tolerated asymmetry of a precomputed kernel, relative to its largest entry.
SYMMETRY_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Training:
    """The validated input of a solver.

    Parameters
    ----------
    estimator : M3LClassifier
        The estimator, for its parameters.
    rows : array or CSR matrix
        Examples.
    labels : Labels
        All labels.
    targets : Targets
        Relevant and unknown labels per row.
    weights : array of shape (rows,), or None
        Sample weights.
    cost : array of shape (rows, labels), or None
        Factors on the margins.
    settings : M3LSettings
        The settings of the native solvers.
    start : array of shape (rows, labels), or None
        Dual variables of a warm start.
    """

    estimator: Any
    rows: Rows
    labels: Labels
    targets: Targets
    weights: npt.NDArray[np.float64] | None
    cost: npt.NDArray[np.float64] | None
    settings: core.M3LSettings
    start: Array | None

    def problem(self) -> core.M3LProblem:
        """Return the native problem; raise ValueError for an invalid parameter."""
        return make_problem(self.estimator, self.labels, self.targets, self.weights, self.cost)

    def problem_of(self, which: npt.NDArray[np.intp]) -> core.M3LProblem:
        """Return the native problem of some of the labels, which no prior couples with others."""
        own = self.estimator
        counts = LabelCounts.of(self.targets.relevant, self.targets.unknown, len(self.labels))
        class_weight, weights = row_weights(
            own.class_weight, self.labels, self.targets, self.weights
        )
        costs = make_costs(own.loss, class_weight, own.C, self.labels, counts)
        cost = None if self.cost is None else np.ascontiguousarray(self.cost[:, which])
        return native_problem(self.targets.only(which), costs.only(which), weights, None, cost)

    def kernel(self) -> Kernel:
        """Return the kernel of a problem that is not linear."""
        own = self.estimator
        return make_kernel(own.kernel, own.gamma, own.degree, own.coef0, self.rows)


@dataclass(frozen=True)
class Summary:
    """Figures of a solution that several solvers have computed together.

    Its fields are those of the native solutions.
    """

    dual_objective: float
    duality_gap: float
    violation: float
    passes: int
    converged: bool
    stopped: bool = False


@dataclass(frozen=True)
class Solution:
    """The solution of a solver.

    Parameters
    ----------
    model : LinearModel or KernelModel
        The weights or support vectors.
    dual : array
        The dual variables: (blocks, rows, lanes) if ``place`` is given, else (rows, labels).
    place : array or None
        The position of each label in the blocks: block number times lanes plus lane number.
    summary : M3LLinearSolution, M3LKernelSolution or Summary
        Dual objective, duality gap, violation, passes; whether it converged or was stopped.
    """

    model: LinearModel | KernelModel
    dual: Array
    place: Array | None
    summary: core.M3LLinearSolution | core.M3LKernelSolution | Summary


def solve(training: Training) -> Solution:
    """Solve a problem on this machine."""
    problem = training.problem()
    verbose = bool(training.estimator.verbose)
    if training.estimator.kernel == "linear":
        return solve_linear(training.rows, problem, training.settings, training.start, verbose)
    kernel = training.kernel()
    return solve_kernel(training.rows, kernel, problem, training.settings, training.start, verbose)


def make_problem(
    estimator: Any,
    labels: Labels,
    targets: Targets,
    weights: npt.NDArray[np.float64] | None,
    cost: npt.NDArray[np.float64] | None = None,
) -> core.M3LProblem:
    """Return the native problem for targets; raise ValueError for an invalid parameter.

    Parameters
    ----------
    estimator : M3LClassifier
        The estimator; its ``C``, ``loss``, ``class_weight`` and ``prior`` define the problem.
    labels : Labels
        All labels.
    targets : Targets
        Relevant and unknown labels per row.
    weights : array of shape (rows,), optional
        Sample weights.
    cost : array of shape (rows, labels), optional
        Factors on the margins.
    """
    counts = LabelCounts.of(targets.relevant, targets.unknown, len(labels))
    class_weight, weights = row_weights(estimator.class_weight, labels, targets, weights)
    costs = make_costs(estimator.loss, class_weight, estimator.C, labels, counts)
    R = _make_prior(estimator.prior, labels, targets)
    return native_problem(targets, costs, weights, R, cost)


def row_weights(
    class_weight: Any, labels: Labels, targets: Targets, weights: npt.NDArray[np.float64] | None
) -> tuple[Any, npt.NDArray[np.float64] | None]:
    """Return what remains of ``class_weight``, and the weights of the rows.

    With one label per row, as in scikit-learn, the weight of a row's class is the weight of the
    row, for all labels.
    """
    if targets.kind != "single" or not isinstance(class_weight, Mapping):
        return class_weight, weights
    by_class = per_label(class_weight, "class_weight", labels)[targets.relevant.indices]
    return None, by_class if weights is None else weights * by_class


def native_problem(
    targets: Targets,
    costs: Costs,
    weights: npt.NDArray[np.float64] | None,
    R: npt.NDArray[np.float64] | None,
    cost: npt.NDArray[np.float64] | None = None,
) -> core.M3LProblem:
    """Return the native problem of targets, costs, sample weights, a prior and costs per row."""
    return core.M3LProblem(
        relevant=targets.relevant,
        unknown=targets.unknown,
        margin_yes=costs.margin_yes,
        margin_no=costs.margin_no,
        bound_yes=costs.bound_yes,
        bound_no=costs.bound_no,
        row_weight=weights,
        prior=None if R is None else np.ascontiguousarray(R).ravel(),
        tied=costs.tied,
        cost=cost,
    )


def _make_prior(
    prior: str | MatrixLike | None, labels: Labels, targets: Targets
) -> npt.NDArray[np.float64] | None:
    if prior is None:
        return None
    if not isinstance(prior, str):
        return checked_prior(prior, len(labels))
    parameters.choice(prior, "prior", ("cooccurrence",))
    Y = indicator_of(targets, len(labels))
    return cooccurrence_prior(Y.T @ Y)


def indicator_of(targets: Targets, labels: int) -> sp.csr_array:
    """Return the relevant labels as an indicator of 0 and 1."""
    rows = targets.relevant
    ones = np.ones(len(rows.indices))
    return sp.csr_array((ones, rows.indices, rows.indptr), shape=(len(targets), labels))


def is_single_precision(settings: core.M3LSettings) -> bool:
    """Return whether the linear solver computes in single precision."""
    return settings.tolerance >= SINGLE_PRECISION_UNTIL


def solve_linear(
    X: Rows,
    problem: core.M3LProblem,
    settings: core.M3LSettings,
    start: Array | None,
    verbose: bool,
) -> Solution:
    """Solve for the weights of the linear kernel, with the constant feature of the settings."""
    single = is_single_precision(settings)
    native_solve: Any = core.m3l_linear32 if single else core.m3l_linear64
    if start is not None:
        start = np.ascontiguousarray(start, dtype=np.float32 if single else np.float64)
    progress = _progress_printer(problem.labels) if verbose else None
    native = native_solve(as_matrix(X), problem, settings, start=start, progress=progress)
    model = linear_model(native.features, native.weights, X.shape[1], settings.constant)
    return Solution(model, native.dual, native.place, native)


def linear_model(features: Array, weights: Array, columns: int, constant: float) -> LinearModel:
    """Return the model of weights, of which those of the constant feature, if any, are the last.

    Parameters
    ----------
    features : array of int
        The column of each row of weights, ascending; of the constant feature, `columns`.
    weights : array of shape (features, labels)
        The weights.
    columns : int
        Number of columns of the training data.
    constant : float
        The value of the constant feature; 0 for none.
    """
    if not constant:
        return LinearModel(features, weights, columns, None)
    intercept = (weights[-1] * constant).astype(weights.dtype)
    return LinearModel(features[:-1], weights[:-1], columns, intercept)


def by_label(dual: Array, place: Array) -> Array:
    """Return dual variables in blocks, (blocks, rows, lanes), as (rows, labels)."""
    lanes = dual.shape[2]
    out = np.empty((dual.shape[1], len(place)), dtype=dual.dtype)
    for label, at in enumerate(place):
        out[:, label] = dual[at // lanes, :, at % lanes]
    return out


def solve_kernel(
    X: Rows,
    kernel: Kernel,
    problem: core.M3LProblem,
    settings: core.M3LSettings,
    start: Array | None,
    verbose: bool,
) -> Solution:
    """Solve for the dual variables of a kernel; the solution keeps only the support vectors."""
    if kernel.name == "precomputed":
        X = _check_precomputed(X)
    labels = problem.labels
    progress = _progress_printer(labels) if verbose else None
    if kernel.name == "rbf" and not is_sparse(X):
        native = core.m3l_rbf(
            as_matrix(X), kernel.gamma, problem, settings, start=start, progress=progress
        )
    else:
        products = _product_function(kernel, X)
        diagonal = _checked_diagonal(kernel, X)
        native = core.m3l_kernel(
            diagonal, problem, settings, products, start=start, progress=progress
        )
    return kernel_solution(X, kernel, native.dual, problem.prior, native)


def kernel_solution(
    X: Rows,
    kernel: Kernel,
    dual: Array,
    prior: npt.NDArray[np.float64] | None,
    summary: core.M3LKernelSolution | Summary,
) -> Solution:
    """Return the solution that has these dual variables, (rows, labels)."""
    labels = dual.shape[1]
    support = np.flatnonzero(dual.any(axis=1))
    dual = dual[support]
    R = np.eye(labels) if prior is None else prior.reshape(labels, labels)
    vectors = None if kernel.name == "precomputed" else X[support]
    return Solution(KernelModel(kernel, support, vectors, 2 * dual @ R), dual, None, summary)


def _product_function(kernel: Kernel, X: Any) -> Callable[[Array, Array | None], Array]:
    """Return a function that computes the products of some rows of X with others.

    It takes two arrays of row numbers; None as the second one means all rows.
    """
    with_all_rows = kernel.with_rows_of(X)

    def between(rows: Array, other_rows: Array | None) -> npt.NDArray[np.float32]:
        if other_rows is None:
            products = with_all_rows(X[rows])
        elif kernel.name == "precomputed":
            products = X[np.ix_(rows, other_rows)]
        else:
            products = kernel.between(X[rows], X[other_rows])
        return np.ascontiguousarray(products, dtype=np.float32)

    return between


def _checked_diagonal(kernel: Kernel, X: Rows) -> npt.NDArray[np.float64]:
    """Return the product of each row with itself; raise ValueError if one is negative."""
    diagonal = kernel.diagonal(X)
    if not np.isfinite(diagonal).all() or (diagonal < 0).any():
        row = int(np.argmin(np.where(np.isfinite(diagonal), diagonal, -np.inf)))
        raise ValueError(
            f"kernel: the product of row {row} with itself is {diagonal[row]:g}; it must be "
            "finite and not negative"
        )
    return diagonal


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: -1 means all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    jobs = parameters.integer(n_jobs, "n_jobs", -(2**31), 2**31 - 1)
    if jobs == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one thread, -1 for all processors")
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def _progress_printer(labels: int) -> Callable[[int, int, float], None]:
    """Return a function that prints progress to standard error, at most every two seconds."""
    start = last_printed = time.monotonic()

    def print_progress(done: int, passes: int, violation: float) -> None:
        nonlocal last_printed
        now = time.monotonic()
        if now - last_printed < SECONDS_BETWEEN_LINES:
            return
        last_printed = now
        print(
            f"M3L: {now - start:.0f} s, {done} of {labels} labels done, {passes} passes, "
            f"largest projected derivative recently {violation:.3g}",
            file=sys.stderr,
            flush=True,
        )

    return print_progress


def _check_precomputed(X: Rows) -> Array:
    """Return a precomputed kernel as an array; raise ValueError unless square and symmetric."""
    K = as_dense(X)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel must be square, got shape {K.shape}")
    asymmetry = np.abs(K - K.T)
    if asymmetry.max(initial=0.0) > SYMMETRY_TOLERANCE * np.abs(K).max(initial=0.0):
        row, column = np.unravel_index(int(asymmetry.argmax()), asymmetry.shape)
        raise ValueError(
            f"a precomputed kernel must be symmetric, but row {row}, column {column} is "
            f"{K[row, column]:g} and row {column}, column {row} is {K[column, row]:g}"
        )
    return K
