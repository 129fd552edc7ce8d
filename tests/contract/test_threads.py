"""One writer, many readers: nobody ever sees a half-made update."""

import threading
from collections.abc import Callable
from typing import Any

from tests.contract import learners
from tests.contract.bits import assert_same, flatten, whole
from tests.contract.learners import Learner, learners_that
from tests.contract.stream import Stream, make_stream

READERS = 2
WIDE = make_stream(seed=11, rows=500, labels=60)
PROBE = WIDE.X[[0, 1]]


def read_while_writing(write: Callable[[], None], read: Callable[[], None]) -> None:
    """Call read over and over in other threads while write runs in this one."""
    done, failures = threading.Event(), []
    ready = threading.Barrier(READERS + 1)

    def keep_reading() -> None:
        ready.wait()
        try:
            while not done.is_set():
                read()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=keep_reading) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    ready.wait()
    try:
        write()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    for failure in failures:
        raise failure


def in_batches(model: Any, stream: Stream, size: int, from_row: int = 0) -> None:
    for start in range(from_row, len(stream.Y), size):
        part = stream.part(slice(start, start + size))
        model.partial_fit(part.X, part.Y)


@learners_that(learners.SHARED, learners.RANK)
def test_readers_see_scores_between_two_rounds_only(learner: Learner) -> None:
    """Every score read must be one that the model has between some round and the next."""
    alone = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    possible = [{row.tobytes()} for row in alone.decision_function(PROBE)]
    for i in range(1, len(WIDE.Y)):
        alone.partial_fit(WIDE.X[[i]], WIDE.Y[[i]])
        for seen, row in zip(possible, alone.decision_function(PROBE), strict=True):
            seen.add(row.tobytes())

    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])

    def read() -> None:
        for seen, row in zip(possible, shared.decision_function(PROBE), strict=True):
            assert row.tobytes() in seen

    read_while_writing(lambda: in_batches(shared, WIDE, 125, from_row=1), read)
    assert_same(whole(shared), whole(alone))


@learners_that(learners.SHARED, learners.LEARN_ONE)
def test_readers_always_get_a_ranking_of_all_labels(learner: Learner) -> None:
    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    everything = list(range(60))
    pairs = list(WIDE.pairs())[:2]

    def read() -> None:
        for x in pairs:
            assert sorted(shared.rank_one(x)) == everything
        assert sorted(shared.rank(PROBE)[0].tolist()) == everything

    read_while_writing(lambda: in_batches(shared, WIDE, 50, from_row=1), read)
    alone = learner.make().partial_fit(WIDE.X, WIDE.Y)
    assert_same(whole(shared), whole(alone))


@learners_that(learners.SHARED, learners.GROW, learners.LEARN_ONE)
def test_readers_may_read_while_labels_appear(learner: Learner) -> None:
    part = WIDE.part(slice(0, 300))
    shared = learner.make().partial_fit(part.X[:1], part.sets()[:1], "grow")
    every_label = {f"label-{y}" for y in range(60)}
    pairs = list(part.pairs())[:2]

    def read() -> None:
        known = set(shared.classes_.tolist())
        for x in pairs:
            found = shared.rank_one(x)
            assert len(set(found)) == len(found)
            assert known <= set(found) <= every_label
        best = shared.rank(PROBE, 2)
        assert set(best.ravel().tolist()) <= every_label

    def write() -> None:
        for i, (x, y) in enumerate(zip(part.pairs(), part.sets(), strict=True)):
            if i > 0:
                shared.learn_one(x, y)

    read_while_writing(write, read)
    alone = learner.make().partial_fit(part.X, part.sets(), "grow")
    assert_same(whole(shared), whole(alone))


@learners_that(learners.SHARED, learners.RANK)
def test_a_state_is_taken_between_two_rounds(learner: Learner) -> None:
    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    counts: list[int] = []

    def read() -> None:
        state = shared._native.state()
        rounds = state["numbers"]["rounds"]
        alone = learner.make().fit(WIDE.X[:rounds], WIDE.Y[:rounds])
        assert_same(flatten(state), flatten(alone._native.state()))
        counts.append(rounds)

    read_while_writing(lambda: in_batches(shared, WIDE, 100, from_row=1), read)
    assert counts
