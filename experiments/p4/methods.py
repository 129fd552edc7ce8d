"""The methods of P4's Table 3: M3L, and baselines from scikit-learn and this library.

Each takes training rows and labels, test rows and a setting, and returns 0/1 predictions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from experiments.p4 import peers, sets
from tagalong import LabelRanker

Array = npt.NDArray[Any]

CS = [0.03, 0.1, 0.3, 1.0, 3.0]
NEIGHBOURS = 5
ROUNDS = 10
BOOSTING_COLUMNS = 300
"""Columns that boosting gets: those with the most nonzeros."""


def one_vs_rest(train: sets.Part, X: Any, C: float) -> Array:
    """LIBLINEAR on the problem of M3L with R = I."""
    svm = LinearSVC(C=2 * C, loss="hinge", fit_intercept=False, max_iter=5_000, random_state=0)
    return np.asarray(OneVsRestClassifier(svm).fit(train.X, train.Y).predict(X))


def power_set(train: sets.Part, X: Any, C: float) -> Array:
    """LIBLINEAR with one class per label set that occurs."""
    label_sets, place = np.unique(train.Y, axis=0, return_inverse=True)
    svm = LinearSVC(C=2 * C, loss="hinge", fit_intercept=False, max_iter=5_000, random_state=0)
    return np.asarray(label_sets[svm.fit(train.X, place.ravel()).predict(X)])


def regression(train: sets.Part, X: Any, C: float) -> Array:
    """Ridge regression on the signs of the labels."""
    model = Ridge(alpha=1 / (2 * C), fit_intercept=False).fit(train.X, 2 * train.Y - 1)
    return np.asarray(model.predict(X) >= 0, dtype=np.float64)


def ranking(train: sets.Part, X: Any, C: float) -> Array:
    """LabelRanker with twenty passes and the learnt cut-off."""
    model = LabelRanker("optimal", "euclidean", C=C, passes=20).fit(train.X, train.Y)
    return np.asarray(model.predict(X))


def neighbours(train: sets.Part, X: Any, C: float) -> Array:
    """Majority vote of the nearest rows."""
    near = KNeighborsClassifier(min(NEIGHBOURS, len(train.Y))).fit(train.X, train.Y)
    return np.asarray(near.predict(X))


def boosting(train: sets.Part, X: Any, C: float) -> Array:
    """AdaBoost with decision stumps, one model per label."""
    columns = np.argsort(-np.asarray((train.X != 0).sum(axis=0)).ravel(), kind="stable")[
        :BOOSTING_COLUMNS
    ]
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    boost = AdaBoostClassifier(stump, n_estimators=ROUNDS, random_state=0)
    model = OneVsRestClassifier(boost).fit(_dense(train.X[:, columns]), train.Y)
    return np.asarray(model.predict(_dense(X[:, columns])))


def m3l(train: sets.Part, X: Any, C: float, prior: Any) -> Array:
    """M3L with a prior."""
    return np.asarray(peers.m3l(train, C=C, prior=prior, tol=0.02).predict(X))


BASELINES: dict[str, tuple[str, Callable[[sets.Part, Any, float], Array], list[float]]] = {
    "one_vs_rest": ("one-vs-rest", one_vs_rest, CS),
    "boosting": ("boosting", boosting, [1.0]),
    "power_set": ("power set", power_set, CS),
    "regression": ("regression", regression, CS),
    "ranking": ("ranking", ranking, CS),
    "neighbours": ("5-NN", neighbours, [1.0]),
}


def losses(train: sets.Part, test: sets.Part, priors: dict[str, Array]) -> dict[str, list[float]]:
    """Return the Hamming losses of every method in percent, one per setting."""
    train = train._replace(X=sets.with_constant(train.X))
    X = sets.with_constant(test.X)
    out = {"none": [_loss(np.zeros_like(test.Y), test.Y)]}
    with warnings.catch_warnings():
        # Warnings of labels without a positive row, and of LIBLINEAR at its iteration limit.
        warnings.simplefilter("ignore")
        for name, R in priors.items():
            out[name] = [_loss(m3l(train, X, C, R), test.Y) for C in CS]
        for name, (_, method, settings) in BASELINES.items():
            out[name] = [_loss(method(train, X, C), test.Y) for C in settings]
    return out


def _loss(found: Array, Y: Array) -> float:
    return round(100 * float(np.mean(found != Y)), 4)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)
