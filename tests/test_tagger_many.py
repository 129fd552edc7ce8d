"""Many items at once: the bits of single items for any number of threads, errors, user code."""

import copy
import gc
import itertools
import math
import os
import pickle
import signal
import threading
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import Item, LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker, Tagger
from tagalong.tagger import parallel
from tagalong.tagger.suggestions import Suggestion
from tagalong.tagger.targets import LabelTargets
from tests.online.test_shared_custom import Described, described_tagger
from tests.test_tagger_answers import taught, texts
from tests.timeouts import TIMEOUT

WORDS = [text for text, _ in texts(3, seed=9)]
LEARNERS = {
    "race": LabelRanker,
    "one learner": lambda: LabelRanker(race=None),
    "float64": lambda: LabelRanker(dtype="float64"),
    "without probabilities": lambda: LabelRanker(probability=False),
    "shared": SharedLabelRanker,
    "predtron": lambda: Predtron("multiclass"),
    "lists": lambda: PartialFeedbackRanker(covariance="diagonal"),
}
TAUGHT: dict[str, Tagger] = {}


def taught_by(name: str) -> Tagger:
    if name not in TAUGHT:
        TAUGHT[name] = taught(120, learner=LEARNERS[name]())
    return TAUGHT[name]


def mixed_items(count: int) -> list[Any]:
    """More items than one thread takes at a time, of all forms."""
    odd = ["", "unheard of", "Ünïcode ﬁ ligatures", Item(text={"subject": "invoice"}, id="a")]
    found: list[Any] = [*odd, {"invoice": 2.0}, Item(features={"priority": "high"})]
    return found + [text for text, _ in texts(count - len(found), seed=1)]


def facts(suggestions: Any) -> list[Any]:
    return [
        (each, each.whole, each.known, each.in_runs, each.audited, type(each))
        for each in suggestions
    ]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_the_bits_do_not_depend_on_the_threads(name: str, threads: int | None) -> None:
    tagger = taught_by(name)
    items = mixed_items(3 * parallel.ITEMS_PER_PART + 7)
    for k in (0, 2, None):
        together = tagger.suggest_many(items, k, threads=threads)
        assert facts(together) == facts([tagger.suggest(item, k) for item in items])
    few = items[: parallel.ITEMS_PER_PART + 9]
    labels: list[Any] = [tagger.labels[i % 3] for i in range(len(few))]
    if name != "lists":  # whose list for an item may be empty
        assert tagger.explain_many(few, threads=threads) == [tagger.explain(x) for x in few]
        labels[::3] = [None] * len(labels[::3])
    assert tagger.explain_many(few, labels, threads) == [
        tagger.explain(item, label) for item, label in zip(few, labels, strict=True)
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_several_threads_are_used_only_if_asked_for(monkeypatch: Any, threads: int) -> None:
    tagger = taught(400)
    sure = [texts(1)[0][0]] * (6 * parallel.ITEMS_PER_PART)
    assert tagger.suggest(sure[0])[0].sure
    used: set[int] = set()
    asks = tagger._audit.asks
    barrier = threading.Barrier(threads)  # all threads have to take part

    def watched(item: Any) -> bool:
        if threading.get_ident() not in used:
            used.add(threading.get_ident())
            barrier.wait(60)
        return asks(item)

    monkeypatch.setattr(tagger._audit, "asks", watched)
    tagger.suggest_many(sure, threads=threads)
    assert len(used) == threads
    assert (threading.get_ident() in used) == (threads == 1)


class Recording(Described):
    """Custom features that record the threads in which they are computed."""

    threads: ClassVar[set[int]] = set()

    def rows(self, x: Any, labels: Any) -> Any:
        self.threads.add(threading.get_ident())
        return super().rows(x, labels)


def test_code_of_the_user_runs_in_the_calling_thread() -> None:
    tagger = described_tagger(Recording)
    items = ["the invoice for the hotel"] * (2 * parallel.ITEMS_PER_PART + 1)
    found = tagger.suggest_many(items, threads=4)
    assert found == [tagger.suggest(item) for item in items]
    assert tagger.explain_many(items, threads=4)[-1] == tagger.explain(items[0])
    assert Recording.threads == {threading.get_ident()}


@given(
    items=st.lists(st.lists(st.sampled_from([*" ".join(WORDS).split(), "new"])), max_size=4),
    k=st.none() | st.integers(0, 4),
    required=st.floats(0.01, 1.0),
    own=st.dictionaries(
        st.sampled_from(["money", "travel", "unheard of"]),
        st.floats(0.01, 1.0) | st.just("never"),
    ),
)
@settings(deadline=None)
def test_native_suggestions_are_those_of_the_places(
    items: list[list[str]], k: int | None, required: float, own: dict[str, Any]
) -> None:
    tagger = copy.copy(taught_by("race"))
    tagger._targets = LabelTargets(dict[Hashable, object](own.items()))
    lines = [" ".join(words) for words in items]
    rows = tagger.features.read_rows(lines, match=True)
    ties = (tagger.history.count, tagger.history.last)
    places = tagger.learner.find_places(rows, k, ties)
    names = tagger.learner.labels.names
    expected = [
        [
            Suggestion(
                label=names[places.labels[row, i]],
                score=float(places.scores[row, i]),
                probability=float(places.probabilities[row, i]),
                chosen=bool(places.chosen[row, i]),
                sure=bool(
                    places.assured[row, i]
                    >= tagger._targets.required(names[places.labels[row, i]], required)
                ),
            )
            for i in range(places.labels.shape[1])
            if places.labels[row, i] >= 0
        ]
        for row in range(len(lines))
    ]
    found = tagger.suggest_many(lines, k, required)
    assert [list(each) for each in found] == expected
    for one in (one for each in found for one in each):
        values = (one.score, one.probability, one.chosen, one.sure, one.explores)
        assert list(map(type, values)) == [float, float, bool, bool, bool]


def test_native_suggestions_are_ordinary_objects() -> None:
    (one, *_) = found = taught_by("race").suggest(WORDS[0])
    assert type(one) is Suggestion
    assert pickle.loads(pickle.dumps(found)) == found
    assert copy.deepcopy(one) == one
    assert eval(repr(one)) == one
    assert hash(one) == hash(copy.copy(one))
    with pytest.raises(AttributeError):
        one.score = 1.0  # type: ignore[misc]


def test_suggestions_with_labels_of_any_type_are_collected() -> None:
    tagger = Tagger()
    for _ in range(3):
        tagger.learn("invoice", [("money", "due")])
    (one,) = tagger.suggest("invoice")
    assert one.label == ("money", "due")
    assert gc.is_tracked(one)  # a tuple may be part of a cycle
    assert not gc.is_tracked(taught_by("race").suggest("invoice")[0])


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_a_wrong_number_of_threads_is_refused(threads: Any) -> None:
    for call in (taught_by("race").suggest_many, taught_by("race").explain_many):
        with pytest.raises(ValueError, match="threads must be"):
            call(WORDS, threads=threads)


def test_wrong_items_and_labels_are_refused() -> None:
    tagger = taught_by("race")
    before = pickle.dumps(tagger)
    wrong: Any
    for wrong in ("a text", 7, None):
        with pytest.raises(ValueError, match="items must be a collection of items"):
            tagger.suggest_many(wrong)
        with pytest.raises(ValueError, match="items must be a collection of items"):
            tagger.explain_many(wrong)
    with pytest.raises(ValueError, match="there are 3 items but 1 labels"):
        tagger.explain_many(WORDS, ["money"])
    with pytest.raises(ValueError, match="labels must have one label per item, got 'money'"):
        tagger.explain_many(WORDS, "money")
    with pytest.raises(ValueError, match="there is no label 'nonsense'"):
        tagger.explain_many(WORDS, ["money", "nonsense", None])
    with pytest.raises(ValueError, match="the tagger has no labels yet"):
        Tagger().explain_many(WORDS)
    assert tagger.suggest_many([]) == []
    assert tagger.explain_many([]) == []
    assert Tagger().suggest_many(["nothing", "learnt"]) == [[], []]
    assert pickle.dumps(tagger) == before


@pytest.mark.parametrize("threads", [1, 4])
def test_the_error_is_that_of_the_first_wrong_item(threads: int) -> None:
    items: list[Any] = [text for text, _ in texts(5 * parallel.ITEMS_PER_PART, seed=4)]
    items[3 * parallel.ITEMS_PER_PART] = 12345
    items[4 * parallel.ITEMS_PER_PART] = 67890
    items[parallel.ITEMS_PER_PART + 5] = {"a": math.inf}
    for call in (taught_by("race").suggest_many, taught_by("race").explain_many):
        with pytest.raises(ValueError, match="feature 'a' is inf"):
            call(items, threads=threads)


def test_learning_goes_on_between_calls_with_threads() -> None:
    tagger = taught(60)
    items = [text for text, _ in texts(4 * parallel.ITEMS_PER_PART, seed=5)]
    ended = threading.Event()
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            while not ended.is_set():
                found = tagger.suggest_many(items, threads=2)
                assert len(found) == len(items)
                tagger.explain_many(items[:3], threads=2)
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=ask) for _ in range(2)]
    for reader in readers:
        reader.start()
    for text, topic in texts(30, seed=6):
        tagger.learn(text, [topic, "new label"])
    ended.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert tagger.history.items == 90


class Alarm(Exception):
    """Raised by the signal handler."""


def test_a_signal_stops_the_threads() -> None:
    parts, started, handled = 100_000, itertools.count(1), threading.Event()
    last = 0

    def raise_alarm(number: int, frame: Any) -> None:
        handled.set()
        raise Alarm

    def work(part: Sequence[int]) -> list[int]:
        nonlocal last
        last = next(started)
        if last == 5:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            assert handled.wait(TIMEOUT)
        return list(part)

    others = set(threading.enumerate())  # of other tests, which may end meanwhile
    before = signal.signal(signal.SIGUSR1, raise_alarm)
    gc.disable()  # an exception during a collection is ignored
    try:
        with pytest.raises(Alarm):
            parallel.in_parts(work, range(parts * parallel.ITEMS_PER_PART), threads=2)
    finally:
        gc.enable()
        signal.signal(signal.SIGUSR1, before)
    assert set(threading.enumerate()) <= others
    assert 5 <= last < parts


def test_the_default_is_one_thread_per_core(monkeypatch: Any) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert parallel.checked_threads(None) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert parallel.checked_threads(None) == 1
    assert parallel.checked_threads(7) == 7


def test_explanations_of_many_labels_keep_their_bits() -> None:
    """The mean over the labels, which a race subtracts, is the sum of single contributions."""
    rng = np.random.default_rng(3)
    tagger = Tagger(LabelRanker(race=("unit", "idf", "one-vs-rest-idf", "bayes-idf")))
    words = np.array([f"w{i}" for i in range(60)])
    for _ in range(80):
        chosen = rng.choice(60, 8)
        tagger.learn(" ".join(words[chosen]), [f"label {chosen[0] % 12}", f"label {chosen[1] % 7}"])
    for _ in range(5):
        text = " ".join(rng.choice(words, 8))
        for one in tagger.suggest(text, k=None):
            found = tagger.explain(text, one.label)
            assert found.score == one.score
            assert found.total == pytest.approx(found.score, abs=1e-12)
            _, parts, score = tagger.learner.explain_one(tagger.features.read(text), one.label)
            assert math.fsum(parts) == pytest.approx(score, abs=2e-5)
