"""Threads that let several learners process the same chunks, each at its own pace."""

from collections import deque
from collections.abc import Sequence
from threading import Condition, Thread
from types import TracebackType
from typing import Generic, Protocol, TypeVar

__all__ = ["ChunkLearner", "ChunkWorkers"]

C = TypeVar("C", contravariant=True)

CHUNKS_AHEAD = 8
"""Number of chunks that may wait for the slowest learner."""


class ChunkLearner(Protocol[C]):
    """A learner that is called by one thread at a time."""

    def learn(self, chunk: C) -> None:
        """Learn a chunk."""


class ChunkWorkers(Generic[C]):
    """Context manager with threads that pass every chunk to every learner, in order.

    A free thread continues with the learner that is furthest behind, so that no core is idle while
    a learner has chunks to learn. If learners fail, the first failure by chunk, and then by
    learner, is raised, whatever the number of threads.

    Parameters
    ----------
    learners : sequence of ChunkLearner
        The learners.
    threads : int
        Number of threads.
    """

    def __init__(self, learners: Sequence[ChunkLearner[C]], threads: int):
        self._learners = learners
        self._waiting: list[deque[C]] = [deque() for _ in learners]
        self._busy = [False] * len(learners)
        self._learnt = [0] * len(learners)
        self._failures: list[tuple[int, int, BaseException]] = []
        self._closed = False
        self._changed = Condition()
        self._threads = [
            Thread(target=self._work, name="chunk worker", daemon=True) for _ in range(threads)
        ]

    def add(self, chunk: C) -> None:
        """Pass a chunk to all learners; wait as long as too many chunks wait for one of them.

        Raises
        ------
        Exception
            The failure of a learner.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._failures or max(map(len, self._waiting)) < CHUNKS_AHEAD
            )
            if not self._failures:
                for waiting in self._waiting:
                    waiting.append(chunk)
                self._changed.notify_all()
                return
        self.finish()

    def finish(self) -> None:
        """Wait until all learners have learnt all chunks.

        Raises
        ------
        Exception
            The failure of a learner.
        """
        with self._changed:
            self._changed.wait_for(lambda: not any(self._busy) and self._next() is None)
            if self._failures:
                raise min(self._failures, key=lambda failure: failure[:2])[2]

    def __enter__(self) -> "ChunkWorkers[C]":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _next(self) -> int | None:
        """Return the learner that is furthest behind and free; None if there is none."""
        last = min((chunk for chunk, _, _ in self._failures), default=None)
        failed = {learner for _, learner, _ in self._failures}
        ready = [
            number
            for number, waiting in enumerate(self._waiting)
            if waiting
            and not self._busy[number]
            and number not in failed
            # Chunks after a failure are not learnt, those before it are: another may fail earlier.
            and (last is None or self._learnt[number] <= last)
        ]
        return max(ready, key=lambda number: len(self._waiting[number]), default=None)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._next() is not None)
                number = self._next()
                if self._closed or number is None:
                    return
                chunk = self._waiting[number].popleft()
                self._busy[number] = True
                self._changed.notify_all()  # there is room for another chunk
            failure: BaseException | None = None
            try:
                self._learners[number].learn(chunk)
            except BaseException as error:  # raised by `add` or `finish`
                failure = error
            with self._changed:
                if failure is not None:
                    self._failures.append((self._learnt[number], number, failure))
                self._learnt[number] += 1
                self._busy[number] = False
                self._changed.notify_all()
