"""PostgreSQL is killed under load, and connections are lost at the worst moments.

Everything acknowledged is there, once, and the model is the one of a run without any of that.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tagalong.journal import StorageError, Workspace, verify
from tagalong.journal.postgres import PostgresStorage
from tagalong.journal.postgres.connection import PostgresConnection
from tests.journal.examples import new_workspace, texts
from tests.services.postgres import PostgresProcess
from tests.timeouts import TIMEOUT

THREADS = 4


class Load:
    """Threads that add and answer items, and repeat each request until it is acknowledged."""

    def __init__(self, workspace: Workspace, steps: int):
        self._workspace = workspace
        self._steps = steps
        self._changed = threading.Condition()
        self.acknowledged: dict[str, tuple[int, int]] = {}
        self.failures = 0

    def run(self, thread: int) -> None:
        for step, (text, topic) in enumerate(texts(self._steps, seed=thread)):
            id = f"{thread}-{step}"
            add, answer = self._workspace.add, self._workspace.answer
            added = self._insist(partial(add, text, id=id, key=f"add {id}"))
            seq = self._insist(partial(answer, id, [topic], key=f"answer {id}", scope="x"))
            with self._changed:
                self.acknowledged[id] = added.seq, seq
                self._changed.notify_all()

    def _insist(self, request: Callable[[], Any]) -> Any:
        until = time.monotonic() + TIMEOUT
        while True:
            try:
                return request()
            except StorageError:
                self.failures += 1
                assert time.monotonic() < until
                time.sleep(0.01)

    def wait_for(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.acknowledged) >= count, TIMEOUT)


def run_again(storage: PostgresStorage, folder: Path) -> str:
    """The hash of a workspace in a folder that gets the same requests, without any failure."""
    with Workspace(storage, create=False) as workspace, new_workspace(folder) as again:
        ids = {}
        for event in workspace.events(after=1):
            if event.kind == "item":
                (record,) = workspace.items(after=event.seq - 1, limit=1)
                ids[event.seq] = record.id
                again.add(record.content.item, id=record.id)
            else:
                assert event.item is not None
                again.answer(ids[event.item], event.labels)
        assert again.tip == workspace.tip
        return again.model(TIMEOUT).hash


def kill_often(server: PostgresProcess, folder: Path, kills: int, steps: int) -> None:
    storage = PostgresStorage(server.url(), "load")
    with new_workspace(storage) as workspace, ThreadPoolExecutor(THREADS) as pool:
        load = Load(workspace, steps)
        done = [pool.submit(load.run, thread) for thread in range(THREADS)]
        for number in range(kills):
            load.wait_for((number + 1) * THREADS * steps // (kills + 2))
            server.kill()
            server.start()
        for each in done:
            each.result(TIMEOUT)
        assert load.failures  # the kills have hit something
        known = workspace.model(TIMEOUT)
        assert known.seq == workspace.tip == 1 + 2 * THREADS * steps
        events = {event.seq: event for event in workspace.events()}
        for id, (added, answer) in load.acknowledged.items():
            assert workspace.item(id).seq == added
            assert events[answer].item == added
    found = verify(storage)
    assert (found.problems, found.hash) == ([], known.hash)
    assert run_again(storage, folder) == known.hash


def test_kills_of_the_database_under_load(
    own_postgres_server: PostgresProcess, tmp_path: Path
) -> None:
    kill_often(own_postgres_server, tmp_path / "again", kills=2, steps=20)


@pytest.mark.long
def test_many_kills_of_the_database_under_load(
    own_postgres_server: PostgresProcess, tmp_path: Path
) -> None:
    kill_often(own_postgres_server, tmp_path / "again", kills=60, steps=600)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_lost_during_a_commit(
    postgres_url: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whether it was stored: it is not acknowledged, and repeating it is harmless."""
    storage = PostgresStorage(postgres_url)
    execute = PostgresConnection.execute
    lost: list[str] = []

    def lose(self: PostgresConnection, query: str, values: Any = ()) -> Any:
        if query == "COMMIT" and not lost and threading.current_thread() is main:
            lost.append(when)
            if when == "after":
                execute(self, query, values)
            self.close()
            raise psycopg.OperationalError("the connection was lost")
        return execute(self, query, values)

    with new_workspace(storage) as workspace:
        workspace.add("the first", id="a")
        main = threading.current_thread()
        monkeypatch.setattr(PostgresConnection, "execute", lose)
        with pytest.raises(StorageError, match="the connection was lost"):
            workspace.answer("a", ["money"], key="k", scope="s")
        assert lost
        assert workspace.tip == (3 if when == "after" else 2)
        assert "money" in workspace.labels or when == "before"
        assert workspace.model(TIMEOUT).seq == workspace.tip
        assert workspace.answer("a", ["money"], key="k", scope="s") == 3
        assert workspace.answer("a", ["money"], key="k", scope="s") == 3
        assert workspace.tip == 3
        known = workspace.model(TIMEOUT).hash
    found = verify(storage)
    assert (found.problems, found.hash) == ([], known)


def test_a_database_that_is_away_for_a_while(own_postgres_server: PostgresProcess) -> None:
    storage = PostgresStorage(own_postgres_server.url())
    with new_workspace(storage) as workspace:
        workspace.add("one", ["money"], id="one")
        workspace.item("one")  # this connection is kept
        own_postgres_server.kill()
        for _ in range(2):
            with pytest.raises(StorageError):
                workspace.answer("one", ["new label"])
            with pytest.raises(StorageError):
                workspace.item("one")
        assert workspace.suggest("one")[0].label == "money"  # the model is in memory
        own_postgres_server.start()
        assert workspace.item("one").labels == ["money"]
        assert workspace.answer("one", ["travel"]) == 3
        assert workspace.labels == ["money", "travel"]
        known = workspace.model(TIMEOUT).hash
    assert verify(storage).hash == known


def test_a_connection_lost_between_requests_is_not_noticed(postgres_url: str) -> None:
    with new_workspace(PostgresStorage(postgres_url)) as workspace:
        workspace.add("one", ["money"], id="one")
        workspace.item("one")
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert workspace.item("one").labels == ["money"]
        assert workspace.answer("one", ["travel"]) == 3
        assert workspace.problems == []
