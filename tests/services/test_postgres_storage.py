"""Workspaces in PostgreSQL: the same as in a folder, and copied between both."""

import hashlib
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tagalong.journal import (
    ConflictError,
    DamagedError,
    NotFoundError,
    RefusedError,
    StorageError,
    Workspace,
    back_up,
    export_events,
    restore,
    verify,
)
from tagalong.journal.listing import disk_bytes, list_events
from tagalong.journal.postgres import PostgresStorage, PostgresWorkspaces, schema, snapshots
from tagalong.journal.postgres.connection import PostgresConnection
from tagalong.journal.reader import Snapshot
from tagalong.journal.schema import SCHEMA_VERSION
from tagalong.learning.items import Item
from tests.journal.comparison import assert_equal, naive_of
from tests.journal.examples import new_workspace, texts
from tests.services.postgres import PostgresProcess
from tests.timeouts import TIMEOUT


@pytest.fixture
def storage(postgres_url: str) -> PostgresStorage:
    return PostgresStorage(postgres_url, "team")


@pytest.fixture
def tables(postgres_url: str) -> Iterator[Any]:
    """A connection that may change the tables of the only workspace."""
    with closing(psycopg.connect(postgres_url, autocommit=True)) as connection:
        connection.execute("SET search_path TO tagalong_1")
        yield connection


def teach(workspace: Workspace) -> str:
    """A history with every kind of event; return the hash of the model."""
    for number, (text, topic) in enumerate(texts(30)):
        workspace.add(text, [topic], id=f"item {number}", source="mail", key=f"{number}")
    workspace.add("a flight to lisbon", id="open")
    workspace.answer("item 3", ["travel"], shown=["travel", "money"])
    workspace.undo(workspace.answer("item 4", ["family"]))
    workspace.rename_label("money", "bills")
    workspace.change_settings(min_precision=0.9)
    workspace.forget("item 5")
    workspace.set_document("notes", {"a": [1, "ü"]})
    workspace.snapshot()
    workspace.add("the invoice", ["bills"], id="last")
    return workspace.model(TIMEOUT).hash


def shown(workspace: Workspace) -> list[Any]:
    return [
        (each.id, each.seq, each.state, each.labels, each.content)
        for each in workspace.items(limit=1000)
    ]


def test_the_same_history_gives_the_same_model(storage: PostgresStorage, tmp_path: Path) -> None:
    with new_workspace(storage) as one, new_workspace(tmp_path / "w") as other:
        assert teach(one) == teach(other)
        assert shown(one) == shown(other)
        assert one.report().to_dict() == other.report().to_dict()
    found = verify(storage)
    assert found.problems == []
    assert found.compared


def test_threads_share_commits(storage: PostgresStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    execute, commits = PostgresConnection.execute, []

    def counted(self: PostgresConnection, query: str, values: Any = ()) -> Any:
        if query == "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE":
            commits.append(query)
        return execute(self, query, values)

    with new_workspace(storage) as workspace, ThreadPoolExecutor(16) as pool:
        monkeypatch.setattr(PostgresConnection, "execute", counted)
        with workspace._commits.paused():  # until all threads wait
            done = [
                pool.submit(workspace.add, text, [topic], id=str(number))
                for number, (text, topic) in enumerate(texts(16))
            ]
            while len(workspace._commits._waiting) < 16:
                pass
        assert sorted(each.result(TIMEOUT).seq for each in done) == list(range(2, 18))
        assert len(commits) == 1
        for each in [pool.submit(workspace.answer, str(i % 16), ["x"]) for i in range(100)]:
            each.result(TIMEOUT)
        assert workspace.tip == 117
        assert_equal(workspace, naive_of(storage))


def test_copies_between_folders_and_databases(
    storage: PostgresStorage, postgres_url: str, tmp_path: Path
) -> None:
    with new_workspace(storage) as workspace:
        known = teach(workspace)
        items, events = shown(workspace), list(export_events(storage))
        first = back_up(storage, tmp_path / "backup")  # while it is in use
    assert first.events == len(events)
    assert first.snapshot is not None
    second = restore(tmp_path / "backup", PostgresStorage(postgres_url, "second"))
    third = back_up(second.storage, PostgresStorage(postgres_url, "third"))
    for place in (first.folder, second.storage, third.storage):
        found = verify(place)
        assert (found.problems, found.hash, found.compared) == ([], known, 1)
        assert list(export_events(place)) == events
        with Workspace(place, create=False) as workspace:
            assert workspace.model(TIMEOUT).hash == known
            assert shown(workspace) == items
            assert workspace.document("notes") == {"a": [1, "ü"]}
    with Workspace(third.storage, create=False) as workspace:
        assert workspace.add("more", ["bills"]).seq == len(events) + 1


def test_a_place_that_is_taken_is_not_overwritten(storage: PostgresStorage, tmp_path: Path) -> None:
    new_workspace(storage).close()
    new_workspace(tmp_path / "w").close()
    with pytest.raises(RefusedError, match="workspace=team: there is a workspace here"):
        restore(tmp_path / "w", storage)
    with pytest.raises(ConflictError, match="exists already"):
        new_workspace(storage)
    assert verify(storage).events == 1


def test_a_damaged_backup_leaves_nothing(
    storage: PostgresStorage, tables: Any, tmp_path: Path
) -> None:
    with new_workspace(tmp_path / "w") as workspace:
        workspace.add("Lisbon", ["travel"])
    path = tmp_path / "w" / "journal.sqlite"
    path.write_bytes(path.read_bytes().replace(b"Lisbon", b"London"))
    with pytest.raises(DamagedError, match="not restored: journal: the content of event 2"):
        restore(tmp_path / "w", storage)
    assert not storage.exists()
    query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tagalong%'"
    assert tables.execute(query).fetchall() == [("tagalong",)]
    made = restore(tmp_path / "w", storage, force=True)
    assert made.problems == ["journal: the content of event 2 is not what was written"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE events SET actor = 'eve' WHERE seq = 7", "event 7 is not what was written"),
        ("DELETE FROM events WHERE seq = 6", "event 6 is missing"),
        ("UPDATE contents SET data = 'x' WHERE seq = 3", "the content of event 3 is not what was"),
        ("UPDATE items SET state = 'open' WHERE seq = 4", "item 'item 2' of event 4 is answered"),
        ("DELETE FROM taken_back", "was taken back, but is not listed as such"),
        ("DELETE FROM snapshot_parts", "the snapshot is missing"),
        ("UPDATE snapshot_parts SET data = data || 'x'", "damaged snapshot"),
        ("DROP TABLE label_changes", "label_changes"),
    ],
)
def test_damage_is_found(storage: PostgresStorage, tables: Any, change: str, problem: str) -> None:
    with new_workspace(storage) as workspace:
        teach(workspace)
    assert tables.execute(change).rowcount
    assert any(problem in each for each in verify(storage).problems)


def test_a_journal_without_its_last_event_is_not_opened(
    storage: PostgresStorage, tables: Any
) -> None:
    with new_workspace(storage) as workspace:
        workspace.add("one", id="one")
        workspace.set_document("x", 1)
        workspace.add_label("money")
    tables.execute("DELETE FROM events WHERE seq = 3")
    tables.execute("DELETE FROM label_changes WHERE seq = 3")
    with pytest.raises(DamagedError, match="event 3 is missing"):
        Workspace(storage)
    assert any("event 3 is missing" in each for each in verify(storage).problems)


def test_forgotten_content_is_in_no_table(storage: PostgresStorage, tables: Any) -> None:
    with new_workspace(storage) as workspace:
        workspace.add("secret words", ["money"], id="secret id", key="k")
        workspace.add("other words", ["money"], id="other")
        workspace.snapshot()
        workspace.forget("secret id")
        workspace.settle(TIMEOUT)
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'tagalong_1'"
        names = [name for (name,) in tables.execute(query)]
        assert {"contents", "snapshot_parts", "idempotency_keys"} <= set(names)
        for name in names:
            for row in tables.execute(f"SELECT * FROM {name}"):
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    assert b"secret" not in data, name
        assert tables.execute("SELECT COUNT(*) FROM snapshot_parts").fetchone() == (0,)


def test_snapshots_in_many_parts(
    storage: PostgresStorage, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "BYTES_IN_A_PART", 1000)
    with new_workspace(storage) as workspace:
        known = teach(workspace)
    assert tables.execute("SELECT MAX(part) FROM snapshot_parts").fetchone()[0] > 3
    with Workspace(storage, create=False) as workspace:
        assert workspace.problems == []
        assert workspace.model(TIMEOUT).hash == known
    assert verify(storage).compared


@pytest.mark.long
def test_a_large_snapshot_is_never_in_memory_as_a_whole(
    storage: PostgresStorage, tmp_path: Path
) -> None:
    size, part = 220_000_000, random.Random(1).randbytes(10_000_000)
    digests = []

    def write(path: Path) -> None:
        with path.open("wb") as file:
            for number in range(size // len(part)):
                file.write(part[number:] + part[:number])
        digests.append(_digest(path))

    snapshot = Snapshot("000000000001-00000000.tagalong", 1, b"", b"", "", 0)
    new_workspace(storage).close()
    with storage.lock():
        tracemalloc.start()
        try:
            assert storage.snapshots.write_file(snapshot, write) == size
            with storage.snapshots.file(snapshot) as path:
                assert [_digest(path)] == digests
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < size / 4


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_unlisted_snapshots_are_removed(storage: PostgresStorage, tables: Any) -> None:
    with new_workspace(storage) as workspace:
        teach(workspace)
    left = "000000000005-00000000.tagalong"
    tables.execute("INSERT INTO snapshot_parts VALUES (%s, 0, '')", (left,))
    Workspace(storage).close()
    rows = tables.execute("SELECT DISTINCT name FROM snapshot_parts").fetchall()
    assert rows == tables.execute("SELECT name FROM snapshots").fetchall()


@pytest.mark.parametrize("name", ["synchronous_commit", "fsync", "full_page_writes"])
def test_a_database_that_forgets_is_refused(
    own_postgres_server: PostgresProcess, name: str
) -> None:
    storage = PostgresStorage(own_postgres_server.url(), "team")
    new_workspace(storage).close()
    with closing(psycopg.connect(own_postgres_server.url(), autocommit=True)) as connection:
        connection.execute(f"ALTER SYSTEM SET {name} = off")
    own_postgres_server.stop()
    own_postgres_server.start()
    for place in (storage, PostgresStorage(own_postgres_server.url(), "new")):
        with pytest.raises(RefusedError, match=rf"/tagalong\?.*: {name} is off, so that .* = on"):
            Workspace(place)
    with pytest.raises(RefusedError, match=f"{name} is off"):
        PostgresWorkspaces(own_postgres_server.url()).set_up()
    assert verify(storage).problems == []  # reading is safe


def test_a_commit_waits_for_the_disk_whatever_is_configured_later(
    storage: PostgresStorage, postgres_url: str
) -> None:
    with new_workspace(storage) as workspace:
        with closing(psycopg.connect(postgres_url, autocommit=True)) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_commit = off")
            try:
                connection.execute("SELECT pg_reload_conf()")
                workspace.add("text", ["money"])
                found = workspace._store._value("SELECT current_setting('synchronous_commit')")
            finally:
                connection.execute("ALTER SYSTEM RESET synchronous_commit")
                connection.execute("SELECT pg_reload_conf()")
        assert found == "on"


def test_texts_that_postgresql_cannot_store_are_refused(storage: PostgresStorage) -> None:
    with new_workspace(storage) as workspace:
        with pytest.raises(RefusedError, match="NUL"):
            workspace.add("text", ["a\0b"], id="one")
        workspace.add("text \0", ["money"], id="two")  # contents are bytes
        item = workspace.item("two").content.item
        assert isinstance(item, Item)
        assert item.text == "text \0"
        assert workspace.tip == 2


def test_messages_have_no_password(postgres_url: str) -> None:
    url = postgres_url.replace("tagalong@", "tagalong:geheim@") + "&password=geheim2"
    storage = PostgresStorage(url, "team")
    assert "geheim" not in storage.name
    wrong = PostgresStorage(url.replace("host=", "host=/nowhere"), "team")
    with pytest.raises(StorageError, match="cannot be reached") as found:
        Workspace(wrong)
    assert "geheim" not in str(found.value)


def test_places_that_do_not_exist(postgres_url: str, storage: PostgresStorage) -> None:
    for _ in range(2):
        with pytest.raises(NotFoundError, match="there is no workspace here"):
            verify(f"{postgres_url}&workspace=team")
        with pytest.raises(NotFoundError):
            Workspace(storage, create=False)
        PostgresWorkspaces(postgres_url).set_up()  # the shared tables make no difference
    with pytest.raises(StorageError, match="does not exist"):
        Workspace(postgres_url.replace("/test_", "/none_"))
    with pytest.raises(RefusedError, match="'Team'"):
        PostgresStorage(postgres_url, "Team")
    with pytest.raises(RefusedError, match="no URL"):
        PostgresStorage("postgresql://host/x?colour=red")


def test_a_url_names_the_workspace(storage: PostgresStorage, postgres_url: str) -> None:
    with new_workspace(storage) as workspace:
        workspace.add("text", ["money"], id="one")
    url = f"{postgres_url}&workspace=team"
    assert [each.event.kind for each in list_events(url).events] == ["created", "item"]
    assert disk_bytes(url)["journal"] > 0
    with Workspace(url, create=False) as workspace:
        assert workspace.item("one").labels == ["money"]


def test_versions(storage: PostgresStorage, tables: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    new_workspace(storage).close()
    version = SCHEMA_VERSION
    tables.execute("UPDATE tagalong.workspaces SET version = %s", (version + 1,))
    with pytest.raises(DamagedError, match=f"has version {version + 1}, .* upgrade Tagalong"):
        Workspace(storage)
    tables.execute("UPDATE tagalong.workspaces SET version = %s", (version - 1,))
    assert any("open it once for writing" in each for each in verify(storage).problems)
    steps: list[Any] = []
    monkeypatch.setitem(schema.MIGRATIONS, version - 1, steps.append)
    Workspace(storage).close()
    assert len(steps) == 1
    assert tables.execute("SELECT version FROM tagalong.workspaces").fetchone() == (version,)
    assert verify(storage).problems == []


def test_a_removed_workspace_is_gone(postgres_url: str, tables: Any) -> None:
    workspaces = PostgresWorkspaces(postgres_url)
    assert workspaces.names() == ["default"]
    workspaces.create("team")
    with pytest.raises(ConflictError):
        workspaces.create("team")
    workspaces.remove("team")
    with pytest.raises(NotFoundError):
        workspaces.remove("team")
    with pytest.raises(NotFoundError):
        workspaces.open("team")
    with pytest.raises(ConflictError):
        workspaces.remove("default")
    assert tables.execute("SELECT to_regnamespace('tagalong_1')").fetchone() == (None,)


def test_without_psycopg_the_package_is_named() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from tagalong.journal import RefusedError, Workspace\n"
        "try: Workspace('postgresql://localhost/x?workspace=y')\n"
        "except RefusedError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    assert "pip install 'tagalong[postgresql]'" in done.stdout
