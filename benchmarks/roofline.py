"""Roofline of the main kernels: ``python -m benchmarks.roofline``.

For each kernel the table has the bytes that it must move and the operations that it must do per
item, independent of the code. The memory rate is the rate at which one thread reads, or changes in
place, a buffer of the size of the kernel's working set, so that caches help both alike. The
arithmetic rate is that of a matrix product. The lower of the two limits applies. Half of the
arithmetic rate is out of reach by choice: the core never uses fused multiply-add, so that a formula
gives the same bits everywhere.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks import ours, partial, streams
from benchmarks.bandwidth import Rates, best_seconds, rates
from benchmarks.markdown import table
from benchmarks.turns import prepare_turn
from tagalong import M3LClassifier, PartialFeedbackRanker

TURNS = 3
"""Turns of label ranking; the best one counts."""


@dataclass(frozen=True)
class Kernel:
    """The least work per item, and the measured items per second."""

    name: str
    rate: float
    read: float
    """Bytes that are only read."""
    changed: float
    """Bytes that are read and written back, counted once."""
    operations: float
    """Multiplications and additions."""
    memory: float
    """Bytes of the working set."""

    def limits(self, moving: Rates, computing: float) -> tuple[float, float]:
        """Items per second that memory allows, and items per second that arithmetic allows."""
        seconds = self.read / moving.read + 2 * self.changed / moving.change
        return 1 / seconds, computing / self.operations


def label_ranking(stream: streams.Stream) -> Iterator[Kernel]:
    """Learning in chunks, with each row ranked before it is learnt; then scoring only."""
    K, nnz = len(stream.labels), stream.nnz
    plane = nnz * K * 4.0
    seen = len(np.unique(sp.csr_matrix(stream.X).indices)) * K * 4.0
    # Planes that are only read, and planes that are changed.
    for setting, (read, changed) in {
        "euclidean single": (1, 0),
        "euclidean optimal": (0, 1),
        ours.DEFAULT: (0, 2),
    }.items():
        seconds = []
        for _ in range(TURNS):
            prepare_turn()
            ranker, spent = ours.train_on(setting, stream)
            seconds.append(spent)
        planes = read + changed
        yield Kernel(
            f"learn, {setting}",
            stream.rows / min(seconds),
            plane * read,
            plane * changed,
            2 * nnz * K * (planes + changed),
            seen * planes,
        )
        if setting == "euclidean single":
            scoring = best_seconds(functools.partial(ranker.decision_function, stream.X), TURNS)
            yield Kernel(
                "scores of a matrix", stream.rows / scoring, plane, K * 4.0, 2 * nnz * K, seen
            )


def partial_feedback(rounds: int) -> Iterator[Kernel]:
    """Games that show five labels per round, in float32."""
    X, Y = partial.make_stream(None, rounds)
    d, K, shown = X.shape[1], Y.shape[1], partial.SLOTS
    blocks = -(-d // 8)
    triangle = blocks * (blocks + 1) / 2 * 64 * 4.0
    matrix = d * (d + 4) / 2 * 8.0
    for covariance, read, changed, memory, operations in (
        ("full", (K - shown) * triangle, shown * (triangle + matrix), K * (triangle + matrix),
         (K + 4.0 * shown) * d * d),
        ("diagonal", (K - shown) * d * 8.0, shown * d * 8.0, K * d * 8.0, K * d * 5.0),
    ):  # fmt: skip
        model = PartialFeedbackRanker(
            covariance=covariance,
            exploration=partial.EXPLORATION,
            max_labels=shown,
            dtype="float32",
        )
        start = time.perf_counter()
        model.play(X, Y)
        rate = len(X) / (time.perf_counter() - start)
        yield Kernel(f"partial feedback, {covariance}", rate, read, changed, operations, memory)


def kernel_matrix(rows: int) -> Iterator[Kernel]:
    """Rows of an RBF kernel matrix, computed by M3L; nearly all of the work is the product."""
    d = 120
    X = np.random.default_rng(0).normal(size=(rows, d)).astype(np.float32)
    Y = np.eye(2, dtype=int)[np.arange(rows) % 2]
    model = M3LClassifier(kernel="rbf", gamma=0.01, C=1e-3, tol=10.0, max_iter=1)
    start = time.perf_counter()
    model.fit(X, Y)
    rate = rows / (time.perf_counter() - start)
    yield Kernel(
        "M3L, a row of the kernel matrix",
        rate,
        d * 4.0,
        rows * 4.0,
        2.0 * rows * d,
        rows * rows * 4.0,
    )


def arithmetic() -> float:
    """Operations per second of a float32 matrix product on one thread."""
    side = 1024
    left = np.random.default_rng(0).normal(size=(side, side)).astype(np.float32)
    return 2 * side**3 / best_seconds(lambda: left @ left, 5)


def report(kernels: list[Kernel], computing: float) -> str:
    """The table: rates, limits, and the share of the lower limit that is reached."""
    headers = [
        "kernel", "items/s", "bytes per item", "operations per item", "working set, MB",
        "GB/s read, changed", "memory limit", "arithmetic limit", "reached",
    ]  # fmt: skip
    rows = []
    for kernel in kernels:
        moving = rates(int(kernel.memory))
        by_memory, by_computing = kernel.limits(moving, computing)
        rows.append([
            kernel.name,
            f"{kernel.rate:,.0f}",
            f"{kernel.read + 2 * kernel.changed:,.0f}",
            f"{kernel.operations:,.0f}",
            f"{kernel.memory / 1e6:,.1f}",
            f"{moving.read / 1e9:.0f}, {moving.change / 1e9:.0f}",
            f"{by_memory:,.0f}",
            f"{by_computing:,.0f}",
            f"{kernel.rate / min(by_memory, by_computing):.0%}",
        ])  # fmt: skip
    return table(headers, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little work, to check that it runs")
    quick = parser.parse_args().quick
    kernels: list[Kernel] = []
    with threadpool_limits(1):
        try:
            stream = streams.load("debtags")
            kernels += label_ranking(stream.head(1000) if quick else stream)
        except streams.NoData as error:
            print(f"Label ranking is not measured: {error}\n")
        kernels += partial_feedback(100 if quick else 2000)
        kernels += kernel_matrix(300 if quick else 4000)
        computing = arithmetic()
        print(f"A matrix product does {computing / 1e9:.0f} billion operations per second.\n")
        print(report(kernels, computing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
