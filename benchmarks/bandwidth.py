"""How fast one thread can move memory, and what that allows: ``python -m benchmarks.bandwidth``.

A round reads the K weights of each nonzero feature, nnz x K x 4 bytes, a plane: nothing that
scores every label with float32 weights can do with less. What comes on top in a round that learns:

- euclidean single: two labels a feature, which is next to nothing;
- euclidean optimal: at worst the plane is written as well;
- default: weights and their average, two planes read and two written.

The rate that applies lies between that of the last cache level and that of main memory: the
weights of frequent words stay in the cache, those of rare words do not.
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
"""Planes read and planes written in a round."""


@dataclass(frozen=True)
class Rates:
    """Bytes a second: reading, and changing in place with both directions counted."""

    read: float
    change: float


@dataclass(frozen=True)
class Bandwidth:
    """Rates over a buffer that fits a large last-level cache, and over one far larger."""

    cache: Rates
    memory: Rates

    def as_dict(self) -> dict[str, dict[str, float]]:
        return asdict(self)


def measure(cache: int = CACHE_BYTES, memory: int = MEMORY_BYTES) -> Bandwidth:
    """Measure both."""
    return Bandwidth(rates(cache), rates(memory))


def limits(bandwidth: Bandwidth, nnz: float, K: int) -> dict[str, tuple[float, float]]:
    """Items a second that memory traffic allows: (from main memory, from the cache)."""
    plane = nnz * K * 4
    return {
        name: (_limit(bandwidth.memory, plane, *planes), _limit(bandwidth.cache, plane, *planes))
        for name, planes in PLANES.items()
    }


def _limit(rate: Rates, plane: float, read: int, written: int) -> float:
    """Planes that are written are read first: they go at the rate of a change in place."""
    return 1.0 / (plane * (read - written) / rate.read + 2 * plane * written / rate.change)


def rates(size: int) -> Rates:
    """The best of several goes at reading (an inner product of the halves) and changing."""
    buffer = np.ones(size // 4, dtype=np.float32)
    left, right = np.split(buffer[: len(buffer) // 2 * 2], 2)
    goes = max(4, (4 << 30) // size // 8)
    return Rates(
        read=buffer.nbytes / fastest(lambda: np.dot(left, right), goes),
        change=2 * buffer.nbytes / fastest(lambda: np.negative(buffer, out=buffer), goes),
    )


def fastest(job: Callable[[], object], goes: int) -> float:
    """Seconds of the shortest of several goes."""
    times = []
    for _ in range(goes):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def table(bandwidth: Bandwidth, nnz: float, K: int) -> list[str]:
    """Markdown lines: the rates and what they allow."""
    both = (bandwidth.memory, bandwidth.cache)
    read, change = ([getattr(rate, job) / 1e9 for rate in both] for job in ("read", "change"))
    lines = [
        f"One thread reads {read[0]:.1f} GB/s from memory and {read[1]:.1f} GB/s from a buffer of "
        f"{CACHE_BYTES >> 20} MB; it changes data in place at {change[0]:.1f} and {change[1]:.1f} "
        f"GB/s (both ways counted). With {nnz:.1f} features a row and {K} labels that allows, in "
        "items/s, if every row is learnt:",
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
