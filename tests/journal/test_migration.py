"""A journal of version 1, made by the Tagalong of that time, becomes one of the present version."""

import json
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tagalong.journal import (
    DamagedError,
    Workspace,
    WorkspaceView,
    back_up,
    export_items,
    restore,
    schema,
    verify,
)
from tagalong.journal.contents import listed_source
from tagalong.journal.listing import list_events
from tests.journal.comparison import assert_equal, naive_of
from tests.journal.examples import new_workspace
from tests.timeouts import TIMEOUT

DATA = Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "journal-version1.json").read_text())


@pytest.fixture
def old(folder: Path) -> Path:
    """A workspace of version 1."""
    with zipfile.ZipFile(DATA / "journal-version1.zip") as files:
        files.extractall(folder)
    return folder


def version(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        return int(found)


def tables(folder: Path) -> dict[str, list[Any]]:
    """The definitions and rows of all tables."""
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection:
        found = dict(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())
        names = [name for name, sql in found.items() if (sql or "").startswith("CREATE TABLE")]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def definitions(folder: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {(name, " ".join(sql.replace('"', "").split())) for name, sql in rows}


def assert_recorded(workspace: WorkspaceView) -> None:
    assert workspace.tip == RECORDED["tip"]
    found = [[i.seq, i.id, i.state, i.labels, i.content.source] for i in workspace.items()]
    assert found == RECORDED["items"]


def test_a_journal_of_version_1_is_upgraded_when_it_is_opened(old: Path) -> None:
    before = tables(old)
    with Workspace(old) as workspace:
        assert workspace.problems == []
        assert workspace.model().hash == RECORDED["hash"]
        assert_recorded(workspace)
        assert workspace.document("page") == {"theme": "dark"}
    assert version(old) == schema.SCHEMA_VERSION
    after = tables(old)
    sources = {seq: source for seq, _, _, _, source in RECORDED["items"]} | {14: "mail/undone"}
    assert after.pop("items") == [
        (seq, id, state, listed_source(sources[seq]), 0) for seq, id, state in before.pop("items")
    ]
    assert after == before
    found = verify(old)
    assert found.problems == []
    assert found.events == RECORDED["tip"]


def test_its_model_is_that_of_its_events(old: Path) -> None:
    with Workspace(old, exact=True) as workspace:
        assert_equal(workspace, naive_of(old, settings={"audit": 0.05}))


def test_it_goes_on_after_the_upgrade(old: Path) -> None:
    with Workspace(old) as workspace:
        answer = workspace.answer("o1", ["bills"])
        workspace.undo(answer)
        assert workspace.item("o1").state == "open"
        workspace.forget("m1")
    assert verify(old).problems == []


def test_it_has_the_tables_of_a_new_journal(old: Path, tmp_path: Path) -> None:
    Workspace(old).close()
    new_workspace(tmp_path / "new").close()
    assert definitions(old) == definitions(tmp_path / "new")


def read_it(folder: Path) -> None:
    WorkspaceView(folder).close()


@pytest.mark.parametrize("read", [read_it, lambda f: list(export_items(f)), list_events])
def test_reading_says_what_to_do(old: Path, read: Callable[[Path], Any]) -> None:
    before = (old / "journal.sqlite").read_bytes()
    with pytest.raises(DamagedError, match=r"version 1, .* 'tagalong journal compact'"):
        read(old)
    (problem,) = verify(old).problems
    assert "version 1" in problem
    assert (old / "journal.sqlite").read_bytes() == before


def test_it_can_be_backed_up_before_the_upgrade_and_the_backup_restored(
    old: Path, tmp_path: Path
) -> None:
    backup, restored = tmp_path / "backup", tmp_path / "restored"
    back_up(old, backup)
    assert (version(old), version(backup)) == (1, 1)
    restore(backup, restored)
    assert (version(backup), version(restored)) == (1, schema.SCHEMA_VERSION)
    assert verify(restored).problems == []
    with WorkspaceView(restored) as view:
        assert_recorded(view)


KILLED = """
import os, sys
from tagalong.journal import Workspace, schema
source = schema.listed_source
left = [int(sys.argv[2])]
def killed(text):
    left[0] -= 1
    if left[0] == 0:
        os._exit(9)
    return source(text)
schema.listed_source = killed
Workspace(sys.argv[1])
"""


def test_a_kill_during_the_upgrade_leaves_version_1(old: Path) -> None:
    before = tables(old)
    done = subprocess.run([sys.executable, "-c", KILLED, old, "6"], timeout=TIMEOUT)
    assert done.returncode == 9
    assert version(old) == 1
    assert tables(old) == before
    with Workspace(old) as workspace:
        assert workspace.model().hash == RECORDED["hash"]
    assert version(old) == schema.SCHEMA_VERSION
    assert verify(old).problems == []


@pytest.mark.parametrize("table", ["items", "contents"])
def test_a_failure_during_the_upgrade_leaves_version_1(
    old: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables(old)

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute(f"DELETE FROM {table}")
        raise KeyboardInterrupt

    monkeypatch.setitem(schema._MIGRATIONS, 1, fail)
    with pytest.raises(KeyboardInterrupt):
        Workspace(old)
    assert version(old) == 1
    assert tables(old) == before


def test_damaged_content_does_not_prevent_the_upgrade(old: Path) -> None:
    """As before, the workspace goes on from its snapshot, and verifying names the damage."""
    with closing(sqlite3.connect(old / "journal.sqlite", isolation_level=None)) as connection:
        connection.execute("UPDATE contents SET data = x'00' WHERE seq = 3")
    with Workspace(old) as workspace:
        assert workspace.model().hash == RECORDED["hash"]
    assert any("content of event 3" in problem for problem in verify(old).problems)
