"""A process that is forked while another thread learns can use the models."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tagalong import BlockProjection, LabelRanker, Predtron, Tagger, load
from tagalong.problems import Multilabel

FORKS = 12
SECONDS = 60

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@contextmanager
def repeating(work: Callable[[], object]) -> Iterator[None]:
    """Call a function again and again in another thread."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def exit_code_in_child(work: Callable[[], object]) -> int:
    """Fork, call a function in the new process, and return its exit code; -9 if it hangs."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_learner_can_be_used_in_a_forked_process() -> None:
    x = np.random.default_rng(0).normal(size=(400, 300))
    ranker = LabelRanker()
    labels = [[str(i % 7), str(i % 5)] for i in range(len(x))]
    ranker.partial_fit(x, labels, classes="grow")

    def use() -> None:
        ranker.predict(x[:3])
        ranker.partial_fit(x[:3], labels[:3])

    with repeating(lambda: ranker.partial_fit(x, labels)):
        assert [exit_code_in_child(use) for _ in range(FORKS)] == [0] * FORKS


def test_blocks_can_be_learnt_in_a_forked_process() -> None:
    x = np.random.default_rng(0).normal(size=(2000, 100))
    y = np.sign(x[:, 0])
    sizes = [4] * 500
    learner = BlockProjection()
    learner.learn_blocks(x, y, sizes)
    with repeating(lambda: learner.learn_blocks(x, y, sizes)):
        codes = [exit_code_in_child(lambda: learner.learn_block(x[:4], y[:4])) for _ in range(9)]
    assert codes == [0] * 9


def test_a_tagger_can_be_used_and_saved_in_a_forked_process(tmp_path: Path) -> None:
    tagger = Tagger()
    texts = [f"word{i % 11} word{i % 17} of a longer text" for i in range(300)]

    def learn() -> None:
        for i, text in enumerate(texts):
            tagger.learn(text, [str(i % 3)])

    def use() -> None:
        tagger.learn("another text", ["0"])
        assert tagger.suggest("word1")
        path = tmp_path / f"{os.getpid()}.tagalong"
        tagger.save(path)
        assert load(path).labels == tagger.labels

    tagger.learn(texts[0], ["0"])
    with repeating(learn):
        assert [exit_code_in_child(use) for _ in range(FORKS)] == [0] * FORKS


def test_nested_locks_of_a_custom_problem_do_not_block_a_fork() -> None:
    class Custom(Multilabel):
        """A problem that is decoded in Python."""

    tagger = Tagger(Predtron(Custom()))
    tagger.learn("a text", ["0"])
    with repeating(lambda: tagger.learn("some other text", ["1"])):
        codes = [exit_code_in_child(lambda: tagger.suggest("text")) for _ in range(FORKS)]
    assert codes == [0] * FORKS
    tagger.learn("the parent goes on", ["0"])


def test_two_threads_may_fork_at_once() -> None:
    """Each fork releases the locks that it has taken, and no others."""
    taggers = [Tagger().learn(f"text {number}", ["a"]) for number in range(20)]
    codes: list[int] = []

    def fork() -> None:
        codes.append(exit_code_in_child(lambda: taggers[0].learn("in a child", ["b"])))

    with repeating(lambda: taggers[1].learn("meanwhile", ["c"])):
        threads = [threading.Thread(target=fork) for _ in range(4 * FORKS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
    assert codes == [0] * len(threads)
    learnt = threading.Thread(target=lambda: [each.learn("after", ["d"]) for each in taggers])
    learnt.start()
    learnt.join(SECONDS)
    assert not learnt.is_alive()
