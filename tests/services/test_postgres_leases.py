"""One process writes a workspace in PostgreSQL; another takes it over when the first is gone."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import psycopg
import pytest

from tagalong.files.lock import BusyError
from tagalong.journal import JournalError, LeaseLostError, StorageError, Workspace, verify
from tagalong.journal.postgres import PostgresStorage, PostgresWorkspaces
from tests.services.postgres_holder import Holder
from tests.services.waiting import wait_until
from tests.timeouts import TIMEOUT

NAME = "team"
LONG = 600.0
"""Seconds of a lease that ends by itself only if the test hangs."""
SHORT = 5.0
"""Seconds of a lease whose end, or next sign of life, is waited for. A holder on a busy machine
must give a sign of life within them."""

ADVISORY_LOCKS = (
    "FROM pg_locks WHERE locktype = 'advisory' AND "
    "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@pytest.fixture
def holder_of(postgres_url: str) -> Iterator[Callable[[float], Holder]]:
    with ExitStack() as stack:

        def start(seconds: float) -> Holder:
            holder = Holder(postgres_url, NAME, seconds)
            stack.enter_context(holder.process)
            stack.callback(holder.process.kill)
            return holder

        yield start


def end_lease_session(url: str) -> None:
    """End the session that holds the lease, as a broken network would."""
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        ended = connection.execute(
            f"SELECT pg_terminate_backend(pid, 60000) {ADVISORY_LOCKS}"
        ).fetchall()
    assert ended == [(True,)]


def test_a_second_process_is_refused_and_learns_the_address(
    postgres_url: str, holder_of: Callable[[float], Holder]
) -> None:
    holder = holder_of(LONG)
    words: list[str] = []
    with pytest.raises(BusyError, match=rf"in use by process {holder.process.pid} \(tagalong\)"):
        Workspace(PostgresStorage(postgres_url, NAME), wait=0.2, on_wait=words.append)
    assert len(words) == 1
    workspaces = PostgresWorkspaces(postgres_url)
    assert workspaces.holder(NAME) == "http://holder:8420"
    with pytest.raises(BusyError):
        workspaces.remove(NAME)
    assert workspaces.exists(NAME)


def test_the_same_process_is_refused_too(postgres_url: str) -> None:
    workspaces = PostgresWorkspaces(postgres_url)
    with workspaces.open("default"), pytest.raises(BusyError):
        workspaces.open("default")
    with workspaces.open("default") as workspace:
        assert workspace.tip == 1


def test_many_workspaces_share_one_session(postgres_url: str) -> None:
    workspaces = PostgresWorkspaces(postgres_url, advertise="here")
    for name in ("a", "b", "c"):
        workspaces.create(name)
    assert workspaces.names() == ["default", "a", "b", "c"]
    with closing(psycopg.connect(postgres_url)) as connection, ExitStack() as stack:
        for name in ("a", "b", "c"):
            stack.enter_context(workspaces.open(name))
        query = (
            "SELECT COUNT(DISTINCT pid), COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND "
        )
        query += "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        assert connection.execute(query).fetchall() == [(1, 3)]
        assert [workspaces.holder(name) for name in "abc"] == ["here"] * 3
    assert [workspaces.holder(name) for name in "abc"] == [None] * 3
    workspaces.remove("b")
    assert workspaces.names() == ["default", "a", "c"]


def test_take_over_after_the_holder_was_killed(
    postgres_url: str, holder_of: Callable[[float], Holder]
) -> None:
    holder = holder_of(LONG)
    seqs = [holder.call("add", f"text {i}", ["money"], id=f"item {i}") for i in range(5)]
    holder.process.send_signal(signal.SIGKILL)
    storage = PostgresStorage(postgres_url, NAME)
    with Workspace(storage, create=False, wait=TIMEOUT) as workspace:
        assert [workspace.item(f"item {i}").seq for i in range(5)] == seqs
        assert workspace.add("later", ["money"]).seq == seqs[-1] + 1
    assert verify(storage).problems == []


def test_a_stopped_holder_cannot_write_after_a_take_over(
    postgres_url: str, holder_of: Callable[[float], Holder]
) -> None:
    """PostgreSQL ends the session of a holder that says nothing; the epoch keeps it out."""
    holder = holder_of(SHORT)
    assert holder.call("add", "first", ["money"], id="first") == 2
    holder.process.send_signal(signal.SIGSTOP)
    storage = PostgresStorage(postgres_url, NAME)
    with Workspace(storage, create=False, wait=TIMEOUT) as workspace:
        assert workspace.add("second", ["travel"], id="second").seq == 3
        for number in range(3):
            holder.send("answer", "first", ["wrong"], key=f"key {number}")
        holder.send("set_document", "wrong", 1)
        holder.send("snapshot")
        holder.send("is_lost")
        holder.process.send_signal(signal.SIGCONT)
        assert [holder.result() for _ in range(6)] == [
            *["LeaseLostError"] * 4,
            "LeaseLostError",
            True,
        ]
        assert workspace.add("third", ["travel"], id="third").seq == 4
        known = workspace.model(TIMEOUT).hash
        assert workspace.document("wrong") is None
        assert [event.kind for event in workspace.events()] == ["created", "item", "item", "item"]
    holder.send("is_lost")  # nor after the second holder is gone
    assert holder.result() is True
    assert holder.call("answer", "first", ["wrong"]) == "LeaseLostError"
    found = verify(storage)
    assert (found.problems, found.events, found.hash) == ([], 4, known)


def test_a_holder_stopped_within_a_transaction(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that does not go on is ended, and nothing of it is stored."""
    first = PostgresStorage(postgres_url, NAME, lease_seconds=SHORT)
    second = PostgresStorage(postgres_url, NAME)
    with Workspace(first) as workspace:
        workspace.add("one", ["money"], id="one")
        taken: list[Workspace] = []

        def stop_within(*given: Any, **named: Any) -> int:
            seq = answer(*given, **named)
            with first._session._mutex:  # a process that is stopped gives no sign of life
                end_lease_session(postgres_url)
                # It waits until the transaction is ended.
                taken.append(Workspace(second, create=False, wait=TIMEOUT))
            return seq

        answer = workspace._recorder.answer
        monkeypatch.setattr(workspace._recorder, "answer", stop_within)
        with pytest.raises(StorageError):
            workspace.answer("one", ["wrong"])
        monkeypatch.undo()
        with taken[0] as other:
            assert other.tip == 2
            with pytest.raises(LeaseLostError):
                workspace.answer("one", ["wrong"])
            other.answer("one", ["travel"])
    assert verify(second).problems == []


def test_a_lost_session_is_renewed_if_nobody_has_taken_the_workspace(postgres_url: str) -> None:
    storage = PostgresStorage(postgres_url, NAME, lease_seconds=SHORT)
    workspaces = PostgresWorkspaces(postgres_url)
    with Workspace(storage) as workspace:
        end_lease_session(postgres_url)
        assert workspace.add("text", ["money"]).seq == 2  # the epoch is still its own
        wait_until(lambda: workspaces.holder(NAME) is not None)  # until the next sign of life
        with pytest.raises(BusyError):
            Workspace(PostgresStorage(postgres_url, NAME))
        assert workspace.add("text", ["money"]).seq == 3
        assert not workspace.is_lost
    assert workspaces.holder(NAME) is None


def test_a_lease_that_was_taken_while_the_session_was_lost(postgres_url: str) -> None:
    first, second = (PostgresStorage(postgres_url, NAME, lease_seconds=LONG) for _ in range(2))
    with Workspace(first) as workspace:
        workspace.add("text", ["money"])
        end_lease_session(postgres_url)
        Workspace(second, create=False).close()
        before = workspace.model(TIMEOUT)
        with pytest.raises(LeaseLostError, match="another process has taken"):
            workspace.add("more", ["money"])
        assert workspace.is_lost
        assert workspace.model(TIMEOUT) == before  # what it knows can still be read
    with Workspace(second, create=False) as workspace:
        assert workspace.tip == 2


WRITES: dict[str, Callable[[Workspace], object]] = {
    "event": lambda workspace: workspace.add_label("wrong"),
    "document": lambda workspace: workspace.set_document("wrong", 1),
    "snapshot": lambda workspace: workspace.snapshot(),
    "snapshots removed": lambda workspace: workspace.storage.snapshots.remove([SNAPSHOT]),
}
SNAPSHOT = "000000000001-0e5751c0.tagalong"


@pytest.mark.parametrize("write", WRITES)
def test_every_kind_of_write_is_fenced(postgres_url: str, write: str) -> None:
    """The old holder does not know that it has lost the lease: only the epoch can tell."""
    first, second = (PostgresStorage(postgres_url, NAME, lease_seconds=LONG) for _ in range(2))
    with Workspace(first) as workspace, closing(psycopg.connect(postgres_url)) as connection:
        connection.execute("SET search_path TO tagalong_1")
        end_lease_session(postgres_url)
        with Workspace(second, create=False) as other:
            connection.execute("INSERT INTO snapshot_parts VALUES (%s, 0, 'x')", (SNAPSHOT,))
            connection.commit()
            with pytest.raises(JournalError, match="another process has taken"):
                WRITES[write](workspace)
            assert (other.tip, other.document("wrong"), other.labels) == (1, None, [])
        query = "SELECT name FROM snapshot_parts"
        assert connection.execute(query).fetchall() == [(SNAPSHOT,)]


def test_the_holder_is_no_holder_after_a_fork(postgres_url: str) -> None:
    with Workspace(PostgresStorage(postgres_url, NAME)) as workspace:
        workspace.add("text", ["money"])
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                workspace.add("more", ["money"])
            except StorageError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        assert workspace.add("more", ["money"]).seq == 3
