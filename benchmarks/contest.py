"""Time and evaluate contestants alike: one online pass over a stream, rank then learn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.measures import Measures, Progressive
from benchmarks.streams import Features, Stream
from benchmarks.turns import prepare_turn

Step = Callable[[Features, sp.csr_matrix], npt.NDArray[np.floating]]
"""Learns a chunk of rows and their labels; returns the scores from before learning each row."""


class Contestant(Protocol):
    """A learner and the stream that it learns; ``rows`` is the number of rows used."""

    @property
    def name(self) -> str: ...

    @property
    def rows(self) -> int: ...

    def time(self) -> float:
        """Seconds of one pass with a new learner."""
        ...

    def measure(self) -> Measures:
        """The measures of one pass."""
        ...


@dataclass
class ChunkedContestant:
    """A contestant that learns chunk by chunk; only its calls are timed."""

    name: str
    stream: Stream
    chunk: int
    make_step: Callable[[], Step]
    _measures: Measures | None = field(default=None, init=False)

    @property
    def rows(self) -> int:
        return self.stream.rows

    def time(self) -> float:
        step = self.make_step()
        total = Progressive() if self._measures is None else None
        seconds = 0.0
        for X, Y in chunks(self.stream, self.chunk):
            start = time.perf_counter()
            scores = step(X, Y)
            seconds += time.perf_counter() - start
            if total is not None:
                total.add(scores, Y)
        if total is not None:
            self._measures = total.result()
        return seconds

    def measure(self) -> Measures:
        if self._measures is None:
            self.time()
        assert self._measures is not None
        return self._measures


def chunks(stream: Stream, size: int) -> Iterator[tuple[Features, sp.csr_matrix]]:
    """Split the stream into slices of ``size`` rows."""
    for start in range(0, stream.rows, size):
        rows = slice(start, start + size)
        yield stream.X[rows], stream.Y[rows]


@dataclass
class Entry:
    """The times and measures of a contestant, or the reason for its failure."""

    name: str
    rows: int = 0
    seconds: list[float] = field(default_factory=list)
    measures: Measures | None = None
    failure: str = ""

    @property
    def best(self) -> float:
        """Items per second in the fastest repetition."""
        return self.rows / min(self.seconds)

    @property
    def median(self) -> float:
        """Items per second in the median repetition."""
        return self.rows / statistics.median(self.seconds)


def alternate(
    contestants: Sequence[Contestant], repeat: int, log: Callable[[str], None]
) -> list[Entry]:
    """Time all contestants once, then all of them again, ``repeat`` times.

    A slow phase of the machine then affects all of them. A contestant that raises an exception is
    not run again; its entry has the reason.
    """
    entries = [Entry(contestant.name, contestant.rows) for contestant in contestants]
    for repetition in range(repeat):
        for contestant, entry in zip(contestants, entries, strict=True):
            if entry.failure:
                continue
            prepare_turn()
            try:
                entry.seconds.append(contestant.time())
                if repetition == 0:
                    entry.measures = contestant.measure()
            except Exception as error:
                entry.failure = f"{type(error).__name__}: {error}"
                log(f"{repetition + 1}/{repeat} {entry.name}: {entry.failure}")
            else:
                rate = entry.rows / entry.seconds[-1]
                log(f"{repetition + 1}/{repeat} {entry.name}: {rate:,.0f} items/s")
    return entries
