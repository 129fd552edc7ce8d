"""PartialFeedbackRanker beside NumPy and bandit libraries, in rounds per second.

    python -m benchmarks.partial [mediamill] [--rounds 2000] [--repeat 3]

Every method plays the same stream: it shows 5 labels per row and learns which of them are relevant.
Without a stream name, labels are drawn from a model with 120 features and 101 labels, the size of
Mediamill. "NumPy" plays our rounds with one float32 inverse matrix per label and Sherman-Morrison
updates; "one by one" calls `suggest` and `feedback` from Python, row by row. Peers show their own
five best arms and learn from five rows. Methods run alternately on one thread; rates are medians,
in rounds per second of processor time. The last column is the mean number of relevant labels among
the five shown, in rounds 200 to 400, which all methods play.

The memory limit: a round reads one triangle of every label's inverse once. For the shown labels it
changes that triangle, and the float64 matrix that is kept beside the inverse.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from benchmarks import bandwidth, streams
from benchmarks.markdown import table
from benchmarks.turns import Times
from tagalong import PartialFeedbackRanker
from tagalong.evaluate import LabelModel

FEATURES, LABELS, SLOTS = 120, 101, 5
EXPLORATION = 0.02
GOALS = {"NumPy": 1.5, "contextualbandits LinUCB": 60.0}
"""Goals for the speed of the full matrix in float32, as a multiple of the peer's."""

DIAGONAL_GOAL = 10.0
"""Goal for the speed of the diagonal, as a multiple of the full matrix's."""

PEER_ROUNDS = 400
"""Rounds that the slow peers play; the relevant labels of the second half are counted."""

Rows = npt.NDArray[np.float32]
Hits = npt.NDArray[np.int64]
Method = Callable[[Rows, Hits], tuple[float, float]]


def make_stream(name: str | None, rounds: int) -> tuple[Rows, Hits]:
    """Rows of unit length and an indicator of their labels."""
    if name is not None:
        stream = streams.load(name)
        X = np.asarray(stream.unit_rows[:rounds])
        return np.ascontiguousarray(X, dtype=np.float32), stream.Y[:rounds].toarray().astype(int)
    return synthetic_stream(rounds, FEATURES, LABELS)


def synthetic_stream(rounds: int, features: int, labels: int) -> tuple[Rows, Hits]:
    """Rows and labels drawn from a model."""
    rng = np.random.default_rng(0)
    model = LabelModel.random(rng, labels, features)
    X = model.rows(rng, rounds)
    return X.astype(np.float32), model.draw(rng, X)


def mean_hits(shown: list[list[int]], Y: Hits) -> float:
    """Mean number of relevant labels among the shown ones, in rounds that all methods play."""
    rounds = range(PEER_ROUNDS // 2, PEER_ROUNDS)
    return float(np.mean([Y[i, shown[i]].sum() for i in rounds]))


def matrix_game(**settings: Any) -> Method:
    """Our learner, with the whole stream as one matrix."""

    def play(X: Rows, Y: Hits) -> tuple[float, float]:
        ranker = PartialFeedbackRanker(
            miss_weight=1.0, max_labels=SLOTS, exploration=EXPLORATION, **settings
        )
        ranker.add_labels(range(Y.shape[1]))
        start = time.process_time()
        played = ranker.play(X, Y)
        return time.process_time() - start, mean_hits(played.shown, Y)

    return play


def one_by_one(X: Rows, Y: Hits) -> tuple[float, float]:
    """Our learner, one call of `suggest` and one of `feedback` per row."""
    ranker = PartialFeedbackRanker(
        miss_weight=1.0, max_labels=SLOTS, exploration=EXPLORATION, dtype="float32"
    )
    ranker.add_labels(range(Y.shape[1]))
    lists = []
    start = time.process_time()
    for i in range(len(X)):
        (shown,) = ranker.suggest(X[i : i + 1])
        ranker.feedback(X[i : i + 1], [shown], [[label for label in shown if Y[i, label]]])
        lists.append(shown.labels)
    return time.process_time() - start, mean_hits(lists, Y)


def numpy_loop(X: Rows, Y: Hits) -> tuple[float, float]:
    """The same rounds in NumPy: one product for all labels, Sherman-Morrison for the shown ones."""
    K, d = Y.shape[1], X.shape[1]
    inverse = np.repeat(np.eye(d, dtype=np.float32)[None], K, axis=0)
    W = np.zeros((K, d), dtype=np.float32)
    lists = []
    start = time.process_time()
    for t, (x, y) in enumerate(zip(X, Y, strict=True), start=1):
        directions = inverse @ x
        q = directions @ x
        margins = W @ x
        outside = np.abs(margins) > 1
        if outside.any():
            clipped = np.clip(margins, -1, 1)
            factors = ((margins - clipped) / q)[outside]
            W[outside] -= factors[:, None] * directions[outside]
            margins = clipped
        scale = 8 * d * np.log1p((t - 1) / d) + 120 * np.log(K * (t + 4) / 0.05)
        free = EXPLORATION * np.sqrt(q * scale)
        top = np.clip(margins + np.minimum(free, 2), -1, 1)
        shown = np.lexsort((-(margins + free), -top))[:SLOTS]
        signs = np.where(y[shown] == 1, 1.0, -1.0).astype(np.float32)
        moved = directions[shown] / (1 + q[shown])[:, None]
        inverse[shown] -= moved[:, :, None] * directions[shown][:, None, :]
        W[shown] += (signs - margins[shown])[:, None] * moved
        lists.append(shown.tolist())
    return time.process_time() - start, mean_hits(lists, Y)


def contextualbandits_linucb(X: Rows, Y: Hits) -> tuple[float, float]:
    from contextualbandits.online import LinUCB

    X, Y = X[:PEER_ROUNDS], Y[:PEER_ROUNDS]
    policy = LinUCB(Y.shape[1], alpha=EXPLORATION, fit_intercept=False, beta_prior=None)
    arms = np.arange(Y.shape[1])
    policy.partial_fit(np.repeat(X[:1], len(arms), axis=0), arms, Y[0].astype(float))
    lists = []
    start = time.process_time()
    for i in range(len(X)):
        shown = np.asarray(policy.topN(X[i : i + 1], SLOTS)).ravel()
        policy.partial_fit(np.repeat(X[i : i + 1], SLOTS, axis=0), shown, Y[i, shown].astype(float))
        lists.append(shown.tolist())
    return (time.process_time() - start) / len(X), mean_hits(lists, Y)


def mabwiser_linucb(X: Rows, Y: Hits) -> tuple[float, float]:
    from mabwiser.mab import MAB, LearningPolicy

    X, Y = X[:PEER_ROUNDS], Y[:PEER_ROUNDS]
    arms = list(range(Y.shape[1]))
    bandit = MAB(arms, LearningPolicy.LinUCB(alpha=EXPLORATION, l2_lambda=1.0))
    bandit.fit([0], [float(Y[0, 0])], X[:1])
    lists = []
    start = time.process_time()
    for i in range(len(X)):
        expected = bandit.predict_expectations(X[i : i + 1])
        shown = sorted(expected, key=lambda arm: -expected[arm])[:SLOTS]
        bandit.partial_fit(shown, Y[i, shown].astype(float), np.repeat(X[i : i + 1], SLOTS, axis=0))
        lists.append(shown)
    return (time.process_time() - start) / len(X), mean_hits(lists, Y)


METHODS: dict[str, Method] = {
    "full, float32": matrix_game(dtype="float32"),
    "full, float64": matrix_game(dtype="float64"),
    "full, float32, one by one": one_by_one,
    "diagonal, float32": matrix_game(dtype="float32", covariance="diagonal"),
    "full information, float32": matrix_game(dtype="float32", update="full"),
    "NumPy": numpy_loop,
}
PEERS: dict[str, Method] = {
    "contextualbandits LinUCB": contextualbandits_linucb,
    "mabwiser LinUCB": mabwiser_linucb,
}


def measure(X: Rows, Y: Hits, repeat: int) -> dict[str, tuple[Times, float]]:
    """Seconds per round and relevant labels per list, by method; reports peers that fail."""
    times: dict[str, Times] = {}
    quality: dict[str, float] = {}
    for turn in range(repeat):
        for name, method in {**METHODS, **PEERS}.items():
            if turn > 0 and name in PEERS:  # hundreds of times slower: one turn is enough
                continue
            try:
                seconds, quality[name] = method(X, Y)
            except Exception as error:  # a failing peer must not stop the others
                if name not in PEERS:
                    raise
                print(f"{name} failed: {type(error).__name__}: {error}")
                continue
            per_round = seconds if name in PEERS else seconds / len(X)
            times.setdefault(name, Times()).seconds.append(per_round)
    return {name: (own, quality[name]) for name, own in times.items()}


def memory_limit(labels: int, features: int) -> list[str]:
    """Rounds per second that memory traffic allows, at the rates of this machine."""
    blocks = -(-features // 8)
    triangle = blocks * (blocks + 1) / 2 * 64 * 4
    matrix = features * (features + 4) / 2 * 8
    read, changed = (labels + SLOTS) * triangle, 2 * SLOTS * (triangle + matrix)
    rates = bandwidth.measure(memory=256 << 20)
    lines = [
        f"A round of the full matrix in float32 reads {read / 1e6:.1f} MB and changes "
        f"{changed / 2e6:.1f} MB; the matrices take {labels * (triangle + matrix) / 1e6:.0f} MB."
    ]
    for name, rate in (("memory", rates.memory), ("the cache", rates.cache)):
        allowed = 1 / (read / rate.read + changed / rate.change)
        lines.append(
            f"From {name}, {rate.read / 1e9:.1f} GB/s read and {rate.change / 1e9:.1f} GB/s "
            f"changed, the limit is {allowed:,.0f} rounds/s."
        )
    return lines


def rows(found: dict[str, tuple[Times, float]]) -> Iterator[list[str]]:
    """Rows of the table, one per method."""
    ours, _ = found["full, float32"]
    for name, (times, quality) in found.items():
        turns = Times(ours.seconds[: len(times.seconds)])
        ratio, goal = times.over(turns), GOALS.get(name)
        shown = str(ratio)
        if name == "diagonal, float32":
            ratio, goal = turns.over(times), DIAGONAL_GOAL
            shown = f"diagonal / full: {ratio}"
        verdict = "" if goal is None else "reached" if ratio.median >= goal else "not reached"
        yield [
            name, f"{1 / times.best:,.0f}", f"{1 / times.median:,.0f}", shown,
            "" if goal is None else f"{goal:g}", verdict, f"{quality:.2f}",
        ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stream", nargs="?")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    X, Y = make_stream(args.stream, args.rounds)
    with threadpool_limits(1):
        found = measure(X, Y, args.repeat)
    headers = [
        "method", "rounds/s, best", "median", "speed of full, float32 / method", "goal", "",
        "relevant of 5 shown",
    ]  # fmt: skip
    print(table(headers, rows(found)))
    print()
    print("\n".join(memory_limit(Y.shape[1], X.shape[1])))


if __name__ == "__main__":
    main()
