"""Predtron: its decoders beside SciPy, its rankings beside LightGBM and a linear pairwise learner.

``python -m benchmarks.predtron [speed] [quality]``. Quality needs TAGALONG_DATA with a folder ltr;
LightGBM is optional: without it, its row is missing and the output says so.
"""

import argparse
import gzip
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tagalong import Predtron
from tagalong.evaluate import mean_ndcg
from tagalong.problems import LabelRanking, SubsetRanking

Array = npt.NDArray[np.float64]
LABELS, RELEVANT, FEATURES, WORDS, ROUNDS = 400, 4, 20_000, 46, 2_000
DOCUMENTS, COLUMNS, QUERIES = 100, 136, 300
K = 10


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of some runs."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def label_ranking() -> None:
    """A whole round, scoring and update included, beside the assignment alone."""
    rng = np.random.default_rng(0)
    words = np.sort(rng.integers(0, FEATURES, (ROUNDS, WORDS)), axis=1)
    ends = np.arange(ROUNDS + 1) * WORDS
    X = sp.csr_array((np.ones(words.size), words.ravel(), ends), shape=(ROUNDS, FEATURES))
    Y = np.zeros((ROUNDS, LABELS))
    for row in Y:
        row[rng.choice(LABELS, RELEVANT, replace=False)] = 1
    model = Predtron(step=1.0).partial_fit(X, Y)  # random answers: every round is a mistake
    ours = seconds(lambda: model.partial_fit(X, Y)) / ROUNDS
    problem = LabelRanking(dimension=LABELS)
    f, pays = problem.places(LABELS)
    scores = model.decision_function(X[:20]).astype(float)
    tables = [
        np.outer(t, f) - np.outer(y, pays / pays[:RELEVANT].sum())
        for t, y in zip(scores, Y, strict=False)
    ]
    theirs = seconds(lambda: [linear_sum_assignment(t, maximize=True) for t in tables], 2) / 20
    print(f"Label ranking, K = {LABELS}, |Y| = {RELEVANT}, {WORDS} features a row\n")
    print("| | µs a round | ratio |\n|---|---|---|")
    print(f"| SciPy linear_sum_assignment alone | {1e6 * theirs:,.0f} | 1 |")
    print(f"| Predtron, the whole round | {1e6 * ours:,.1f} | {theirs / ours:,.0f} × faster |\n")


def subset_ranking() -> None:
    """Queries a second, and what of the time is the assignment."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(QUERIES * DOCUMENTS, COLUMNS))
    w = rng.normal(size=COLUMNS)
    noisy = X @ w + 10 * rng.normal(size=len(X))
    group = [DOCUMENTS] * QUERIES
    grades = {2: np.digitize(noisy, [15.0]), 5: np.digitize(noisy, [5.0, 10.0, 15.0, 25.0])}
    print(f"Subset ranking, {DOCUMENTS} documents × {COLUMNS} features, {QUERIES} queries\n")
    print("| grades | update | limit | queries a second |\n|---|---|---|---|")
    for count, update, limit in (
        (2, "mistake", "reading and scoring"),
        (5, "loss", "reading and scoring"),
        (5, "mistake", "the assignment"),
    ):
        model = Predtron("subset-ranking", update=update, step=1.0)
        model.partial_fit(X, grades[count], group=group)

        def again(model: Predtron = model, y: Any = grades[count]) -> None:
            model.partial_fit(X, y, group=group)

        print(f"| {count} | {update} | {limit} | {QUERIES / seconds(again, 2):,.0f} |", flush=True)
    problem = SubsetRanking(dimension=DOCUMENTS)
    scores = model.decision_function(X).astype(float).reshape(QUERIES, -1)
    answers = grades[5].reshape(QUERIES, -1)

    def assign() -> None:
        for t, y in zip(scores, answers, strict=True):
            problem.augmented_decode(t, y)

    print(f"| 5 | the assignment alone | | {QUERIES / seconds(assign, 2):,.0f} |\n")


@dataclass(frozen=True)
class Ranked:
    """Documents of queries: rows, grades and the sizes of the queries."""

    X: Array
    y: Array
    group: list[int]

    def queries(self, chosen: Any) -> "Ranked":
        ends = np.cumsum([0, *self.group])
        rows = np.concatenate([np.arange(ends[q], ends[q + 1]) for q in chosen])
        return Ranked(self.X[rows], self.y[rows], [self.group[q] for q in chosen])


def lightgbm_set(folder: Path, part: str) -> Ranked:
    with gzip.open(folder / "lightgbm" / f"rank.{part}.gz") as file:
        X, y = load_svmlight_file(file, n_features=301)
    sizes = (folder / "lightgbm" / f"rank.{part}.query").read_text().split()
    return Ranked(X.toarray(), y, [int(size) for size in sizes])


def mslr_set(folder: Path) -> Ranked:
    with gzip.open(folder / "mslr" / "msn1.fold1.train.5k.txt.gz") as file:
        X, y, queries = load_svmlight_file(file, query_id=True)
    changes = np.flatnonzero(np.diff(queries, prepend=-1))
    return Ranked(X.toarray(), y, np.diff([*changes, len(y)]).tolist())


def scaled(train: Ranked, test: Ranked) -> tuple[Ranked, Ranked]:
    scaler = StandardScaler().fit(train.X)
    return (
        Ranked(scaler.transform(train.X), train.y, train.group),
        Ranked(scaler.transform(test.X), test.y, test.group),
    )


def predtron(**settings: Any) -> Callable[[Ranked, Ranked], Array]:
    def rank(train: Ranked, test: Ranked) -> Array:
        train, test = scaled(train, test)
        model = Predtron(**settings).fit(train.X, train.y, group=train.group)
        return np.asarray(model.decision_function(test.X), dtype=float)

    return rank


def pairwise_svm(train: Ranked, test: Ranked) -> Array:
    """RankSVM: a linear SVM on the differences of documents of one query, up to 200 pairs each."""
    train, test = scaled(train, test)
    rng = np.random.default_rng(0)
    differences, signs = [], []
    for begin, end in pairwise(np.cumsum([0, *train.group]).tolist()):
        pairs = [(i, j) for i, j in combinations(range(begin, end), 2) if train.y[i] != train.y[j]]
        for at in rng.permutation(len(pairs))[:200]:
            i, j = pairs[at]
            differences.append(train.X[i] - train.X[j])
            signs.append(1 if train.y[i] > train.y[j] else -1)
    model = LinearSVC(C=0.01, fit_intercept=False, dual=False).fit(differences, signs)
    return np.asarray(test.X @ model.coef_[0])


def lambdarank(train: Ranked, test: Ranked) -> Array:
    lightgbm = import_module("lightgbm")
    model = lightgbm.LGBMRanker(n_jobs=1, verbose=-1, random_state=0)
    model.fit(train.X, train.y.astype(int), group=train.group)
    return np.asarray(model.predict(test.X))


def quality(folder: Path) -> None:
    rankers: dict[str, Callable[[Ranked, Ranked], Array]] = {
        "random order": lambda train, test: np.random.default_rng(0).random(len(test.y)),
        "Predtron, defaults": predtron(problem="subset-ranking"),
        "Predtron, step 1, averaged": predtron(problem="subset-ranking", step=1.0, average=True),
        "Predtron, step 1, averaged, 20 passes": predtron(
            problem="subset-ranking", step=1.0, average=True, passes=20
        ),
        "the same by loss": predtron(
            problem="subset-ranking", update="loss", average=True, passes=20
        ),
        "the same, NDCG@10": predtron(
            problem=SubsetRanking(k=K), step=1.0, average=True, passes=20
        ),
        "Predtron, l1, defaults": predtron(problem="subset-ranking", norm="l1"),
        "linear pairwise SVM": pairwise_svm,
    }
    try:
        print(f"LightGBM {version('lightgbm')}\n")
        rankers["LightGBM lambdarank, defaults"] = lambdarank
    except ImportError as error:
        print(f"LightGBM is not installed ({error})\n")
    train, test = lightgbm_set(folder, "train"), lightgbm_set(folder, "test")
    mslr = mslr_set(folder)
    folds = list(KFold(5, shuffle=True, random_state=0).split(mslr.group))
    print(f"NDCG@{K}, mean over queries with relevant documents\n")
    print("| | lightgbm, 201 + 50 queries | seconds | mslr, 43 queries, 5 folds | seconds |")
    print("|---|---|---|---|---|")
    for name, rank in rankers.items():
        began = time.perf_counter()
        first = mean_ndcg(rank(train, test), test.y, test.group, K)
        middle = time.perf_counter()
        found = []
        for chosen, left in folds:
            part = mslr.queries(left)
            found.append(
                (mean_ndcg(rank(mslr.queries(chosen), part), part.y, part.group, K), len(left))
            )
        second = float(np.average([f for f, _ in found], weights=[n for _, n in found]))
        times = middle - began, time.perf_counter() - middle
        print(
            f"| {name} | {first:.4f} | {times[0]:.1f} | {second:.4f} | {times[1]:.1f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["speed", "quality"], help="speed, quality")
    parts = parser.parse_args().parts
    if "speed" in parts:
        label_ranking()
        subset_ranking()
    if "quality" in parts:
        folder = Path(os.environ.get("TAGALONG_DATA", ""), "ltr")
        if not folder.is_dir():
            parser.error("TAGALONG_DATA must name a folder that has a folder ltr")
        quality(folder)


if __name__ == "__main__":
    main()
