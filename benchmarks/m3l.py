"""M3L beside LIBLINEAR and LIBSVM: ``python -m benchmarks.m3l linear coupled rbf growth``.

Seconds are of the processor, one thread each, so that other work on the machine counts less; they
are the best and the median of three turns, ratios the median of the turns with their range. The
peer may run a stated, evenly spaced sample of the labels (``--sample``), scaled up. Ours trains
all of them, the reading of its input included, at the loosest tolerance whose certified duality
gap is not above the peer's own, in relation to the dual value. (LIBLINEAR returns no dual solution
but prints its value.) F1 is of the sampled labels, over all their rows of training together: both
have to be right, not only quick.
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
GAMMA = {"debtags": 1.0, "rcv1": 1.0, "mediamill": 5.0}  # of unit rows
COARSE = [2.0**-step for step in range(-1, 11)]
FINER = 3  # how often the step between two tolerances is halved
REPEAT = 3
PREDICTED = 1000  # rows that models with a kernel are tried on
GROWTH_ROWS = 4000


class Set(NamedTuple):
    X: Any
    Y: Array  # 0 and 1, labels that occur only


def load(name: str, rows: int | None) -> Set:
    stream = streams.load(name).head(rows or ROWS[name])
    Y = stream.Y.toarray().astype(np.float64)
    return Set(stream.unit, Y[:, Y.any(axis=0)])


def times_of(work: Callable[[], Any], repeat: int = REPEAT) -> Times:
    return take_turns({"": work}, repeat, time.process_time)[""]


def shown(times: Times) -> str:
    """The best and the median."""
    return f"{times.best:.2f}, {times.median:.2f}"


def f1(truth: Array, scores: Array) -> float:
    """Of all labels together; a label is predicted from 0 on."""
    found, wanted = scores >= 0, truth > 0
    return float(2 * (found & wanted).sum() / max(1, found.sum() + wanted.sum()))


def sample_of(Y: Array, count: int) -> Array:
    """Labels of all frequencies."""
    order = np.argsort(-Y.sum(axis=0), kind="stable")
    return order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(int)]


def fit(data: Set, **settings: Any) -> M3LClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return M3LClassifier(random_state=0, **settings).fit(data.X, data.Y)


def relative_gap(model: M3LClassifier) -> float:
    return model.duality_gap_ / model.dual_objective_


def primal(X: Any, y: Array, w: Array) -> float:
    return float(w @ w / 2 + np.maximum(0, 2 - 2 * y * (X @ w)).sum())


def loosest(
    data: Set, wanted: float, gaps: dict[float, float], **settings: Any
) -> tuple[float, float]:
    """The loosest tolerance whose certified gap is small enough, and that gap.

    ``gaps`` remembers what tolerances gave, for the next search on the same problem.
    """

    def is_enough(tol: float) -> bool:
        if tol not in gaps:
            gaps[tol] = relative_gap(fit(data, tol=tol, **settings))
        return gaps[tol] <= wanted

    at = next((at for at, tol in enumerate(COARSE) if is_enough(tol)), None)
    if at is None:
        raise RuntimeError(f"no tolerance reached a relative gap of {wanted:.1e}")
    good = COARSE[at]
    if at > 0:
        bad = COARSE[at - 1]
        for _ in range(FINER):
            middle = float(np.sqrt(good * bad))
            good, bad = (middle, bad) if is_enough(middle) else (good, middle)
    return good, gaps[good]


BESIDE = ("its F1", "its s", "our tol", "our gap", "our F1", "our s", "times as fast")
LINEAR_HEADS = (
    "set, peer",
    "its eps",
    "its gap",
    *BESIDE,
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
        labels = sample_of(data.Y, count)
        rows = [
            _beside(name, peer_name, peer, eps, data, labels, gaps)
            for peer_name, peer in peers.items()
            for eps in (0.1, 0.01)
        ]
        print(table(LINEAR_HEADS, rows) + "\n", flush=True)


def _beside(
    name: str,
    peer_name: str,
    peer: Peer,
    eps: float,
    data: Set,
    labels: Array,
    gaps: dict[float, float],
) -> list[str]:
    """A row of the table: the peer at its eps, and ours at a gap that is not larger, in turns."""
    wide = sp.csr_matrix(data.X, dtype=np.float64)
    truth = data.Y[:, labels]
    signs = 2 * truth - 1

    def train() -> list[Trained]:
        return [peer(wide, y, eps) for y in signs.T]

    def all_labels(models: list[Trained]) -> float:
        return sum(each.seconds for each in models) * data.Y.shape[1] / len(labels)

    models = train()
    weights = np.array([each.weights for each in models])
    reached = sum(primal(wide, y, w) for y, w in zip(signs.T, weights, strict=True))
    its_gap = reached / sum(each.dual for each in models) - 1
    tol, gap = loosest(data, its_gap, gaps)
    theirs, ours = Times([all_labels(models)]), Times()
    for turn in range(REPEAT):
        ours.seconds += times_of(lambda: fit(data, tol=tol), 1).seconds
        if turn + 1 < REPEAT:
            theirs.seconds.append(all_labels(train()))
    scores = fit(data, tol=tol).decision_function(data.X)[:, labels]
    return [
        f"{name}, {peer_name}, {len(labels)} labels",
        str(eps),
        f"{its_gap:.1e}",
        f"{f1(truth, wide @ weights.T):.3f}",
        shown(theirs),
        f"{tol:.2g}",
        f"{gap:.1e}",
        f"{f1(truth, scores):.3f}",
        shown(ours),
        str(theirs.over(ours)),
        str(LINEAR_GOALS[name]),
    ]


def coupled(names: list[str], rows: int | None) -> None:
    heads = ("set", "tol, R = I", "gap", "s", "tol, cooccurrence", "gap", "s", "times", "goal")
    for name in names:
        data = load(name, rows)
        gaps: dict[float, float] = {}
        lines = []
        for tol in (0.1, 0.02):
            gap = relative_gap(fit(data, tol=tol))
            its_tol, its_gap = loosest(data, gap, gaps, prior="cooccurrence")
            ways = {
                "apart": partial(fit, data, tol=tol),
                "bound": partial(fit, data, tol=its_tol, prior="cooccurrence"),
            }
            times = take_turns(ways, REPEAT, time.process_time)
            apart, bound = times["apart"], times["bound"]
            row = [name, str(tol), f"{gap:.1e}", shown(apart), f"{its_tol:.2g}", f"{its_gap:.1e}"]
            row += [shown(bound), str(bound.over(apart)), "at most 3"]
            lines.append(row)
        print(table(heads, lines) + "\n", flush=True)


def svc_gap(data: Set, label: int, peer: SVC, kernel: Kernel) -> float:
    """The relative duality gap of LIBSVM's own problem, which has a bias."""
    y = 2 * data.Y[:, label] - 1
    signed = peer.dual_coef_
    signed = np.asarray(signed.toarray() if sp.issparse(signed) else signed)[0]
    scores = kernel.between(data.X, data.X[peer.support_]) @ signed
    squared = float(signed @ scores[peer.support_])
    slacks = np.maximum(0, 1 - y * (scores + peer.intercept_[0])).sum()
    value = squared / 2 + 2 * slacks
    return float((value - (np.abs(signed).sum() - squared / 2)) / value)


RBF_HEADS = (
    "set, rows",
    "labels, SVC's",
    "its gap",
    *BESIDE,
    "its s a 1,000 rows",
    "our s",
    "predicts times as fast",
    "goal of both",
)


def rbf(names: list[str], rows: int | None, count: int) -> None:
    for name in names:
        data = load(name, rows)
        print(
            table(RBF_HEADS, [_beside_svc(name, data, sample_of(data.Y, count))]) + "\n", flush=True
        )


def _beside_svc(name: str, data: Set, labels: Array) -> list[str]:
    """A row of the table: LIBSVM on a sample of the labels, ours at a gap that is not larger."""
    kernel = Kernel("rbf", GAMMA[name])
    share = data.Y.shape[1] / len(labels)
    few = Set(data.X[:PREDICTED], data.Y[:PREDICTED])

    def train() -> tuple[float, list[SVC]]:
        peers = [SVC(C=2, gamma=GAMMA[name], cache_size=200) for _ in labels]
        began = time.process_time()
        for label, peer in zip(labels, peers, strict=True):
            peer.fit(data.X, data.Y[:, label])
        return (time.process_time() - began) * share, peers

    def scores_of(peers: list[SVC]) -> Array:
        return np.column_stack([peer.decision_function(few.X) for peer in peers])

    its, peers = train()
    pairs = zip(labels, peers, strict=True)
    gap = float(np.mean([svc_gap(data, int(label), peer, kernel) for label, peer in pairs]))
    settings = {"kernel": "rbf", "gamma": GAMMA[name], "cache_size": 200}
    theirs, ours = Times([its]), Times()
    for tol in (0.02, 0.01, 5e-3, 2e-3, 1e-3):
        model = fit(data, tol=tol, **settings)
        if relative_gap(model) <= gap:
            break
    for turn in range(REPEAT):
        ours.seconds += times_of(partial(fit, data, tol=tol, **settings), 1).seconds
        if turn + 1 < REPEAT:
            theirs.seconds.append(train()[0])
    ways = {
        "theirs": partial(scores_of, peers),
        "ours": partial(model.decision_function, few.X),
    }
    times = take_turns(ways, REPEAT, time.process_time)
    predicting = Times([share * each for each in times["theirs"].seconds])
    truth = few.Y[:, labels]
    row = [f"{name}, {len(data.Y):,}", f"{data.Y.shape[1]}, {len(labels)}", f"{gap:.1e}"]
    row += [f"{f1(truth, scores_of(peers)):.3f}", shown(theirs), str(tol)]
    row += [
        f"{relative_gap(model):.1e}",
        f"{f1(truth, model.decision_function(few.X)[:, labels]):.3f}",
    ]
    row += [shown(ours), str(theirs.over(ours)), shown(predicting), shown(times["ours"])]
    return [*row, str(predicting.over(times["ours"])), str(RBF_GOALS[name])]


def growth(rows: int) -> None:
    data = load("mediamill", rows)
    order = np.random.default_rng(0).permutation(data.Y.shape[1])
    found = []
    for count in (10, 25, 50, len(order)):
        part = Set(data.X, data.Y[:, order[:count]])
        settings = {"kernel": "rbf", "gamma": GAMMA["mediamill"], "tol": 1e-2}
        gap = relative_gap(fit(part, **settings))
        times = times_of(partial(fit, part, **settings))
        found.append([str(count), f"{gap:.1e}", shown(times), f"{times.best / count:.3f}"])
    print(table(("labels", "gap", "s, RBF, mediamill", "s a label"), found), flush=True)


WHAT = ("linear", "coupled", "rbf", "growth")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="+", choices=WHAT)
    parser.add_argument("--sets", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--sample", type=int, default=20, help="labels that a peer trains")
    parser.add_argument("--rows", type=int, help="of all but linear; by default all")
    args = parser.parse_args()
    with threadpool_limits(1):  # of the libraries that kernels are computed with
        run(args)


def run(args: argparse.Namespace) -> None:
    for what in args.what:
        print(f"\n## {what}\n")
        if what == "linear":
            linear(args.sets, args.sample)
        elif what == "coupled":
            coupled(args.sets, args.rows)
        elif what == "rbf":
            rbf(args.sets, args.rows, args.sample)
        else:
            growth(args.rows or GROWTH_ROWS)


if __name__ == "__main__":
    main()
