"""One online pass over a stream (rank, then learn), timed and measured alike for everyone."""

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
from benchmarks.turns import get_ready

Step = Callable[[Features, sp.csr_matrix], npt.NDArray[np.floating]]
"""Takes a chunk of rows and their labels, learns it, returns the scores made beforehand."""


class Contestant(Protocol):
    """A learner with its stream; ``rows`` of it are used."""

    @property
    def name(self) -> str: ...

    @property
    def rows(self) -> int: ...

    def time(self) -> float:
        """Seconds of one pass from a fresh start."""
        ...

    def measure(self) -> Measures:
        """The measures of one pass."""
        ...


@dataclass
class Stepwise:
    """A contestant that is called chunk by chunk; only the calls are timed."""

    name: str
    stream: Stream
    chunk: int
    fresh: Callable[[], Step]
    _measures: Measures | None = field(default=None, init=False)

    @property
    def rows(self) -> int:
        return self.stream.rows

    def time(self) -> float:
        step = self.fresh()
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
    """The stream in slices of ``size`` rows."""
    for start in range(0, stream.rows, size):
        rows = slice(start, start + size)
        yield stream.X[rows], stream.Y[rows]


@dataclass
class Entry:
    """What came of a contestant: its times and measures, or the reason why there are none."""

    name: str
    rows: int = 0
    seconds: list[float] = field(default_factory=list)
    measures: Measures | None = None
    failure: str = ""

    @property
    def best(self) -> float:
        """Items a second in the fastest repetition."""
        return self.rows / min(self.seconds)

    @property
    def median(self) -> float:
        """Items a second in the median repetition."""
        return self.rows / statistics.median(self.seconds)


def alternate(
    contestants: Sequence[Contestant], repeat: int, say: Callable[[str], None]
) -> list[Entry]:
    """Time everyone once, then everyone again, so that a slow spell of the machine hits all.

    A contestant that raises drops out with its reason; the others go on.
    """
    entries = [Entry(contestant.name, contestant.rows) for contestant in contestants]
    for repetition in range(repeat):
        for contestant, entry in zip(contestants, entries, strict=True):
            if entry.failure:
                continue
            get_ready()
            try:
                entry.seconds.append(contestant.time())
                if repetition == 0:
                    entry.measures = contestant.measure()
            except Exception as error:
                entry.failure = f"{type(error).__name__}: {error}"
                say(f"{repetition + 1}/{repeat} {entry.name}: {entry.failure}")
            else:
                rate = entry.rows / entry.seconds[-1]
                say(f"{repetition + 1}/{repeat} {entry.name}: {rate:,.0f} items/s")
    return entries
