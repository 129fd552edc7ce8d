"""Ordinal regression beside mord: ``python -m benchmarks.ordinal [sets ...]``.

Mean absolute error in grades and accuracy, of 5-fold cross-validation with standardised features.
The sets are those of TAGALONG_DATA/ordinal; all learners see the same folds, with their defaults.
They take turns, set by set; a second table has the processor seconds of all fits, best and median
of the turns, the ratios of the same turn, and the means of the quality.
mord (``pip install mord``) is optional: without it, its columns are missing and the output says so.
"""

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
from typing import Any

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
Learner = Callable[[], Any]


@dataclass(frozen=True)
class Result:
    error: float
    accuracy: float
    seconds: float


def read(path: Path) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Rows in random order, and their grades as 0, 1, 2, ...

    The grade is the column ``response``, or the last one of files whose header has only counts.
    """
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    numbers = np.array(lines, dtype=np.float64)
    at = header.index("response") if "response" in header else numbers.shape[1] - 1
    order = np.random.default_rng(0).permutation(len(numbers))
    grades = np.unique(numbers[:, at], return_inverse=True)[1]
    return np.delete(numbers, at, axis=1)[order], grades[order]


def learners() -> dict[str, Learner]:
    found: dict[str, Learner] = {"OrdinalRanker": OrdinalRanker}
    try:
        mord = import_module("mord")
    except ImportError as error:
        print(f"mord is not installed ({error}): OrdinalRanker alone\n")
        return found
    print(f"mord {version('mord')}\n")
    for name in ("LogisticAT", "LogisticIT", "OrdinalRidge"):
        found[f"mord {name}"] = getattr(mord, name)
    return found


def cross_validate(make: Learner, X: Any, y: Any) -> Result:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    predicted = np.empty(len(y))
    seconds = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of grades with fewer rows than folds
        splits = list(folds.split(X, y))
    for train, test in splits:
        scaler = StandardScaler().fit(X[train])
        # mord wants every grade from 0 on; where a fold lacks one, all learners get the others.
        known, grades = np.unique(y[train], return_inverse=True)
        rows = scaler.transform(X[train])
        began = time.process_time()
        model = make().fit(rows, grades)
        seconds += time.process_time() - began
        found = np.asarray(model.predict(scaler.transform(X[test])), dtype=np.int64)
        predicted[test] = known[np.clip(found, 0, len(known) - 1)]
    errors = np.abs(predicted - y)
    return Result(float(errors.mean()), float((errors == 0).mean()), seconds)


def quality_cells(results: Sequence[Result]) -> str:
    """Mean error and accuracy over sets."""
    return (
        f"{np.mean([result.error for result in results]):.3f} / "
        f"{np.mean([result.accuracy for result in results]):.3f}"
    )


def times_table(found: dict[str, list[list[Result]]]) -> str:
    """Seconds of all fits beside what they are worth; by learner, turn and set."""
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
    heads = ["learner", "seconds of all fits, best", "median", "times ours", "error / accuracy"]
    return table(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS, help="files without .csv")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    folder = Path(os.environ.get("TAGALONG_DATA", ""), "ordinal")
    if not folder.is_dir():
        parser.error("TAGALONG_DATA must name a folder that has a folder ordinal")
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
    print(table(["set", "rows", "grades", *found], rows))
    print()
    print(times_table(found))


if __name__ == "__main__":
    main()
