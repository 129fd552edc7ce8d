"""LIBLINEAR and LIBSVM through scikit-learn, one label against the rest, and M3L beside them.

Seconds are of the processor, one thread. A peer trains a sample of the labels, of all frequencies,
and its seconds are scaled up to all of them. How near to the optimum it came is its relative
duality gap, of its own problem (LIBSVM's has a bias); LIBLINEAR gives no dual solution, so that its
objective is held against a lower bound of ours. M3L trains all labels, at tolerances from loose to
tight, and the first counts whose gap is not above the peer's.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC, LinearSVC

from experiments.p4.sets import Part
from tagalong import M3LClassifier

Array = npt.NDArray[Any]

C = 1.0
"""Of M3L; a support vector machine's is twice that."""
LIBLINEAR_EPS, LIBSVM_EPS = 0.1, 1e-3
"""What the two stop at by default; the paper names no tolerances."""
GAMMA = {"animals": 1.0, "rcv1": 1.0, "tmc2007": 1.0, "mediamill": 5.0}
"""Of the RBF kernel on rows of unit length; the paper gives none."""
LOOSEST, TIGHTEST = 1.0, 1e-4
CACHE = 200
"""Megabytes for kernel products, on both sides: LIBSVM's default in scikit-learn."""
SHORTEST = 1e-6
"""Seconds that any work takes at least: reports divide by seconds, and clocks have a grain."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds, never less than ``SHORTEST``, and what came out."""
    began = time.process_time()
    found = work()
    return max(time.process_time() - began, SHORTEST), found


def sample_of(Y: Array, count: int | None) -> Array:
    """Return labels of all frequencies that are neither in no row nor in all."""
    counts = Y.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    order = order[(counts[order] > 0) & (counts[order] < len(Y))]
    if count is None or count >= len(order):
        return np.asarray(order)
    return np.asarray(order[np.linspace(0, len(order) - 1, count).astype(int)])


def head(part: Part, rows: int) -> Part:
    """Return the first rows, with the labels that a classifier can be trained for."""
    X, Y = part.X[:rows], part.Y[:rows]
    return Part(X, Y[:, (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)])


def m3l(part: Part, **settings: Any) -> M3LClassifier:
    """Return a fitted model; one that was stopped by ``max_iter`` is as good as asked for."""
    settings = {"C": C, "random_state": 0, "cache_size": CACHE, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return M3LClassifier(**settings).fit(part.X, part.Y)


def gap_of(model: M3LClassifier) -> float:
    """Return the duality gap in relation to the dual value."""
    return model.duality_gap_ / model.dual_objective_


def until(part: Part, wanted: float, **settings: Any) -> tuple[float, float, float]:
    """Return seconds, gap and tolerance of the first fit whose gap is as small as wanted.

    The gap falls about as the tolerance does: where it is far off, several steps are left out.
    """
    tol = LOOSEST
    while True:
        seconds, model = timed(lambda: m3l(part, tol=tol, **settings))  # noqa: B023
        if gap_of(model) <= wanted or tol < TIGHTEST:
            return seconds, gap_of(model), tol
        tol *= min(0.5, max(0.125, wanted / gap_of(model)))


def liblinear(part: Part, labels: Array) -> tuple[float, float]:
    """Return seconds of these labels, and how far above the optimum their objective is."""
    seconds, reached = 0.0, 0.0
    wide = part.X.astype(np.float64)
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
        own, _ = timed(lambda: peer.fit(wide, y))  # noqa: B023
        seconds += own
        w = peer.coef_[0]
        reached += w @ w / 2 + 2 * C * np.maximum(0, 1 - y * (wide @ w)).sum()
    bound = m3l(Part(part.X, part.Y[:, labels]), tol=2e-3, max_iter=5000).dual_objective_
    return seconds, float(reached / bound - 1)


def libsvm(part: Part, label: int, kernel: str, gamma: float, eps: float) -> dict[str, float]:
    """Return seconds, iterations, dual value and relative gap of one label."""
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
