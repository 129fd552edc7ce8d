"""Ways to do the same work, timed in turns, so that a slow spell of the machine hits all alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

MEMORY_AT_HAND = 256 << 20
"""Bytes: more than any learner takes for a stream of the size of the Debian tags."""


@dataclass
class Times:
    """Seconds of the repetitions of one way."""

    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def over(self, other: Times) -> Ratio:
        """How many times as long this took as another way in the same turns."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return Ratio([mine / theirs for mine, theirs in pairs])


@dataclass(frozen=True)
class Ratio:
    """A ratio of times, once for every turn."""

    turns: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.turns)

    def __str__(self) -> str:
        """The median and the range, such as "8.1 (7.6 to 8.9)"."""
        if len(self.turns) == 1:
            return _short(self.median)
        return f"{_short(self.median)} ({_short(min(self.turns))} to {_short(max(self.turns))})"


def get_ready(memory: int = MEMORY_AT_HAND) -> None:
    """To be called before every turn: no garbage, and memory that the machine has at hand.

    A virtual machine gives memory that nobody uses back to its host, and waits for it when it is
    used again, which can take as long as a whole pass of a quick learner. Who comes after somebody
    that needs little memory would pay for it.
    """
    gc.collect()
    np.ones(memory, dtype=np.uint8)


def take_turns(
    ways: Mapping[str, Callable[[], object]],
    repeat: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Times]:
    """Run every way once, then every way again; return the seconds of each."""
    found = {name: Times() for name in ways}
    for _ in range(repeat):
        for name, work in ways.items():
            get_ready()
            begun = clock()
            work()
            found[name].seconds.append(clock() - begun)
    return found


def with_range(value: float, turns: Sequence[float], form: str) -> str:
    """A figure with the range of its turns, such as "0.85 (0.81 to 0.88)"; alone after one turn."""
    if len(turns) < 2:
        return f"{value:{form}}"
    return f"{value:{form}} ({min(turns):{form}} to {max(turns):{form}})"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"
