"""The database of a journal: its version, and files that are something else."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tagalong.journal import DamagedError, NotFoundError, Workspace, WorkspaceView, schema
from tests.journal.comparison import assert_equal, naive_of
from tests.journal.examples import new_workspace


def pragma(path: Path, text: str) -> object:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        row = connection.execute(f"PRAGMA {text}").fetchone()
        return None if row is None else row[0]


def database(folder: Path) -> Path:
    return folder / "journal.sqlite"


def test_version_and_kind_are_recorded(folder: Path) -> None:
    new_workspace(folder).close()
    assert pragma(database(folder), "user_version") == schema.SCHEMA_VERSION
    assert pragma(database(folder), "application_id") == int.from_bytes(b"Taga")
    assert pragma(database(folder), "journal_mode") == "wal"


def test_commits_wait_for_the_disk_and_deleted_content_is_overwritten(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        connection = workspace._store._connection
        values = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete")
        }
        assert values == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


@pytest.mark.parametrize("open_it", [Workspace, WorkspaceView])
def test_a_newer_version_is_refused(folder: Path, open_it: type[WorkspaceView]) -> None:
    new_workspace(folder).close()
    newer = schema.SCHEMA_VERSION + 1
    pragma(database(folder), f"user_version = {newer}")
    before = database(folder).read_bytes()
    with pytest.raises(DamagedError) as error:
        open_it(folder)
    assert str(database(folder)) in str(error.value)
    assert f"version {newer}" in str(error.value)
    assert "upgrade Tagalong" in str(error.value)
    assert database(folder).read_bytes() == before
    pragma(database(folder), f"user_version = {schema.SCHEMA_VERSION}")
    with Workspace(folder) as workspace:
        assert workspace.tip == 1


@pytest.mark.parametrize("open_it", [Workspace, WorkspaceView])
def test_a_database_of_another_program_is_refused(
    folder: Path, open_it: type[WorkspaceView]
) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(database(folder))) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
        connection.execute("INSERT INTO things VALUES ('precious')")
        connection.commit()
    with pytest.raises(DamagedError, match="a database, but not a journal of Tagalong"):
        open_it(folder)
    with closing(sqlite3.connect(database(folder))) as connection:
        assert connection.execute("SELECT * FROM things").fetchall() == [("precious",)]
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert tables == [("things",)]


@pytest.mark.parametrize("open_it", [Workspace, WorkspaceView])
def test_a_file_that_is_no_database_is_refused(folder: Path, open_it: type[WorkspaceView]) -> None:
    folder.mkdir()
    text = b"precious text, which is no database at all\n" * 100
    database(folder).write_bytes(text)
    with pytest.raises(DamagedError) as error:
        open_it(folder)
    assert str(database(folder)) in str(error.value)
    assert database(folder).read_bytes() == text


def test_an_empty_file_becomes_a_journal(folder: Path) -> None:
    """A crash just after the beginning leaves one."""
    folder.mkdir()
    database(folder).touch()
    with pytest.raises((DamagedError, NotFoundError), match="empty"):
        WorkspaceView(folder)
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
        assert_equal(workspace, naive_of(folder))


def test_tables_without_an_event_become_a_journal(folder: Path) -> None:
    """A crash between the tables and the first event leaves them."""
    new_workspace(folder).close()
    with closing(sqlite3.connect(database(folder), isolation_level=None)) as connection:
        for table in ("events", "contents", "label_changes"):
            connection.execute(f"DELETE FROM {table}")
    with pytest.raises(NotFoundError, match="no first event"):
        WorkspaceView(folder)
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
        assert_equal(workspace, naive_of(folder))


def test_a_folder_in_place_of_the_database(folder: Path) -> None:
    database(folder).mkdir(parents=True)
    for open_it in (Workspace, WorkspaceView):
        with pytest.raises(OSError, match=r"journal\.sqlite"):
            open_it(folder)


def test_an_older_version_is_upgraded_step_by_step(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
    present = schema.SCHEMA_VERSION
    steps = {
        present: lambda connection: connection.execute("CREATE TABLE first_step (value TEXT)"),
        present + 1: lambda connection: connection.execute(
            "ALTER TABLE first_step RENAME TO second_step"
        ),
    }
    monkeypatch.setattr(schema, "_MIGRATIONS", steps)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", present + 2)
    with pytest.raises(DamagedError, match="open it once for writing to upgrade it"):
        WorkspaceView(folder)
    with Workspace(folder) as workspace:
        assert_equal(workspace, naive_of(folder))
    assert pragma(database(folder), "user_version") == present + 2
    with closing(sqlite3.connect(database(folder))) as connection:
        assert connection.execute("SELECT COUNT(*) FROM second_step").fetchone() == (0,)
    with WorkspaceView(folder) as view:
        assert_equal(view, naive_of(folder))
