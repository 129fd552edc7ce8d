"""M3L with and without a constant feature: ``python -m benchmarks.m3l_constant``.

Each data set is shuffled; two thirds of its rows, but at most ``--rows``, train the model, and half
as many others measure it. Rows have unit length, C = 1 and tol = 0.01. The columns are the
precision at 1, 3 and 5, the average precision, the micro-F1 of the labels that score at least 0,
the certified relative duality gap, and seconds of processor time of one thread for training. Labels
without a training row and measured rows without a label are left out.

The last lines are scikit-learn's LinearSVC, with its default C = 1, on RCV1. M3L's C counts twice:
C = 0.5 is LinearSVC with the hinge loss and C = 1.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks import streams
from benchmarks.m3l import Dataset, f1, fit, relative_gap
from benchmarks.markdown import table

SETS = ("rcv1", "debtags", "bibtex", "tmc2007", "mediamill")
CONSTANTS = (0.0, 0.3, 1.0)
HEADERS = ("data set", "model", "P@1", "P@3", "P@5", "average precision", "F1", "gap", "s")

Array = npt.NDArray[np.float64]
Row = list[str]


def split(name: str, rows: int) -> tuple[Dataset, Dataset]:
    """The rows to train and to measure with."""
    stream = streams.load(name)
    order = np.random.default_rng(streams.SEED).permutation(stream.rows)
    first = min(rows, 2 * stream.rows // 3)
    training, measured = order[:first], order[first : first + first // 2]
    Y = stream.Y[training].toarray().astype(np.float64)
    used = Y.any(axis=0)
    truth = stream.Y[measured].toarray().astype(np.float64)[:, used]
    some = truth.any(axis=1)
    return (
        Dataset(stream.unit_rows[training], Y[:, used]),
        Dataset(stream.unit_rows[measured[some]], truth[some]),
    )


def measures(truth: Array, scores: Array) -> Row:
    ranked = np.take_along_axis(truth, np.argsort(-scores, axis=1, kind="stable"), axis=1)
    precision = [ranked[:, :k].mean() for k in (1, 3, 5)]
    average = label_ranking_average_precision_score(truth, scores)
    return [f"{value:.3f}" for value in (*precision, average, f1(truth, scores))]


def our_rows(name: str, rows: int) -> Iterator[Row]:
    training, measured = split(name, rows)
    for prior in (None, "cooccurrence"):
        for constant in CONSTANTS:
            start = time.process_time()
            model = fit(training, tol=0.01, prior=prior, constant=constant)
            seconds = time.process_time() - start
            found = measures(measured.Y, model.decision_function(measured.X))
            kind = f"{'no prior' if prior is None else prior}, constant {constant:g}"
            yield [name, kind, *found, f"{relative_gap(model):.0e}", f"{seconds:.1f}"]


def peer_rows(name: str, rows: int) -> Iterator[Row]:
    training, measured = split(name, rows)
    for loss in ("hinge", "squared_hinge"):
        for intercept in (False, True):
            peer = OneVsRestClassifier(LinearSVC(loss=loss, fit_intercept=intercept, tol=0.01))
            start = time.process_time()
            peer.fit(training.X, training.Y)
            seconds = time.process_time() - start
            found = measures(measured.Y, peer.decision_function(measured.X))
            kind = f"LinearSVC, {loss}, {'intercept' if intercept else 'no intercept'}"
            yield [name, kind, *found, "", f"{seconds:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=streams.names())
    parser.add_argument("--rows", type=int, default=12_000, help="rows to train with, at most")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in args.sets:
            lines = list(our_rows(name, args.rows))
            if name == "rcv1":
                lines += peer_rows(name, args.rows)
            print(table(HEADERS, lines) + "\n", flush=True)


if __name__ == "__main__":
    main()
