"""M3L beside LIBLINEAR and LIBSVM: ``python -m benchmarks.m3l linear coupled rbf growth``.

Seconds are processor time of one thread, so that other work on the machine matters less: the best
and the median of three turns. Ratios are the median over the turns, with their range. A peer
trains an evenly spaced sample of the labels (``--sample``), and its time is scaled up to all
labels. M3L trains all labels, and reading its input counts. It runs at the loosest tolerance whose
certified relative duality gap is not larger than the peer's. (LIBLINEAR returns no dual solution,
but prints the dual value.) F1 is the micro-F1 of the sampled labels on the training rows; it shows
that both models are correct.
liblinear-official is optional: without it, scikit-learn's LinearSVC is the only linear peer.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks import streams
from benchmarks.liblinear import Array, Peer, Trained, liblinear, linear_svc
from benchmarks.markdown import table
from benchmarks.turns import Times, take_turns
from tagalong import M3LClassifier
from tagalong.batch.m3l.kernels import Kernel

ROWS = {"debtags": 24_232, "rcv1": 6_000, "mediamill": 10_000}
LINEAR_GOALS = {"debtags": 10, "rcv1": 4, "mediamill": 10}
RBF_GOALS = {"debtags": 20, "rcv1": 20, "mediamill": 5}
GAMMA = {"debtags": 1.0, "rcv1": 1.0, "mediamill": 5.0}  # for rows of unit length
COARSE_TOLERANCES = [2.0**-step for step in range(-1, 11)]
BISECTIONS = 3  # bisection steps between two coarse tolerances, on a logarithmic scale
REPEAT = 3
PREDICTION_ROWS = 1000  # rows on which prediction with a kernel is timed
GROWTH_ROWS = 4000


class Dataset(NamedTuple):
    X: Any
    Y: Any  # array or sparse matrix of 0 and 1; only labels that occur


def load(name: str, rows: int | None) -> Dataset:
    stream = streams.load(name).head(rows or ROWS[name])
    Y = stream.Y.toarray().astype(np.float64)
    return Dataset(stream.unit_rows, Y[:, Y.any(axis=0)])


def time_turns(work: Callable[[], object], repeat: int = REPEAT) -> Times:
    return take_turns({"": work}, repeat, time.process_time)[""]


def best_and_median(times: Times) -> str:
    """The best and the median, as text."""
    return f"{times.best:.2f}, {times.median:.2f}"


def f1(truth: Array, scores: Array) -> float:
    """Micro-F1; a label is predicted if its score is at least 0."""
    predicted, relevant = scores >= 0, truth > 0
    return float(2 * (predicted & relevant).sum() / max(1, predicted.sum() + relevant.sum()))


def spread_sample(Y: Array, count: int) -> Array:
    """Labels of all frequencies: evenly spaced in the order of frequency."""
    order = np.argsort(-Y.sum(axis=0), kind="stable")
    return np.asarray(order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(int)])


def fit(data: Dataset, **settings: Any) -> M3LClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return M3LClassifier(random_state=0, **settings).fit(data.X, data.Y)


def relative_gap(model: M3LClassifier) -> float:
    return model.duality_gap_ / model.dual_objective_


def primal(X: Any, y: Array, w: Array) -> float:
    return float(w @ w / 2 + np.maximum(0, 2 - 2 * y * (X @ w)).sum())


def loosest_tolerance(
    data: Dataset, wanted: float, gaps: dict[float, float], **settings: Any
) -> tuple[float, float]:
    """The loosest tolerance whose certified gap is at most ``wanted``, and that gap.

    ``gaps`` caches the gap of each tolerance tried, for the next search on the same problem.
    """

    def is_tight_enough(tol: float) -> bool:
        if tol not in gaps:
            gaps[tol] = relative_gap(fit(data, tol=tol, **settings))
        return gaps[tol] <= wanted

    index = next((i for i, tol in enumerate(COARSE_TOLERANCES) if is_tight_enough(tol)), None)
    if index is None:
        raise RuntimeError(
            f"no tolerance down to {COARSE_TOLERANCES[-1]:g} reached a relative gap of {wanted:.1e}"
        )
    tight = COARSE_TOLERANCES[index]
    if index > 0:
        loose = COARSE_TOLERANCES[index - 1]
        for _ in range(BISECTIONS):
            middle = float(np.sqrt(tight * loose))
            tight, loose = (middle, loose) if is_tight_enough(middle) else (tight, middle)
    return tight, gaps[tight]


COMMON_HEADERS = ("peer F1", "peer s", "our tol", "our gap", "our F1", "our s", "times as fast")
LINEAR_HEADERS = (
    "data set, peer",
    "peer eps",
    "peer gap",
    *COMMON_HEADERS,
    "goal",
)


def linear(names: list[str], count: int) -> None:
    peers: dict[str, Peer] = {"LinearSVC": linear_svc}
    official = liblinear()
    if official is not None:
        peers = {"LIBLINEAR": official, **peers}
    for name in names:
        data = load(name, None)
        gaps: dict[float, float] = {}
        labels = spread_sample(data.Y, count)
        rows = [
            _compare_linear(name, peer_name, peer, eps, data, labels, gaps)
            for peer_name, peer in peers.items()
            for eps in (0.1, 0.01)
        ]
        print(table(LINEAR_HEADERS, rows) + "\n", flush=True)


def _compare_linear(
    name: str,
    peer_name: str,
    peer: Peer,
    eps: float,
    data: Dataset,
    labels: Array,
    gaps: dict[float, float],
) -> list[str]:
    """A row of the table: the peer at an eps, and ours at a gap that is not larger."""
    X64 = sp.csr_matrix(data.X, dtype=np.float64)
    truth = data.Y[:, labels]
    signs = 2 * truth - 1

    def train() -> list[Trained]:
        return [peer(X64, y, eps) for y in signs.T]

    def scaled_seconds(models: list[Trained]) -> float:
        return float(sum(each.seconds for each in models) * data.Y.shape[1] / len(labels))

    models = train()
    weights = np.array([each.weights for each in models])
    primal_value = sum(primal(X64, y, w) for y, w in zip(signs.T, weights, strict=True))
    peer_gap = primal_value / sum(each.dual for each in models) - 1
    tol, gap = loosest_tolerance(data, peer_gap, gaps)
    theirs, ours = Times([scaled_seconds(models)]), Times()
    for turn in range(REPEAT):
        ours.seconds += time_turns(lambda: fit(data, tol=tol), 1).seconds
        if turn + 1 < REPEAT:
            theirs.seconds.append(scaled_seconds(train()))
    scores = fit(data, tol=tol).decision_function(data.X)[:, labels]
    return [
        f"{name}, {peer_name}, {len(labels)} labels",
        str(eps),
        f"{peer_gap:.1e}",
        f"{f1(truth, X64 @ weights.T):.3f}",
        best_and_median(theirs),
        f"{tol:.2g}",
        f"{gap:.1e}",
        f"{f1(truth, scores):.3f}",
        best_and_median(ours),
        str(theirs.over(ours)),
        str(LINEAR_GOALS[name]),
    ]


def coupled(names: list[str], rows: int | None) -> None:
    headers = (
        "data set", "tol, R = I", "gap", "s", "tol, cooccurrence", "gap", "s", "time ratio", "goal",
    )  # fmt: skip
    for name in names:
        data = load(name, rows)
        gaps: dict[float, float] = {}
        lines = []
        for tol in (0.1, 0.02):
            gap = relative_gap(fit(data, tol=tol))
            prior_tol, prior_gap = loosest_tolerance(data, gap, gaps, prior="cooccurrence")
            methods = {
                "independent": partial(fit, data, tol=tol),
                "coupled": partial(fit, data, tol=prior_tol, prior="cooccurrence"),
            }
            times = take_turns(methods, REPEAT, time.process_time)
            independent, with_prior = times["independent"], times["coupled"]
            row = [name, str(tol), f"{gap:.1e}", best_and_median(independent)]
            row += [f"{prior_tol:.2g}", f"{prior_gap:.1e}", best_and_median(with_prior)]
            lines.append([*row, str(with_prior.over(independent)), "at most 3"])
        print(table(headers, lines) + "\n", flush=True)


def svc_gap(data: Dataset, label: int, peer: SVC, kernel: Kernel) -> float:
    """The relative duality gap of LIBSVM's problem, which includes a bias."""
    y = 2 * data.Y[:, label] - 1
    signed = sp.csr_matrix(peer.dual_coef_).toarray()[0]
    scores = kernel.between(data.X, data.X[peer.support_]) @ signed
    squared = float(signed @ scores[peer.support_])
    slacks = np.maximum(0, 1 - y * (scores + peer.intercept_[0])).sum()
    value = squared / 2 + 2 * slacks
    return float((value - (np.abs(signed).sum() - squared / 2)) / value)


RBF_HEADERS = (
    "data set, rows",
    "labels, of these by SVC",
    "peer gap",
    *COMMON_HEADERS,
    "prediction of 1,000 rows: peer s",
    "our s",
    "times as fast, prediction",
    "goal of both",
)


def rbf(names: list[str], rows: int | None, count: int) -> None:
    for name in names:
        data = load(name, rows)
        print(
            table(RBF_HEADERS, [_compare_svc(name, data, spread_sample(data.Y, count))]) + "\n",
            flush=True,
        )


def _compare_svc(name: str, data: Dataset, labels: Array) -> list[str]:
    """A row of the table: LIBSVM on a sample of the labels, ours at a gap that is not larger."""
    kernel = Kernel("rbf", GAMMA[name])
    share = data.Y.shape[1] / len(labels)
    few = Dataset(data.X[:PREDICTION_ROWS], data.Y[:PREDICTION_ROWS])

    def train() -> tuple[float, list[SVC]]:
        peers = [SVC(C=2, gamma=GAMMA[name], cache_size=200) for _ in labels]
        start = time.process_time()
        for label, peer in zip(labels, peers, strict=True):
            peer.fit(data.X, data.Y[:, label])
        return (time.process_time() - start) * share, peers

    def scores_of(peers: list[SVC]) -> Array:
        return np.column_stack([peer.decision_function(few.X) for peer in peers])

    peer_seconds, peers = train()
    pairs = zip(labels, peers, strict=True)
    gap = float(np.mean([svc_gap(data, int(label), peer, kernel) for label, peer in pairs]))
    settings = {"kernel": "rbf", "gamma": GAMMA[name], "cache_size": 200}
    theirs, ours = Times([peer_seconds]), Times()
    for tol in (0.02, 0.01, 5e-3, 2e-3, 1e-3):
        model = fit(data, tol=tol, **settings)
        if relative_gap(model) <= gap:
            break
    for turn in range(REPEAT):
        ours.seconds += time_turns(partial(fit, data, tol=tol, **settings), 1).seconds
        if turn + 1 < REPEAT:
            theirs.seconds.append(train()[0])
    methods = {
        "theirs": partial(scores_of, peers),
        "ours": partial(model.decision_function, few.X),
    }
    times = take_turns(methods, REPEAT, time.process_time)
    predicting = Times([share * each for each in times["theirs"].seconds])
    truth = few.Y[:, labels]
    row = [f"{name}, {len(data.Y):,}", f"{data.Y.shape[1]}, {len(labels)}", f"{gap:.1e}"]
    row += [f"{f1(truth, scores_of(peers)):.3f}", best_and_median(theirs), str(tol)]
    row += [
        f"{relative_gap(model):.1e}",
        f"{f1(truth, model.decision_function(few.X)[:, labels]):.3f}",
    ]
    row += [
        best_and_median(ours),
        str(theirs.over(ours)),
        best_and_median(predicting),
        best_and_median(times["ours"]),
    ]
    return [*row, str(predicting.over(times["ours"])), str(RBF_GOALS[name])]


def growth(rows: int) -> None:
    data = load("mediamill", rows)
    order = np.random.default_rng(0).permutation(data.Y.shape[1])
    found = []
    for count in (10, 25, 50, len(order)):
        part = Dataset(data.X, data.Y[:, order[:count]])
        settings = {"kernel": "rbf", "gamma": GAMMA["mediamill"], "tol": 1e-2}
        gap = relative_gap(fit(part, **settings))
        times = time_turns(partial(fit, part, **settings))
        found.append(
            [str(count), f"{gap:.1e}", best_and_median(times), f"{times.best / count:.3f}"]
        )
    print(table(("labels", "gap", "s, RBF, mediamill", "s per label"), found), flush=True)


PARTS = ("linear", "coupled", "rbf", "growth")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--sets", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--sample", type=int, default=20, help="labels that a peer trains")
    parser.add_argument("--rows", type=int, help="rows, not for linear (default: all)")
    args = parser.parse_args()
    with threadpool_limits(1):  # also limits BLAS, which computes kernel products
        run(args)


def run(args: argparse.Namespace) -> None:
    for part in args.parts:
        print(f"\n## {part}\n")
        if part == "linear":
            linear(args.sets, args.sample)
        elif part == "coupled":
            coupled(args.sets, args.rows)
        elif part == "rbf":
            rbf(args.sets, args.rows, args.sample)
        else:
            growth(args.rows or GROWTH_ROWS)


if __name__ == "__main__":
    main()
