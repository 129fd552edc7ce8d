"""From data and parameters to a solved problem: what is between M3LClassifier and the solvers."""

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
from tagalong.batch.m3l.kernels import Kernel
from tagalong.batch.m3l.losses import a_label, costs_of
from tagalong.batch.m3l.matrices import as_dense, is_sparse
from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.batch.m3l.priors import checked_prior, cooccurrence_prior
from tagalong.learning.examples import as_matrix
from tagalong.learning.labels import Labels, Targets

__all__ = ["Trained", "problem_of", "solve_kernel", "solve_linear", "threads_of"]

Array = npt.NDArray[Any]

# Below this tolerance the weights are kept in double precision while they are found.
SINGLE_PRECISION_UNTIL = 1e-4
SECONDS_BETWEEN_LINES = 2.0
# How far a precomputed kernel may be from symmetric, in relation to its largest entry.
SYMMETRY = 1e-5


@dataclass(frozen=True)
class Trained:
    """What a solver has found.

    Parameters
    ----------
    model : LinearModel or KernelModel
        What predicts.
    dual : array
        The dual variables: in blocks if labels have places, else (rows, labels).
    place : array or None
        Where each label is in the blocks.
    figures : M3LLinearSolution or M3LKernelSolution
        Dual objective, duality gap, violation, passes; whether it converged or was stopped.
    """

    model: LinearModel | KernelModel
    dual: Array
    place: Array | None
    figures: core.M3LLinearSolution | core.M3LKernelSolution


def problem_of(
    estimator: Any, labels: Labels, targets: Targets, weights: npt.NDArray[np.float64] | None
) -> core.M3LProblem:
    """Return the problem that an estimator's parameters make of targets; ValueError if none."""
    relevant, unknown = targets.relevant, targets.unknown
    class_weight = estimator.class_weight
    if targets.kind == "single" and isinstance(class_weight, Mapping):
        # As scikit-learn has it: a row counts as its class does, for all labels.
        by_class = a_label(class_weight, "class_weight", labels)[relevant.indices]
        weights = by_class if weights is None else weights * by_class
        class_weight = None
    costs = costs_of(estimator.loss, class_weight, estimator.C, labels, relevant, unknown)
    R = _prior_of(estimator.prior, labels, targets)
    return core.M3LProblem(
        relevant=relevant,
        unknown=unknown,
        margin_yes=costs.margin_yes,
        margin_no=costs.margin_no,
        bound_yes=costs.bound_yes,
        bound_no=costs.bound_no,
        row_weight=weights,
        prior=None if R is None else np.ascontiguousarray(R).ravel(),
        tied=costs.tied,
    )


def _prior_of(prior: Any, labels: Labels, targets: Targets) -> npt.NDArray[np.float64] | None:
    if prior is None:
        return None
    if not isinstance(prior, str):
        return checked_prior(prior, len(labels))
    parameters.choice(prior, "prior", ("cooccurrence",))
    rows = targets.relevant
    ones = np.ones(len(rows.indices))
    Y = sp.csr_array((ones, rows.indices, rows.indptr), shape=(len(targets), len(labels)))
    return cooccurrence_prior(Y.T @ Y)


def solve_linear(
    X: Any, problem: core.M3LProblem, settings: core.M3LSettings, start: Array | None, verbose: bool
) -> Trained:
    """Solve for the weights of features."""
    single = settings.tolerance >= SINGLE_PRECISION_UNTIL
    solve: Any = core.m3l_linear32 if single else core.m3l_linear64
    if start is not None:
        start = np.ascontiguousarray(start, dtype=np.float32 if single else np.float64)
    progress = _progress(problem.labels) if verbose else None
    found = solve(as_matrix(X), problem, settings, start=start, progress=progress)
    model = LinearModel(found.features, found.weights, X.shape[1])
    return Trained(model, found.dual, found.place, found)


def solve_kernel(
    X: Any,
    kernel: Kernel,
    problem: core.M3LProblem,
    settings: core.M3LSettings,
    start: Array | None,
    verbose: bool,
) -> Trained:
    """Solve for the coefficients of support vectors; only those are kept."""
    given = kernel.name == "precomputed"
    if given:
        X = _square(X)

    labels = problem.labels
    progress = _progress(labels) if verbose else None
    if kernel.name == "rbf" and not is_sparse(X):
        found = core.m3l_rbf(
            as_matrix(X), kernel.gamma, problem, settings, start=start, progress=progress
        )
    else:
        products = _products_of(kernel, X)
        diagonal = _diagonal_of(kernel, X)
        found = core.m3l_kernel(
            diagonal, problem, settings, products, start=start, progress=progress
        )
    support = np.flatnonzero(found.dual.any(axis=1))
    dual = found.dual[support]
    prior = problem.prior
    R = np.eye(labels) if prior is None else prior.reshape(labels, labels)
    vectors = None if given else X[support]
    return Trained(KernelModel(kernel, support, vectors, 2 * dual @ R), dual, None, found)


def _products_of(kernel: Kernel, X: Any) -> Callable[[Array, Array | None], Array]:
    """Return a function of the numbers of some rows and of others, None for all, that compares."""
    with_all = kernel.with_rows_of(X)

    def between(some: Array, others: Array | None) -> npt.NDArray[np.float32]:
        if others is None:
            found = with_all(X[some])
        elif kernel.name == "precomputed":
            found = X[np.ix_(some, others)]
        else:
            found = kernel.between(X[some], X[others])
        return np.ascontiguousarray(found, dtype=np.float32)

    return between


def _diagonal_of(kernel: Kernel, X: Any) -> npt.NDArray[np.float64]:
    """Return the product of each row with itself; ValueError for one that no kernel has."""
    diagonal = kernel.diagonal(X)
    if not np.isfinite(diagonal).all() or (diagonal < 0).any():
        row = int(np.argmin(np.where(np.isfinite(diagonal), diagonal, -np.inf)))
        raise ValueError(
            f"kernel: the product of row {row} with itself is {diagonal[row]:g}; it must be "
            "finite and not negative"
        )
    return diagonal


def threads_of(n_jobs: Any) -> int:
    """Return how many threads a number of jobs means: -1 is all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    jobs = parameters.integer(n_jobs, "n_jobs", -(2**31), 2**31 - 1)
    if jobs == 0:
        raise ValueError("n_jobs must not be 0: 1 for one thread, -1 for all processors")
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def _progress(labels: int) -> Callable[[int, int, float], None]:
    began = told = time.monotonic()

    def tell(done: int, passes: int, violation: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < SECONDS_BETWEEN_LINES:
            return
        told = now
        print(
            f"M3L: {now - began:.0f} s, {done} of {labels} labels done, {passes} passes, "
            f"largest projected derivative lately {violation:.3g}",
            file=sys.stderr,
            flush=True,
        )

    return tell


def _square(given: Any) -> Array:
    K = as_dense(given)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel must be square, got shape {K.shape}")
    odd = np.abs(K - K.T)
    if odd.max(initial=0.0) > SYMMETRY * np.abs(K).max(initial=0.0):
        row, column = np.unravel_index(int(odd.argmax()), odd.shape)
        raise ValueError(
            f"a precomputed kernel must be symmetric, but row {row}, column {column} is "
            f"{K[row, column]:g} and row {column}, column {row} is {K[column, row]:g}"
        )
    return K
