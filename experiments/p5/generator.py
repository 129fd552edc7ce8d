"""P5's synthetic queries (Section 6), and the losses of all methods on them.

Document i of a query is drawn from a spherical Gaussian with its own mean. Its grade is m - j if
1/(j + 1) <= x·w* <= 1/j: m - 1 above 1/2, and 0 below 1/m. The paper does not give the means, the
width of the Gaussian, w*, m, p0, or the size of the test set. Layouts of the means:

- ``levels``: the mean of document i is on the line along w*, in the middle of the interval of grade
  m - i;
- ``random``: means are drawn once from a Gaussian and have length about 1;
- ``zero``: all means are 0.

The layout ``cube`` is that of Fig. 1 (c): features from [-1, 1], and w* with few entries ±1/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import Lasso, Ridge
from sklearn.svm import LinearSVC

from experiments.experiment import Result, Settings
from tagalong import Predtron
from tagalong.evaluate import mean_ndcg
from tagalong.problems import SubsetRanking

LAYOUTS = {
    "levels": "means on the grades",
    "random": "random means",
    "zero": "all means 0",
}
TESTED = 100
"""Number of test queries."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Queries:
    """Documents of queries that all have ``size`` documents."""

    X: Array
    y: npt.NDArray[np.int64]
    size: int

    @property
    def group(self) -> list[int]:
        return [self.size] * (len(self.y) // self.size)

    def part(self, first: int, last: int) -> Queries:
        """Return the queries from ``first`` to before ``last``."""
        rows = slice(first * self.size, last * self.size)
        return Queries(self.X[rows], self.y[rows], self.size)

    def loss(self, scores: Any) -> float | None:
        """Return the mean NDCG loss of these scores; None if no document is relevant."""
        found = 1 - mean_ndcg(scores, self.y, self.group)
        return None if np.isnan(found) else round(found, 6)


def generate(settings: Settings) -> tuple[Queries, Queries]:
    """Return training queries and test queries."""
    m, p = settings["documents"], settings["features"]
    rng = np.random.default_rng([settings["repetition"], m, p])
    counts = (settings["queries"], TESTED)
    if settings["layout"] == "cube":
        truth = np.zeros(p)
        places = rng.choice(p, settings["relevant"], replace=False)
        truth[places] = rng.choice([-1.0, 1.0], settings["relevant"]) / settings["relevant"]
        drawn = [rng.uniform(-1, 1, (count, m, p)) for count in counts]
    else:
        direction = rng.normal(size=p)
        truth = np.asarray(direction / np.linalg.norm(direction))
        means = {
            "levels": np.outer(_middles(m), truth),
            "random": rng.normal(size=(m, p)) / np.sqrt(p),
            "zero": np.zeros((m, p)),
        }[settings["layout"]]
        drawn = [means + settings["sigma"] * rng.normal(size=(count, m, p)) for count in counts]
    train, test = (_graded(X, truth, m) for X in drawn)
    return train, test


def _middles(m: int) -> Array:
    """Return the middle of each grade's interval; the first ends at 1, the last at 0."""
    ends = np.array([*(1 / np.arange(1, m + 1)), 0.0])
    return np.asarray((ends[:-1] + ends[1:]) / 2)


def _graded(X: Array, truth: Array, m: int) -> Queries:
    rows = X.reshape(-1, X.shape[-1])
    return Queries(rows, np.searchsorted(1 / np.arange(m, 1, -1), rows @ truth), m)


def learn(settings: Settings) -> Result:
    """Return the test NDCG loss of each f, and of other methods, by number of queries learnt."""
    train, test = generate(settings)
    ends = settings["ends"]
    found = {}
    for position in settings["positions"]:
        problem = SubsetRanking(position, ties=settings.get("ties", "score"))
        found[position] = predtron(train, test, ends, problem=problem, step=1.0)
    if settings.get("others"):
        best = SubsetRanking("-i^1.1")
        found["averaged"] = predtron(train, test, ends, problem=best, step=1.0, average=True)
        found["by loss"] = predtron(train, test, ends, problem=best, update="loss")
        for name, method in OTHERS.items():
            found[name] = [test.loss(method(train.part(0, end), test)) for end in ends]
    return {"loss": found, "grades": len(np.unique(train.y))}


def norms(settings: Settings) -> Result:
    """Return the test NDCG loss of both norms at each step, and of ridge and lasso regression."""
    train, test = generate(settings)
    end = [settings["queries"]]
    found = {
        norm: [
            predtron(
                train,
                test,
                end,
                problem=SubsetRanking("-i^1.1"),
                norm=norm,
                step=step,
            )[0]
            for step in settings["steps"]
        ]
        for norm in ("l2", "l1")
    }
    regressions = {
        "ridge": [Ridge(alpha) for alpha in (1.0, 100.0)],
        "lasso": [Lasso(alpha) for alpha in (0.03, 0.3)],
    }
    for name, models in regressions.items():
        scores = [model.fit(train.X, train.y).predict(test.X) for model in models]
        found[name] = [test.loss(values) for values in scores]
    return {"loss": found}


def predtron(train: Queries, test: Queries, ends: list[int], **settings: Any) -> list[float | None]:
    """Return the test loss in one pass, after each number of queries in ``ends``."""
    model = Predtron(**settings, dtype="float64")
    losses, start = [], 0
    for end in ends:
        part = train.part(start, end)
        model.partial_fit(part.X, part.y, group=part.group)
        losses.append(test.loss(model.decision_function(test.X)))
        start = end
    return losses


def ridge_regression(train: Queries, test: Queries) -> Array:
    """Ridge regression on the grades."""
    return np.asarray(Ridge(1.0).fit(train.X, train.y).predict(test.X))


def pairwise_svm(train: Queries, test: Queries) -> Array:
    """RankSVM: a linear SVM on differences of documents, at most 100 pairs per query."""
    rng = np.random.default_rng(0)
    differences, signs = [], []
    for start in range(0, len(train.y), train.size):
        first, second = rng.integers(0, train.size, (2, 100)) + start
        differ = train.y[first] != train.y[second]
        differences.append((train.X[first] - train.X[second])[differ])
        signs.append(np.sign(train.y[first] - train.y[second])[differ])
    rows, targets = np.concatenate(differences), np.concatenate(signs)
    model = LinearSVC(C=1.0, fit_intercept=False, dual=False).fit(rows, targets)
    return np.asarray(test.X @ model.coef_[0])


OTHERS = {"pairwise SVM": pairwise_svm, "ridge on grades": ridge_regression}
