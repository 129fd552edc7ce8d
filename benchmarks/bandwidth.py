"""Memory bandwidth of one thread and the limit it sets: ``python -m benchmarks.bandwidth``.

A round reads the K weights of each nonzero feature: nnz x K x 4 bytes, called a plane. Any method
that scores all labels with float32 weights reads at least that much. A round that learns also

- euclidean single: writes two labels per feature, which is negligible;
- euclidean optimal: writes the plane, in the worst case;
- default: reads and writes two planes, the weights and their average.

The effective rate lies between the rates of the last cache level and of main memory: the weights
of frequent words stay in the cache, those of rare words do not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import streams

CACHE_BYTES = 24 << 20
MEMORY_BYTES = 1 << 30
PLANES = {"euclidean single": (1, 0), "euclidean optimal": (1, 1), "default": (2, 2)}
"""Planes read and planes written per round."""


@dataclass(frozen=True)
class Rates:
    """Bytes per second: reading, and changing in place (bytes read plus bytes written)."""

    read: float
    change: float


@dataclass(frozen=True)
class Bandwidth:
    """Rates over a buffer that fits a large last-level cache, and over a far larger buffer."""

    cache: Rates
    memory: Rates

    def as_dict(self) -> dict[str, dict[str, float]]:
        return asdict(self)


def measure(cache: int = CACHE_BYTES, memory: int = MEMORY_BYTES) -> Bandwidth:
    """Measure the rates of both buffers."""
    return Bandwidth(rates(cache), rates(memory))


def limits(bandwidth: Bandwidth, nnz: float, K: int) -> dict[str, tuple[float, float]]:
    """Items per second that memory traffic allows: (from main memory, from the cache)."""
    plane = nnz * K * 4
    return {
        name: (_limit(bandwidth.memory, plane, *planes), _limit(bandwidth.cache, plane, *planes))
        for name, planes in PLANES.items()
    }


def _limit(rate: Rates, plane: float, read: int, written: int) -> float:
    """Items per second; a written plane is read first, so it moves at the rate of a change."""
    return 1.0 / (plane * (read - written) / rate.read + 2 * plane * written / rate.change)


def rates(size: int) -> Rates:
    """The best rates of several runs: read (inner product of two halves) and change (negate)."""
    buffer = np.ones(size // 4, dtype=np.float32)
    left, right = np.split(buffer[: len(buffer) // 2 * 2], 2)
    runs = max(4, (4 << 30) // size // 8)
    return Rates(
        read=buffer.nbytes / best_seconds(lambda: np.dot(left, right), runs),
        change=2 * buffer.nbytes / best_seconds(lambda: np.negative(buffer, out=buffer), runs),
    )


def best_seconds(job: Callable[[], object], runs: int) -> float:
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def table(bandwidth: Bandwidth, nnz: float, K: int) -> list[str]:
    """Markdown lines: the rates and the items per second that they allow."""
    both = (bandwidth.memory, bandwidth.cache)
    read, change = ([getattr(rate, job) / 1e9 for rate in both] for job in ("read", "change"))
    lines = [
        f"One thread reads {read[0]:.1f} GB/s from memory and {read[1]:.1f} GB/s from a buffer of "
        f"{CACHE_BYTES >> 20} MB; it changes data in place at {change[0]:.1f} and {change[1]:.1f} "
        f"GB/s (bytes read plus bytes written). With {nnz:.1f} features per row and {K} labels, "
        "and an update in every round, these rates allow the following items/s:",
        "",
        "| learner | planes read, written | from memory | from the cache |",
        "|---|---|---|---|",
    ]
    for name, (slow, fast) in limits(bandwidth, nnz, K).items():
        planes = "{}, {}".format(*PLANES[name])
        lines.append(f"| {name} | {planes} | {slow:,.0f} | {fast:,.0f} |")
    return lines


if __name__ == "__main__":
    wanted = streams.load(sys.argv[1] if len(sys.argv) > 1 else "debtags")
    print("\n".join(table(measure(), wanted.nnz, len(wanted.labels))))
