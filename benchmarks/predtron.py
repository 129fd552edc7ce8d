"""Predtron: its decoders beside SciPy, its rankings beside LightGBM and a linear pairwise SVM.

``python -m benchmarks.predtron [speed] [quality] [--repeat 3]``. Methods run alternately on one
thread; seconds are processor time, and ratios compare the same turn. The tables of decoders also
have the distance from the optimum, the tables of learners the NDCG of the rankings. The quality
part needs the folder ltr in TAGALONG_DATA. LightGBM is optional: without it, its row is missing and
the output says so.
"""

import argparse
import gzip
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
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
from threadpoolctl import threadpool_limits

from benchmarks.markdown import table
from benchmarks.turns import Times, take_turns
from tagalong import Predtron
from tagalong.evaluate import mean_ndcg
from tagalong.problems import LabelRanking, SubsetRanking

Array = npt.NDArray[np.float64]
LABELS, RELEVANT, FEATURES, WORDS, ROUNDS = 400, 4, 20_000, 46, 2_000
DOCUMENTS, COLUMNS, QUERIES = 100, 136, 300
TABLES = 20
"""Rounds whose assignment SciPy solves; each takes many milliseconds."""

K = 10
SETS = {"lightgbm": "lightgbm, 201 + 50 queries", "mslr": "mslr, 43 queries, 5 folds"}
PEER = "linear pairwise SVM"


def label_ranking(repeat: int, rounds: int) -> None:
    """Compare a whole round of Predtron, with scoring and update, with SciPy's assignment."""
    rng = np.random.default_rng(0)
    words = np.sort(rng.integers(0, FEATURES, (rounds, WORDS)), axis=1)
    ends = np.arange(rounds + 1) * WORDS
    X = sp.csr_array((np.ones(words.size), words.ravel(), ends), shape=(rounds, FEATURES))
    Y = np.zeros((rounds, LABELS))
    for row in Y:
        row[rng.choice(LABELS, RELEVANT, replace=False)] = 1
    model = Predtron(step=1.0).partial_fit(X, Y)  # labels are random: every round is a mistake
    problem = LabelRanking(dimension=LABELS)
    f, gains = problem.places(LABELS)
    scores = model.decision_function(X[:TABLES]).astype(float)
    tables = [
        np.outer(t, f) - np.outer(y, gains / gains[:RELEVANT].sum())
        for t, y in zip(scores, Y, strict=False)
    ]
    methods: dict[str, Callable[[], object]] = {
        "SciPy linear_sum_assignment alone": lambda: [
            linear_sum_assignment(values, maximize=True) for values in tables
        ],
        "Predtron, the whole round": lambda: model.partial_fit(X, Y),
    }
    times = take_turns(methods, repeat, time.process_time)
    theirs, ours = (
        Times([s / n for s in one.seconds])
        for one, n in zip(times.values(), (TABLES, rounds), strict=True)
    )
    shortfall = max(
        _optimum(values) - _value(values, problem.augmented_decode(t, y))
        for values, t, y in zip(tables, scores, Y, strict=False)
    )
    print(f"Label ranking, K = {LABELS}, |Y| = {RELEVANT}, {WORDS} features per row\n")
    rows = [
        [name, f"{1e6 * own.best:,.1f}", f"{1e6 * own.median:,.1f}", str(theirs.over(own)), gap]
        for name, own, gap in zip(times, (theirs, ours), ("0", f"{shortfall:.0e}"), strict=True)
    ]
    headers = ["method", "µs per round, best", "median", "× SciPy", "largest gap to the optimum"]
    print(table(headers, rows), end="\n\n")


def _value(values: Array, order: npt.NDArray[np.int64]) -> float:
    """The value of a ranking that puts item ``order[i]`` at position i."""
    return float(values[order, np.arange(len(order))].sum())


def _optimum(values: Array) -> float:
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


def subset_ranking(repeat: int, queries: int) -> None:
    """Queries per second of Predtron, compared with the assignment alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(queries * DOCUMENTS, COLUMNS))
    w = rng.normal(size=COLUMNS)
    noisy = X @ w + 10 * rng.normal(size=len(X))
    group = [DOCUMENTS] * queries
    grades = {2: np.digitize(noisy, [15.0]), 5: np.digitize(noisy, [5.0, 10.0, 15.0, 25.0])}
    learners = [
        (2, "mistake", "reading and scoring"),
        (5, "loss", "reading and scoring"),
        (5, "mistake", "the assignment"),
    ]
    methods: dict[str, Callable[[], object]] = {}
    quality = {}
    for count, update, limit in learners:
        name = f'{count} grades, update="{update}"; limited by {limit}'
        model = Predtron("subset-ranking", update=update, step=1.0)
        model.partial_fit(X, grades[count], group=group)
        methods[name] = partial(model.partial_fit, X, grades[count], group=group)
        found = np.asarray(model.decision_function(X), dtype=float)
        quality[name] = f"{mean_ndcg(found, grades[count], group, K):.4f}"
    problem = SubsetRanking(dimension=DOCUMENTS)
    scores = found.reshape(queries, -1)
    answers = grades[5].reshape(queries, -1)

    def assign() -> None:
        for t, y in zip(scores, answers, strict=True):
            problem.augmented_decode(t, y)

    methods["5 grades, the assignment alone"] = assign
    times = take_turns(methods, repeat, time.process_time)
    alone = times["5 grades, the assignment alone"]
    print(f"Subset ranking, {DOCUMENTS} documents × {COLUMNS} features, {queries} queries\n")
    rows = [
        [
            name, f"{queries / own.best:,.0f}", f"{queries / own.median:,.0f}",
            str(alone.over(own)), quality.get(name, ""),
        ]
        for name, own in times.items()
    ]  # fmt: skip
    headers = ["method", "queries/s, best", "median", "× assignment alone", f"NDCG@{K}, one pass"]
    print(table(headers, rows), end="\n\n")


@dataclass(frozen=True)
class RankedQueries:
    """Documents of several queries: rows, grades, and the number of documents per query."""

    X: Array
    y: Array
    group: list[int]

    def queries(self, chosen: Iterable[int]) -> "RankedQueries":
        chosen = list(chosen)
        ends = np.cumsum([0, *self.group])
        rows = np.concatenate([np.arange(ends[q], ends[q + 1]) for q in chosen])
        return RankedQueries(self.X[rows], self.y[rows], [self.group[q] for q in chosen])


def lightgbm_set(folder: Path, part: str) -> RankedQueries:
    with gzip.open(folder / "lightgbm" / f"rank.{part}.gz") as file:
        X, y = load_svmlight_file(file, n_features=301)
    sizes = (folder / "lightgbm" / f"rank.{part}.query").read_text().split()
    return RankedQueries(X.toarray(), y, [int(size) for size in sizes])


def mslr_set(folder: Path) -> RankedQueries:
    with gzip.open(folder / "mslr" / "msn1.fold1.train.5k.txt.gz") as file:
        X, y, queries = load_svmlight_file(file, query_id=True)
    changes = np.flatnonzero(np.diff(queries, prepend=-1))
    return RankedQueries(X.toarray(), y, np.diff([*changes, len(y)]).tolist())


def scaled(train: RankedQueries, test: RankedQueries) -> tuple[RankedQueries, RankedQueries]:
    scaler = StandardScaler().fit(train.X)
    return (
        RankedQueries(scaler.transform(train.X), train.y, train.group),
        RankedQueries(scaler.transform(test.X), test.y, test.group),
    )


def predtron(**settings: Any) -> Callable[[RankedQueries, RankedQueries], Array]:
    def rank(train: RankedQueries, test: RankedQueries) -> Array:
        train, test = scaled(train, test)
        model = Predtron(**settings).fit(train.X, train.y, group=train.group)
        return np.asarray(model.decision_function(test.X), dtype=float)

    return rank


def pairwise_svm(train: RankedQueries, test: RankedQueries) -> Array:
    """RankSVM: a linear SVM on differences of documents, up to 200 pairs per query."""
    train, test = scaled(train, test)
    rng = np.random.default_rng(0)
    differences, signs = [], []
    for begin, end in pairwise(np.cumsum([0, *train.group]).tolist()):
        pairs = [(i, j) for i, j in combinations(range(begin, end), 2) if train.y[i] != train.y[j]]
        for index in rng.permutation(len(pairs))[:200]:
            i, j = pairs[index]
            differences.append(train.X[i] - train.X[j])
            signs.append(1 if train.y[i] > train.y[j] else -1)
    model = LinearSVC(C=0.01, fit_intercept=False, dual=False).fit(differences, signs)
    return np.asarray(test.X @ model.coef_[0])


def lambdarank(train: RankedQueries, test: RankedQueries) -> Array:
    lightgbm = import_module("lightgbm")
    model = lightgbm.LGBMRanker(n_jobs=1, verbose=-1, random_state=0)
    model.fit(train.X, train.y.astype(int), group=train.group)
    return np.asarray(model.predict(test.X))


def quality(folder: Path, repeat: int) -> None:
    rankers: dict[str, Callable[[RankedQueries, RankedQueries], Array]] = {
        "random order": lambda train, test: np.random.default_rng(0).random(len(test.y)),
        "Predtron, defaults": predtron(problem="subset-ranking"),
        "Predtron, step 1, averaged": predtron(problem="subset-ranking", step=1.0, average=True),
        "Predtron, step 1, averaged, 20 passes": predtron(
            problem="subset-ranking", step=1.0, average=True, passes=20
        ),
        'Predtron, update="loss", averaged, 20 passes': predtron(
            problem="subset-ranking", update="loss", average=True, passes=20
        ),
        "Predtron, NDCG@10, step 1, averaged, 20 passes": predtron(
            problem=SubsetRanking(k=K), step=1.0, average=True, passes=20
        ),
        "Predtron, l1, defaults": predtron(problem="subset-ranking", norm="l1"),
        PEER: pairwise_svm,
    }
    try:
        print(f"LightGBM {version('lightgbm')}\n")
        rankers["LightGBM lambdarank, defaults"] = lambdarank
    except ImportError as error:
        print(f"LightGBM is not installed ({error})\n")
    train, test = lightgbm_set(folder, "train"), lightgbm_set(folder, "test")
    mslr = mslr_set(folder)
    folds = list(KFold(5, shuffle=True, random_state=0).split(mslr.group))
    found: dict[str, dict[str, float]] = {"lightgbm": {}, "mslr": {}}

    def run_lightgbm_set(name: str) -> None:
        found["lightgbm"][name] = mean_ndcg(rankers[name](train, test), test.y, test.group, K)

    def run_mslr(name: str) -> None:
        parts = [(mslr.queries(chosen), mslr.queries(rest)) for chosen, rest in folds]
        values = [mean_ndcg(rankers[name](a, b), b.y, b.group, K) for a, b in parts]
        weights = [len(rest) for _, rest in folds]
        found["mslr"][name] = float(np.average(values, weights=weights))

    print(f"NDCG@{K}, mean over queries with relevant documents\n")
    for data_set, work in (("lightgbm", run_lightgbm_set), ("mslr", run_mslr)):
        times = take_turns(
            {name: partial(work, name) for name in rankers}, repeat, time.process_time
        )
        rows = [
            [
                name, f"{found[data_set][name]:.4f}", f"{own.best:.2f}", f"{own.median:.2f}",
                str(times[PEER].over(own)),
            ]
            for name, own in times.items()
        ]  # fmt: skip
        print(f"{SETS[data_set]}\n")
        headers = ["method", f"NDCG@{K}", "seconds, best", "median", f"× {PEER}"]
        print(table(headers, rows), end="\n\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", default=["speed", "quality"], help="speed and/or quality"
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of label ranking")
    parser.add_argument("--queries", type=int, default=QUERIES, help="queries of subset ranking")
    options = parser.parse_args()
    with threadpool_limits(1):
        if "speed" in options.parts:
            label_ranking(options.repeat, options.rounds)
            subset_ranking(options.repeat, options.queries)
        if "quality" in options.parts:
            folder = Path(os.environ.get("TAGALONG_DATA", ""), "ltr")
            if not folder.is_dir():
                parser.error(
                    f"there is no folder {folder}; TAGALONG_DATA must name the folder above it"
                )
            quality(folder, options.repeat)


if __name__ == "__main__":
    main()
