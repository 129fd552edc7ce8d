"""Time several methods alternately, so that a slow phase of the machine affects all of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

TOUCHED_BYTES = 256 << 20
"""Bytes touched before each turn: more than any learner needs for the Debian-tags stream."""


@dataclass
class Times:
    """Seconds of the repetitions of one method."""

    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def over(self, other: Times) -> Ratio:
        """Time as a multiple of another method's time in the same turns."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return Ratio([mine / theirs for mine, theirs in pairs])


@dataclass(frozen=True)
class Ratio:
    """A ratio of times, one value per turn."""

    turns: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.turns)

    def __str__(self) -> str:
        """The median and the range, such as "8.1 (7.6 to 8.9)"."""
        if len(self.turns) == 1:
            return _rounded(self.median)
        return (
            f"{_rounded(self.median)} ({_rounded(min(self.turns))} to {_rounded(max(self.turns))})"
        )


def prepare_turn(memory: int = TOUCHED_BYTES) -> None:
    """Collect garbage and touch memory; call this before every turn.

    A virtual machine returns unused memory to its host, and getting it back can take as long as a
    whole pass of a fast learner. Without this call, a learner that runs after one with a small
    memory footprint would pay for that.
    """
    gc.collect()
    np.ones(memory, dtype=np.uint8)


def take_turns(
    methods: Mapping[str, Callable[[], object]],
    repeat: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Times]:
    """Run all methods once, then all of them again, ``repeat`` times; return their times."""
    times = {name: Times() for name in methods}
    for _ in range(repeat):
        for name, work in methods.items():
            prepare_turn()
            start = clock()
            work()
            times[name].seconds.append(clock() - start)
    return times


def with_range(value: float, turns: Sequence[float], form: str) -> str:
    """A figure with the range over the turns: "0.85 (0.81 to 0.88)"; no range for one turn."""
    if len(turns) < 2:
        return f"{value:{form}}"
    return f"{value:{form}} ({min(turns):{form}} to {max(turns):{form}})"


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"
