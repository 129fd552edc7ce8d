"""One thread learns while others predict: no reader sees a partial update."""

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import pytest

from tests.contract import learners
from tests.contract.bits import assert_same, flatten, holder_of, native_of, rounds_of, whole
from tests.contract.learners import LEARNERS, LearnerCase, for_learners_with
from tests.contract.readers import read_while_writing
from tests.contract.stream import make_stream

# These configurations differ from another one only in their rules, not in their locking.
SAME_LOCKING = {
    "euclidean-fixed",
    "interior-point",
    "entropic-smooth-float64",
    "simopt",
    "plain-rows",
    "race-float64",
    "race-names",
    "race-without-relevance",
    "race-without-probability",
}
DISTINCT = [each for each in LEARNERS if each.name.removeprefix("ranker-") not in SAME_LOCKING]
WIDE = make_stream(seed=11, rows=300, labels=60)
PROBE = WIDE.X[[0, 1]]
PROBE_PAIRS = list(WIDE.pairs())[:2]


def batches(model: Any, size: int) -> Iterator[Callable[[], object]]:
    """Yield one call of partial_fit per batch of the stream, from its second row on."""
    for start in range(1, len(WIDE.Y), size):
        part = WIDE.part(slice(start, start + size))
        yield partial(model.partial_fit, part.X, part.Y)


@for_learners_with(learners.SHARED, learners.RANK, among=DISTINCT)
def test_readers_see_only_scores_between_two_rounds(learner: LearnerCase) -> None:
    """Every score that a reader gets is a score of the model between two rounds."""
    unread = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    possible = [{row.tobytes()} for row in unread.decision_function(PROBE)]
    for learn in batches(unread, 1):
        learn()
        for seen, row in zip(possible, unread.decision_function(PROBE), strict=True):
            seen.add(row.tobytes())

    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])

    def read() -> None:
        for seen, row in zip(possible, shared.decision_function(PROBE), strict=True):
            assert row.tobytes() in seen

    read_while_writing(batches(shared, 40), read)
    assert_same(whole(shared), whole(unread))


@for_learners_with(learners.SHARED, learners.LEARN_ONE, among=DISTINCT)
def test_readers_always_get_a_ranking_of_all_labels(learner: LearnerCase) -> None:
    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])
    everything = list(range(60))

    def read() -> None:
        for x in PROBE_PAIRS:
            assert sorted(shared.rank_one(x)) == everything
        assert sorted(shared.rank(PROBE)[0].tolist()) == everything

    read_while_writing(batches(shared, 40), read)
    assert_same(whole(shared), whole(learner.make().partial_fit(WIDE.X, WIDE.Y)))


@for_learners_with(learners.SHARED, learners.GROW, learners.LEARN_ONE, among=DISTINCT)
def test_readers_get_valid_rankings_while_labels_are_added(learner: LearnerCase) -> None:
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


@for_learners_with(learners.SHARED, learners.LEARN_ONE, among=DISTINCT)
def test_refused_examples_do_not_change_what_readers_see(learner: LearnerCase) -> None:
    shared = learner.make().partial_fit(WIDE.X[:5], WIDE.Y[:5])
    expected = [shared.rank_one(x) for x in PROBE_PAIRS]

    def refuse() -> None:
        for _ in range(100):
            with pytest.raises(ValueError, match="feature 3 is NaN"):
                shared.learn_one(([3], [float("nan")]), 0)

    def read() -> None:
        assert [shared.rank_one(x) for x in PROBE_PAIRS] == expected

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # switch threads as often as possible
    try:
        read_while_writing([refuse] * 4, read)
    finally:
        sys.setswitchinterval(interval)


class InterleavedNative:
    """A native learner during whose prediction calls the model learns a new label."""

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


@for_learners_with(learners.SHARED, learners.GROW, learners.LEARN_ONE, among=DISTINCT)
def test_a_label_may_be_added_during_a_call(learner: LearnerCase) -> None:
    """With real threads this interleaving happens only by chance."""
    model = learner.make().partial_fit(WIDE.X[:5], WIDE.part(slice(0, 5)).sets(), "grow")
    holder_of(model)._native = InterleavedNative(model)
    for method in (model.decision_function, model.predict):
        assert method(PROBE).shape in [(2, len(model.classes_) - late) for late in (0, 1)]
    for found in (model.rank_one(PROBE_PAIRS[0]), model.rank(PROBE)[0].tolist()):
        assert len(set(found)) == len(found)
        assert set(found) <= set(model.classes_.tolist())


@for_learners_with(learners.SHARED, learners.RANK, among=DISTINCT)
def test_a_native_state_is_never_read_within_a_round(learner: LearnerCase) -> None:
    shared = learner.make().partial_fit(WIDE.X[:1], WIDE.Y[:1])

    @cache
    def state_after(rounds: int) -> dict[str, bytes]:
        alone = learner.make().fit(WIDE.X[:rounds], WIDE.Y[:rounds])
        return flatten(native_of(alone).state())

    def read() -> None:
        state = native_of(shared).state()
        assert_same(flatten(state), state_after(rounds_of(state)))

    read_while_writing(batches(shared, 100), read)
