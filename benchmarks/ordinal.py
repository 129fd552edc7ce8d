"""Ordinal regression beside mord: ``python -m benchmarks.ordinal [sets ...]``.

Mean absolute error in grades and accuracy, of 5-fold cross-validation with standardised features.
The sets are those of TAGALONG_DATA/ordinal; all learners see the same folds, with their defaults.
mord (``pip install mord``) is optional: without it, its columns are missing and the output says so.
"""

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

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
    table = np.array(lines, dtype=np.float64)
    at = header.index("response") if "response" in header else table.shape[1] - 1
    order = np.random.default_rng(0).permutation(len(table))
    grades = np.unique(table[:, at], return_inverse=True)[1]
    return np.delete(table, at, axis=1)[order], grades[order]


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
        began = time.perf_counter()
        model = make().fit(scaler.transform(X[train]), grades)
        seconds += time.perf_counter() - began
        found = np.asarray(model.predict(scaler.transform(X[test])), dtype=np.int64)
        predicted[test] = known[np.clip(found, 0, len(known) - 1)]
    errors = np.abs(predicted - y)
    return Result(float(errors.mean()), float((errors == 0).mean()), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS, help="files without .csv")
    names = parser.parse_args().sets
    folder = Path(os.environ.get("TAGALONG_DATA", ""), "ordinal")
    if not folder.is_dir():
        parser.error("TAGALONG_DATA must name a folder that has a folder ordinal")
    found = learners()
    print("| set | rows | grades | " + " | ".join(found) + " |")
    print("|---" * (3 + len(found)) + "|")
    every: list[list[Result]] = []
    for name in names:
        X, y = read(folder / f"{name}.csv")
        results = [cross_validate(make, X, y) for make in found.values()]
        every.append(results)
        cells = [f"{result.error:.3f} / {result.accuracy:.3f}" for result in results]
        print(f"| {name} | {len(y)} | {y.max() + 1} | " + " | ".join(cells) + " |", flush=True)
    columns = list(zip(*every, strict=True))
    means = [
        f"{np.mean([r.error for r in column]):.3f} / {np.mean([r.accuracy for r in column]):.3f}"
        for column in columns
    ]
    print("| mean | | | " + " | ".join(means) + " |")
    seconds = [f"{sum(result.seconds for result in column):.1f} s" for column in columns]
    print("| time of all fits | | | " + " | ".join(seconds) + " |")


if __name__ == "__main__":
    main()
