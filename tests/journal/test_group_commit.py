"""Group commit: requests of many threads share commits, and are acknowledged after them."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagalong.journal import (
    JournalError,
    NotFoundError,
    RefusedError,
    StorageError,
    Workspace,
)
from tagalong.journal.reader import JournalReader
from tagalong.journal.store import JournalStore
from tests.journal.comparison import assert_equal, assert_tables_agree, naive_of
from tests.journal.examples import TOPICS, new_workspace, texts
from tests.timeouts import TIMEOUT

THREADS = 16


def count_commits(workspace: Workspace) -> list[str]:
    """Return a list to which every further commit of the workspace is added."""
    commits: list[str] = []

    def note(statement: str) -> None:
        if statement == "COMMIT":
            commits.append(statement)

    connection: Any = workspace._store._connection
    connection.set_trace_callback(note)
    return commits


class HeldBack:
    """Holds the next transaction of a journal back, before it is committed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self._started, self._go_on = threading.Event(), threading.Event()
        transaction = JournalStore.transaction

        @contextmanager
        def held_back(store: JournalStore) -> Iterator[None]:
            with transaction(store):
                yield
                self._started.set()
                assert self._go_on.wait(TIMEOUT)

        monkeypatch.setattr(JournalStore, "transaction", held_back)

    def wait(self) -> None:
        assert self._started.wait(TIMEOUT)

    def go_on(self) -> None:
        self._go_on.set()


def has_length(items: list[Any], length: int) -> bool:
    return len(items) == length


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(THREADS) as pool:
        yield pool


def test_requests_that_wait_share_one_commit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    commits = count_commits(workspace)
    held = HeldBack(monkeypatch)
    first = pool.submit(workspace.add, "the invoice", id="first")
    held.wait()
    others = [pool.submit(workspace.add, "the hotel", id=f"{n}") for n in range(THREADS - 1)]
    wait_until(lambda: len(workspace._commits._waiting) == THREADS - 1)
    # Nothing is acknowledged, and nobody sees anything, before the commit.
    assert not first.done()
    assert workspace.items() == []
    assert commits == []
    held.go_on()
    seqs = {future.result(TIMEOUT).seq for future in [first, *others]}
    assert seqs == set(range(2, THREADS + 2))
    assert len(commits) == 2


def test_a_refused_request_leaves_the_others_of_its_commit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    workspace.add("the invoice", id="a")
    workspace.change_settings(labels="fixed")
    commits = count_commits(workspace)
    held = HeldBack(monkeypatch)
    first = pool.submit(workspace.add_label, "money")
    held.wait()
    waiting = workspace._commits._waiting
    requests: list[Callable[[], Any]] = [
        lambda: workspace.answer("a", ["money"]),
        lambda: workspace.answer("missing", ["money"]),
        lambda: workspace.add("the hotel", ["travel"], id="b"),
        lambda: workspace.undo(1),
        lambda: workspace.undo(3),
        lambda: workspace.add("the hotel", ["travel"], id="b"),
    ]
    futures = []
    for number, request in enumerate(requests):
        futures.append(pool.submit(request))
        wait_until(partial(has_length, waiting, number + 1))
    held.go_on()
    assert first.result(TIMEOUT) == 4
    assert futures[0].result(TIMEOUT) == 5
    errors = [type(futures[n].exception(TIMEOUT)).__name__ for n in (1, 2, 3)]
    assert errors == ["NotFoundError", "RefusedError", "ConflictError"]
    assert futures[4].result(TIMEOUT) == 6
    assert futures[5].result(TIMEOUT).seq == 7  # labels may grow again
    assert len(commits) == 2
    assert_equal(workspace, naive_of(workspace.storage))


def test_closing_commits_what_waits_and_refuses_what_comes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    held = HeldBack(monkeypatch)
    first = pool.submit(workspace.add, "the invoice", id="first")
    held.wait()
    second = pool.submit(workspace.add, "the hotel", id="second")
    wait_until(lambda: len(workspace._commits._waiting) == 1)
    closing = pool.submit(workspace.close)
    wait_until(lambda: workspace._commits.is_closed)
    with pytest.raises(
        StorageError, match="closed"
    ):  # or it would go on for as long as others write
        workspace.add("the train", id="third")
    assert not closing.done()
    held.go_on()
    closing.result(TIMEOUT)
    assert [each.result(TIMEOUT).seq for each in (first, second)] == [2, 3]


def test_a_failed_commit_fails_all_its_requests(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    workspace.add("the invoice", id="a")
    transaction = JournalStore.transaction
    fails = [False]

    @contextmanager
    def failing(store: JournalStore) -> Iterator[None]:
        with transaction(store):
            yield
            if fails[0]:
                raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        held = HeldBack(patch)
        first = pool.submit(workspace.add_label, "money")
        held.wait()
        patch.setattr(JournalStore, "transaction", failing)
        fails[0] = True
        futures = [pool.submit(workspace.answer, "a", [f"label {n}"]) for n in range(5)]
        wait_until(lambda: len(workspace._commits._waiting) == 5)
        held.go_on()
        assert first.result(TIMEOUT) == 3
        errors = [future.exception(TIMEOUT) for future in futures]
        assert all(type(error) is StorageError for error in errors)
        assert len(set(map(id, errors))) == 5
        fails[0] = False
        assert workspace.answer("a", ["travel"]) == 4
        assert_equal(workspace, naive_of(workspace.storage))


def test_many_threads_give_the_state_of_one_order(folder: Path) -> None:
    """All threads add, answer, file, undo, forget and read; the journal says in which order."""
    errors: list[BaseException] = []
    refused: list[JournalError] = []
    with new_workspace(folder) as workspace:
        commits = count_commits(workspace)

        def act(number: int) -> None:
            rng = np.random.default_rng(number)
            own: list[str] = []
            for step, (text, topic) in enumerate(texts(25, seed=number)):
                id = f"{number}-{step}"
                try:
                    workspace.add(text, [topic] if rng.random() < 0.3 else None, id=id)
                    own.append(id)
                    chosen = str(rng.choice(own))
                    match int(rng.integers(7)):
                        case 0:
                            workspace.answer(chosen, [str(rng.choice(list(TOPICS)))])
                        case 1:
                            workspace.undo(int(rng.integers(2, workspace.tip + 1)), cascade=True)
                        case 2:
                            workspace.file(chosen, [topic], asked=bool(rng.integers(2)))
                        case 3:
                            workspace.add_label(f"label {rng.integers(5)}")
                        case 4:
                            workspace.rename_label(topic, f"{topic}s")
                        case 5:
                            workspace.suggest_many([text, "the"])
                            workspace.item(chosen)
                            workspace.report()
                        case _:
                            if rng.random() < 0.2:
                                workspace.forget(chosen)
                                own.remove(chosen)
                            else:
                                workspace.answer(chosen, [topic], was=None)
                except JournalError as error:
                    refused.append(error)
                except BaseException as error:
                    errors.append(error)

        threads = [threading.Thread(target=act, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert refused
        assert not any(isinstance(error, StorageError) for error in refused)
        assert workspace.problems == []
        assert len(commits) <= workspace.tip
        workspace.settle(TIMEOUT)
        naive = naive_of(folder)
        assert_equal(workspace, naive)
        assert_tables_agree(folder, naive)
    with JournalReader(folder / "journal.sqlite") as reader:
        assert len(list(reader.records())) == naive.tip  # every event is sound
    with Workspace(folder) as workspace:
        assert_equal(workspace, naive)


def test_readers_see_whole_requests_only(folder: Path, pool: ThreadPoolExecutor) -> None:
    """Many items are added at once: a reader sees all or none of them."""
    with new_workspace(folder) as workspace:
        seen: list[int] = []

        def read() -> None:
            while not done.is_set():
                seen.append(len(workspace.items(limit=1000)))

        done = threading.Event()
        readers = [pool.submit(read) for _ in range(4)]
        for number in range(20):
            workspace.add_many([{"id": 1.0}] * 10 if number % 2 else ["the invoice"] * 10)
        done.set()
        for reader in readers:
            reader.result(TIMEOUT)
        assert all(count % 10 == 0 for count in seen)


def test_no_work_waits_for_no_commit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    held = HeldBack(monkeypatch)
    first = pool.submit(workspace.add, "the invoice")
    held.wait()
    try:
        assert pool.submit(workspace.do_together, []).result(TIMEOUT) == []
    finally:
        held.go_on()
    assert first.result(TIMEOUT).seq == 2


def test_what_is_stored_is_acknowledged_whatever_fails_afterwards(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("no room")

    works = [workspace.answering("a", ["money"]), workspace.answering("b", ["money"])]
    workspace.add("the invoice", id="a")
    with monkeypatch.context() as patch:
        patch.setattr(workspace._keeper, "follow", fail)
        first, second = workspace.do_together(works)
    assert first == 3
    assert isinstance(second, JournalError)
    assert [str(problem) for problem in workspace.problems] == ["RuntimeError('no room')"]
    workspace.add("the hotel", ["travel"], id="c")
    assert_equal(workspace, naive_of(workspace.storage))


def test_labels_of_an_event_that_was_refused_are_not_known(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(store: JournalStore, seq: int, changes: dict[str, bool]) -> None:
        raise RefusedError("it cannot be stored")

    workspace.add("the invoice", id="a")
    with monkeypatch.context() as patch:
        patch.setattr(JournalStore, "set_label_changes", refuse)
        with pytest.raises(RefusedError, match="cannot be stored"):
            workspace.answer("a", ["money"])
    with pytest.raises(NotFoundError):
        workspace.rename_label("money", "cash")
    workspace.answer("a", ["money"])
    assert_tables_agree(workspace.folder, naive_of(workspace.storage))


def test_the_hash_of_the_model_holds_up_no_commit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    added: list[int] = []

    def look(*parts: object) -> str:
        added.append(pool.submit(workspace.add, "the hotel", ["travel"]).result(TIMEOUT).seq)
        return ""

    monkeypatch.setattr("tagalong.journal.workspace.hash_of_parts", look)
    assert workspace.model().seq == 1
    assert added == [2]
