"""Tests of the threads of ``compare``: every learner gets every chunk, in order."""

import threading
from collections.abc import Sequence

import pytest

from tagalong.cli.chunk_workers import CHUNKS_AHEAD, ChunkLearner, ChunkWorkers

TIMEOUT = 60


class Recorder:
    """A learner that records its chunks, and may wait or fail at one of them."""

    def __init__(self, waits_at: int | None = None, fails_at: int | None = None):
        self.chunks: list[int] = []
        self.waits_at, self.fails_at = waits_at, fails_at
        self.waits, self.goes_on = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def learn(self, chunk: int) -> None:
        assert self._lock.acquire(blocking=False)  # one thread at a time
        try:
            if chunk == self.waits_at:
                self.waits.set()
                assert self.goes_on.wait(TIMEOUT)
            if chunk == self.fails_at:
                raise ValueError(f"chunk {chunk}")
            self.chunks.append(chunk)
        finally:
            self._lock.release()


def learn_all(learners: Sequence[ChunkLearner[int]], threads: int, chunks: int) -> None:
    with ChunkWorkers(learners, threads) as workers:
        for chunk in range(chunks):
            workers.add(chunk)
        workers.finish()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_learner_gets_every_chunk_in_order(threads: int) -> None:
    learners = [Recorder() for _ in range(3)]
    with ChunkWorkers(learners, threads) as workers:
        for chunk in range(100):
            workers.add(chunk)
        workers.finish()
        assert [learner.chunks for learner in learners] == [list(range(100))] * 3
        workers.add(100)
        workers.finish()
    assert [len(learner.chunks) for learner in learners] == [101] * 3


def test_a_slow_learner_does_not_hold_up_the_others() -> None:
    slow, fast = Recorder(waits_at=0), Recorder()
    with ChunkWorkers([slow, fast], 2) as workers:
        workers.add(0)
        assert slow.waits.wait(TIMEOUT)
        for chunk in range(1, CHUNKS_AHEAD + 1):  # the first one is being learnt
            workers.add(chunk)
        with workers._changed:
            assert workers._changed.wait_for(lambda: len(fast.chunks) == CHUNKS_AHEAD + 1, TIMEOUT)
        assert slow.chunks == []
        slow.goes_on.set()
        workers.finish()
    assert slow.chunks == fast.chunks


def test_number_of_waiting_chunks_is_bounded() -> None:
    slow = Recorder(waits_at=0)
    added: list[int] = []

    def add() -> None:
        for chunk in range(CHUNKS_AHEAD + 5):
            workers.add(chunk)
            added.append(chunk)

    with ChunkWorkers([slow], 1) as workers:
        adding = threading.Thread(target=add)
        adding.start()
        assert slow.waits.wait(TIMEOUT)
        with workers._changed:
            assert workers._changed.wait_for(
                lambda: len(workers._waiting[0]) == CHUNKS_AHEAD, TIMEOUT
            )
        assert len(added) <= CHUNKS_AHEAD + 1
        slow.goes_on.set()
        adding.join(TIMEOUT)
        workers.finish()
    assert slow.chunks == list(range(CHUNKS_AHEAD + 5))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("fails_at", "raised"), [((5, 3, None), "chunk 3"), ((4, 4, 2), "chunk 2"), ((0, 1, 2), "0")]
)
def test_first_failure_is_raised(
    threads: int, fails_at: tuple[int | None, ...], raised: str
) -> None:
    learners = [Recorder(fails_at=at) for at in fails_at]
    with pytest.raises(ValueError, match=raised):
        learn_all(learners, threads, 20)


def test_of_equal_chunks_the_first_learner_decides() -> None:
    class Failing:
        def __init__(self, name: str):
            self.name = name

        def learn(self, chunk: int) -> None:
            raise ValueError(self.name)

    for _ in range(20):
        with pytest.raises(ValueError, match="first"):
            learn_all([Failing("first"), Failing("second")], 2, 1)
