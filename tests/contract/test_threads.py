"""One writer, many readers: nobody ever sees a half-made update."""

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import pytest

from tests.contract import learners
from tests.contract.bits import assert_same, flatten, holder_of, native_of, whole
from tests.contract.learners import LEARNERS, Learner, learners_that
from tests.contract.readers import read_while_writing
from tests.contract.stream import make_stream

# The other configurations of a ranker differ in their rules only, not in what they lock.
ALIKE = {"euclidean-fixed", "interior-point", "entropic-smooth-float64", "simopt", "plain-rows"}
DIFFERENT = [each for each in LEARNERS if each.name.removeprefix("ranker-") not in ALIKE]
WIDE = make_stream(seed=11, rows=300, labels=60)
PROBE = WIDE.X[[0, 1]]
PROBE_PAIRS = list(WIDE.pairs())[:2]


def batches(model: Any, size: int) -> Iterator[Callable[[], object]]:
    """The stream from its second row on, batch by batch."""
    for start in range(1, len(WIDE.Y), size):
        part = WIDE.part(slice(start, start + size))
        yield partial(model.partial_fit, part.X, part.Y)


@learners_that(learners.SHARED, learners.RANK, among=DIFFERENT)
def test_readers_see_scores_between_two_rounds_only(learner: Learner) -> None:
    """Every score read must be one that the model has between some round and the next."""
    alone = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    possible = [{row.tobytes()} for row in alone.decision_function(PROBE)]
    for learn in batches(alone, 1):
        learn()
        for seen, row in zip(possible, alone.decision_function(PROBE), strict=True):
            seen.add(row.tobytes())

    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])

    def read() -> None:
        for seen, row in zip(possible, shared.decision_function(PROBE), strict=True):
            assert row.tobytes() in seen

    read_while_writing(batches(shared, 40), read)
    assert_same(whole(shared), whole(alone))


@learners_that(learners.SHARED, learners.LEARN_ONE, among=DIFFERENT)
def test_readers_always_get_a_ranking_of_all_labels(learner: Learner) -> None:
    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    everything = list(range(60))

    def read() -> None:
        for x in PROBE_PAIRS:
            assert sorted(shared.rank_one(x)) == everything
        assert sorted(shared.rank(PROBE)[0].tolist()) == everything

    read_while_writing(batches(shared, 40), read)
    assert_same(whole(shared), whole(learner.make().partial_fit(WIDE.X, WIDE.Y)))


@learners_that(learners.SHARED, learners.GROW, learners.LEARN_ONE, among=DIFFERENT)
def test_readers_may_read_while_labels_appear(learner: Learner) -> None:
    part = WIDE.part(slice(0, 100))
    shared = learner.make().partial_fit(part.X[:1], part.sets()[:1], "grow")
    every_label = {f"label-{y}" for y in range(60)}

    def read() -> None:
        known = set(shared.classes_.tolist())
        for x in PROBE_PAIRS:
            found = shared.rank_one(x)
            assert len(set(found)) == len(found)
            assert known <= set(found) <= every_label
        best = shared.rank(PROBE, 2)
        assert set(best.ravel().tolist()) <= every_label

    examples = list(zip(part.pairs(), part.sets(), strict=True))[1:]
    read_while_writing([partial(shared.learn_one, x, y) for x, y in examples], read)
    assert_same(whole(shared), whole(learner.make().partial_fit(part.X, part.sets(), "grow")))


@learners_that(learners.SHARED, learners.LEARN_ONE, among=DIFFERENT)
def test_readers_notice_nothing_of_examples_that_are_refused(learner: Learner) -> None:
    shared = learner.make().partial_fit(WIDE.X[:5], WIDE.Y[:5])
    expected = [shared.rank_one(x) for x in PROBE_PAIRS]

    def refuse() -> None:
        for _ in range(100):
            with pytest.raises(ValueError, match="feature 3 is NaN"):
                shared.learn_one(([3], [float("nan")]), 0)

    def read() -> None:
        assert [shared.rank_one(x) for x in PROBE_PAIRS] == expected

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # let threads take turns as often as they can
    try:
        read_while_writing([refuse] * 4, read)
    finally:
        sys.setswitchinterval(interval)


class Meddler:
    """A native learner during whose calls a writer teaches the model another label."""

    def __init__(self, model: Any):
        self.native, self.model, self.count = native_of(model), model, 0

    def __getattr__(self, name: str) -> Any:
        if name not in ("rank", "rank_one", "score"):
            return getattr(self.native, name)

        def call(*arguments: Any) -> Any:
            self.count += 1
            self.model.learn_one(PROBE_PAIRS[0], f"new-{self.count}")
            return getattr(self.native, name)(*arguments)

        return call


@learners_that(learners.SHARED, learners.GROW, learners.LEARN_ONE, among=DIFFERENT)
def test_a_label_may_appear_during_a_call(learner: Learner) -> None:
    """The moment that the test above hits by chance only."""
    model = learner.make().partial_fit(WIDE.X[:5], WIDE.part(slice(0, 5)).sets(), "grow")
    holder_of(model)._native = Meddler(model)
    for look in (model.decision_function, model.predict):
        assert look(PROBE).shape in [(2, len(model.classes_) - late) for late in (0, 1)]
    for found in (model.rank_one(PROBE_PAIRS[0]), model.rank(PROBE)[0].tolist()):
        assert len(set(found)) == len(found)
        assert set(found) <= set(model.classes_.tolist())


@learners_that(learners.SHARED, learners.RANK, among=DIFFERENT)
def test_a_state_is_taken_between_two_rounds(learner: Learner) -> None:
    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])

    @cache
    def state_after(rounds: int) -> dict[str, bytes]:
        alone = learner.make().fit(WIDE.X[:rounds], WIDE.Y[:rounds])
        return flatten(native_of(alone).state())

    def read() -> None:
        state = native_of(shared).state()
        assert_same(flatten(state), state_after(state["numbers"]["rounds"]))

    read_while_writing(batches(shared, 100), read)
