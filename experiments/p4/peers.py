"""LIBLINEAR and LIBSVM (through scikit-learn, one-vs-rest) beside M3L.

Seconds are processor time of one thread. A peer trains a sample of labels of all frequencies, and
its seconds are scaled up to all labels. Its accuracy is the relative duality gap of its own problem
(LIBSVM's includes a bias). LIBLINEAR returns no dual solution, so its objective is compared with a
lower bound from M3L. M3L trains all labels with decreasing tolerances; the first model counts whose
gap is not larger than the peer's.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC, LinearSVC

from experiments.p4.sets import Part
from tagalong import M3LClassifier

Array = npt.NDArray[Any]
ResultT = TypeVar("ResultT")

C = 1.0
"""C of M3L; the equivalent C of a support vector machine is twice that."""
LIBLINEAR_EPS, LIBSVM_EPS = 0.1, 1e-3
"""Default tolerances of the two; the paper gives none."""
GAMMA = {"animals": 1.0, "rcv1": 1.0, "tmc2007": 1.0, "mediamill": 5.0}
"""γ of the RBF kernel on rows of unit length; the paper gives none."""
LOOSEST, TIGHTEST = 1.0, 1e-4
CACHE = 200
"""Megabytes for kernel products, for both solvers: the default of scikit-learn's SVC."""
SHORTEST = 1e-6
"""Lower limit of measured seconds: reports divide by them, and clocks have a resolution."""


def timed(work: Callable[[], ResultT]) -> tuple[float, ResultT]:
    """Return the processor seconds, at least ``SHORTEST``, and the result."""
    start = time.process_time()
    result = work()
    return max(time.process_time() - start, SHORTEST), result


def spread_sample(Y: Array, count: int | None) -> Array:
    """Return labels of all frequencies, without those of no row and those of all rows."""
    counts = Y.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    order = order[(counts[order] > 0) & (counts[order] < len(Y))]
    if count is None or count >= len(order):
        return np.asarray(order)
    return np.asarray(order[np.linspace(0, len(order) - 1, count).astype(int)])


def first_rows(part: Part, rows: int) -> Part:
    """Return the first rows, with the labels that have positive and negative rows there."""
    X, Y = part.X[:rows], part.Y[:rows]
    return Part(X, Y[:, (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)])


def m3l(part: Part, **settings: Any) -> M3LClassifier:
    """Return a fitted model, without a warning if ``max_iter`` stopped it."""
    settings = {"C": C, "random_state": 0, "cache_size": CACHE, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return M3LClassifier(**settings).fit(part.X, part.Y)


def relative_gap(model: M3LClassifier) -> float:
    """Return the duality gap divided by the dual value."""
    return model.duality_gap_ / model.dual_objective_


def fit_to_gap(part: Part, wanted: float, **settings: Any) -> tuple[float, float, float]:
    """Return seconds, gap and tolerance of the first fit whose gap is at most ``wanted``.

    The gap is about proportional to the tolerance, so a large gap allows larger steps.
    """
    tol = LOOSEST
    while True:
        seconds, model = timed(lambda: m3l(part, tol=tol, **settings))  # noqa: B023
        if relative_gap(model) <= wanted or tol < TIGHTEST:
            return seconds, relative_gap(model), tol
        tol *= min(0.5, max(0.125, wanted / relative_gap(model)))


def liblinear(part: Part, labels: Array) -> tuple[float, float]:
    """Return the seconds for these labels, and the relative excess of their objective."""
    seconds, objective = 0.0, 0.0
    X64 = part.X.astype(np.float64)
    for label in labels:
        y = 2 * part.Y[:, label] - 1
        peer = LinearSVC(
            C=2 * C,
            loss="hinge",
            tol=LIBLINEAR_EPS,
            fit_intercept=False,
            max_iter=10**6,
            random_state=0,
        )
        label_seconds, _ = timed(lambda: peer.fit(X64, y))  # noqa: B023
        seconds += label_seconds
        w = peer.coef_[0]
        objective += w @ w / 2 + 2 * C * np.maximum(0, 1 - y * (X64 @ w)).sum()
    bound = m3l(Part(part.X, part.Y[:, labels]), tol=2e-3, max_iter=5000).dual_objective_
    return seconds, float(objective / bound - 1)


def libsvm(part: Part, label: int, kernel: str, gamma: float, eps: float) -> dict[str, float]:
    """Return seconds, iterations, dual value and relative gap for one label."""
    y = 2 * part.Y[:, label] - 1
    peer = SVC(C=2 * C, kernel=kernel, gamma=gamma, tol=eps, cache_size=CACHE)
    seconds, _ = timed(lambda: peer.fit(part.X, y))
    kept: Any = peer.dual_coef_
    signed = np.asarray(kept.toarray() if hasattr(kept, "toarray") else kept)[0]
    support = part.X[peer.support_]
    products = (
        rbf_kernel(part.X, support, gamma) if kernel == "rbf" else linear_kernel(part.X, support)
    )
    scores = products @ signed
    squared = float(signed @ scores[peer.support_])
    slacks = np.maximum(0, 1 - y * (scores + peer.intercept_[0])).sum()
    dual = float(np.abs(signed).sum() - squared / 2)
    return {
        "seconds": seconds,
        "iterations": int(np.sum(peer.n_iter_)),
        "dual": dual,
        "gap": float((squared / 2 + 2 * C * slacks - dual) / dual),
    }
