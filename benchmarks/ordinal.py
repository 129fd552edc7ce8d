"""OrdinalRanker beside mord: ``python -m benchmarks.ordinal [sets ...]``.

The first table has mean absolute error (in grades) and accuracy in 5-fold cross-validation with
standardised features. The data sets are in TAGALONG_DATA/ordinal. All learners have their default
settings and the same folds, and run alternately, data set by data set. The second table has the
processor seconds of all fits (best and median of the turns, and ratios within a turn) beside the
mean quality.
mord (``pip install mord``) is optional: without it, its columns are missing and the output says so.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.markdown import table
from benchmarks.turns import Times
from tagalong import OrdinalRanker

SETS = [
    "abalone",
    "affairs",
    "auto_ord",
    "balance_scale",
    "bostonhousing",
    "californiahousing",
    "cement_strength",
    "era",
    "kinematics",
    "lev",
    "skill",
    "swd",
    "winequality-red",
    "wisconsin_breast_ord",
]
FOLDS = 5


class Regressor(Protocol):
    """An estimator of grades."""

    def fit(self, X: Rows, y: Grades) -> Regressor: ...

    def predict(self, X: Rows) -> npt.ArrayLike: ...


Rows = npt.NDArray[np.float64]
Grades = npt.NDArray[np.int64]
Learner = Callable[[], Regressor]


@dataclass(frozen=True)
class Result:
    error: float
    accuracy: float
    seconds: float


def read(path: Path) -> tuple[Rows, Grades]:
    """Rows in random order, and their grades as 0, 1, 2, ...

    The grade is the column ``response``, or the last column if the header has counts, not names.
    """
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    numbers = np.array(lines, dtype=np.float64)
    column = header.index("response") if "response" in header else numbers.shape[1] - 1
    order = np.random.default_rng(0).permutation(len(numbers))
    grades = np.unique(numbers[:, column], return_inverse=True)[1]
    return np.delete(numbers, column, axis=1)[order], grades[order]


def learners() -> dict[str, Learner]:
    found: dict[str, Learner] = {"OrdinalRanker": OrdinalRanker}
    try:
        mord = import_module("mord")
    except ImportError as error:
        print(f"mord is not installed ({error}): only OrdinalRanker is measured\n")
        return found
    print(f"mord {version('mord')}\n")
    for name in ("LogisticAT", "LogisticIT", "OrdinalRidge"):
        found[f"mord {name}"] = getattr(mord, name)
    return found


def cross_validate(make: Learner, X: Rows, y: Grades) -> Result:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    predicted = np.empty(len(y))
    seconds = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some grades have fewer rows than there are folds
        splits = list(folds.split(X, y))
    for train, test in splits:
        scaler = StandardScaler().fit(X[train])
        # mord requires the grades 0, 1, ... without gaps. If the training rows lack a grade, the
        # others are renumbered, for all learners.
        known, grades = np.unique(y[train], return_inverse=True)
        rows = scaler.transform(X[train])
        start = time.process_time()
        model = make().fit(rows, grades)
        seconds += time.process_time() - start
        found = np.asarray(model.predict(scaler.transform(X[test])), dtype=np.int64)
        predicted[test] = known[np.clip(found, 0, len(known) - 1)]
    errors = np.abs(predicted - y)
    return Result(float(errors.mean()), float((errors == 0).mean()), seconds)


def quality_cells(results: Sequence[Result]) -> str:
    """Mean error and mean accuracy over data sets."""
    return (
        f"{np.mean([result.error for result in results]):.3f} / "
        f"{np.mean([result.accuracy for result in results]):.3f}"
    )


def times_table(found: dict[str, list[list[Result]]]) -> str:
    """Seconds of all fits and the quality; ``found`` is by learner, turn and data set."""
    times = {
        name: Times([sum(result.seconds for result in turn) for turn in turns])
        for name, turns in found.items()
    }
    ours = next(iter(times.values()))
    rows = [
        [
            name, f"{own.best:.2f}", f"{own.median:.2f}", str(own.over(ours)),
            quality_cells(found[name][0]),
        ]
        for name, own in times.items()
    ]  # fmt: skip
    headers = ["learner", "seconds of all fits, best", "median", "× ours", "error / accuracy"]
    return table(headers, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS, help="names of files, without .csv")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    folder = Path(os.environ.get("TAGALONG_DATA", ""), "ordinal")
    if not folder.is_dir():
        parser.error(f"there is no folder {folder}; TAGALONG_DATA must name the folder above it")
    makers = learners()
    data = {name: read(folder / f"{name}.csv") for name in options.sets}
    found: dict[str, list[list[Result]]] = {name: [] for name in makers}
    with threadpool_limits(1):
        for _ in range(options.repeat):
            turn: dict[str, list[Result]] = {name: [] for name in makers}
            for X, y in data.values():
                for name, make in makers.items():
                    turn[name].append(cross_validate(make, X, y))
            for name, results in turn.items():
                found[name].append(results)
    rows = [
        [
            name, str(len(y)), str(y.max() + 1),
            *(quality_cells([turns[0][place]]) for turns in found.values()),
        ]
        for place, (name, (_, y)) in enumerate(data.items())
    ]  # fmt: skip
    rows.append(["mean", "", "", *(quality_cells(turns[0]) for turns in found.values())])
    print(table(["data set", "rows", "grades", *found], rows))
    print()
    print(times_table(found))


if __name__ == "__main__":
    main()
