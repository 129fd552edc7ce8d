"""Tests of backups: consistent while the workspace is written, complete or not there, checked."""

import fcntl
import os
import resource
import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tagalong.journal import (
    DamagedError,
    NotFoundError,
    RefusedError,
    StorageError,
    Workspace,
    back_up,
    restore,
    verify,
)
from tagalong.journal.reader import JournalReader

TEXTS = ["invoice of the bank", "flight to Lisbon", "dinner on Sunday"]
LABELS = ["money", "travel", "family"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with two snapshots."""
    found = tmp_path / "workspace"
    with Workspace(found) as workspace:
        teach(workspace, 12)
        workspace.snapshot()
        teach(workspace, 12, start=12)
        workspace.snapshot()
        teach(workspace, 3, start=24)
    return found


def teach(workspace: Workspace, count: int, start: int = 0) -> None:
    for i in range(start, start + count):
        workspace.add(f"{TEXTS[i % 3]} {i}", [LABELS[i % 3]], id=f"item-{i}")


def hash_of(folder: Path) -> str:
    with Workspace(folder, create=False) as workspace:
        return workspace.model().hash


def write(folder: Path, query: str) -> None:
    with closing(sqlite3.connect(folder / "journal.sqlite", isolation_level=None)) as connection:
        assert connection.execute(query).rowcount > 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_backup_is_restored_and_learns_on(folder: Path, tmp_path: Path) -> None:
    (folder / "settings.toml").write_text("snapshot_bytes = 1000000\n")
    made = back_up(folder, tmp_path / "backup")
    assert made.folder == tmp_path / "backup"
    assert (made.events, made.snapshot, made.problems) == (28, 25, [])
    found = verify(tmp_path / "backup")
    assert found.problems == []
    assert (found.snapshots, found.compared) == (1, 1)
    restored = restore(tmp_path / "backup", tmp_path / "restored")
    assert (restored.events, restored.snapshot) == (28, 25)
    assert (tmp_path / "restored" / "settings.toml").read_text() == "snapshot_bytes = 1000000\n"
    assert hash_of(tmp_path / "restored") == hash_of(folder) == found.hash
    for each in (folder, tmp_path / "restored"):
        with Workspace(each) as workspace:
            teach(workspace, 5, start=27)
            workspace.undo(4)
            workspace.settle()
    assert hash_of(tmp_path / "restored") == hash_of(folder)
    assert verify(tmp_path / "restored").problems == []


def test_a_backup_needs_no_writing_to_be_read(folder: Path, tmp_path: Path) -> None:
    """It can lie on a read-only disk: reading makes no files beside the database."""
    back_up(folder, tmp_path / "backup")
    assert names(tmp_path / "backup") == ["journal.sqlite", "snapshots"]
    verify(tmp_path / "backup")
    assert names(tmp_path / "backup") == ["journal.sqlite", "snapshots"]


def test_a_restored_workspace_has_a_write_ahead_log(folder: Path, tmp_path: Path) -> None:
    back_up(folder, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    assert names(tmp_path / "restored") == ["journal.sqlite", "snapshots"]
    with closing(sqlite3.connect(tmp_path / "restored" / "journal.sqlite")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_progress_grows_to_the_end(folder: Path, tmp_path: Path) -> None:
    for action in (
        lambda progress: back_up(folder, tmp_path / "backup", progress),
        lambda progress: restore(tmp_path / "backup", tmp_path / "new", progress=progress),
    ):
        shares: list[float] = []
        action(lambda done, total, shares=shares: shares.append(done / total))
        assert shares == sorted(shares)
        assert shares[-1] == 1


def test_while_another_thread_writes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.journal.backup.PAGES_AT_ONCE", 1)
    wanted, written = threading.Semaphore(0), threading.Semaphore(0)
    asked = [0]
    with Workspace(folder) as workspace:

        def add() -> None:
            for i in range(40):
                wanted.acquire()
                teach(workspace, 1, start=100 + i)
                written.release()

        thread = threading.Thread(target=add)
        thread.start()

        def one_more(done: int, total: int) -> None:
            """Let an item be added between two steps of the copy."""
            if asked[0] < 40:
                asked[0] += 1
                wanted.release()
                written.acquire()

        before = workspace.tip
        made = back_up(folder, tmp_path / "backup", one_more)
        for _ in range(40):
            wanted.release()
        thread.join()
        assert asked[0] > 10
        assert made.events == before
        assert workspace.tip == before + 40
    found = verify(tmp_path / "backup")
    assert found.problems == []
    assert found.events == before
    restore(tmp_path / "backup", tmp_path / "restored")
    with Workspace(tmp_path / "restored") as workspace:
        for i in range(40):
            teach(workspace, 1, start=100 + i)
    assert hash_of(tmp_path / "restored") == hash_of(folder)


def test_targets_that_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("full", "file", "link", "workspace"):
        with pytest.raises(RefusedError, match=f"{name}: there is something here already"):
            back_up(folder, tmp_path / name)
    with pytest.raises(RefusedError, match="workspace: there is a workspace here; move it away"):
        restore(folder, folder)
    with pytest.raises(NotFoundError, match="there is no workspace here"):
        back_up(tmp_path / "full", tmp_path / "new")
    with pytest.raises(StorageError, match="No such file or directory"):
        back_up(folder, tmp_path / "missing" / "new")
    assert names(tmp_path) == ["file", "full", "link", "workspace"]


def test_an_empty_folder_is_a_target(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert back_up(folder, tmp_path / "empty").events == 28


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_only_the_owner_may_read_copies(folder: Path, tmp_path: Path, open_umask: None) -> None:
    (folder / "settings.toml").write_text("")
    back_up(folder, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    for copy in ("backup", "restored"):
        for path in (tmp_path / copy, *(tmp_path / copy).rglob("*")):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


@pytest.mark.parametrize("step", [0.0, 0.9])
def test_an_interrupted_copy_leaves_nothing(folder: Path, tmp_path: Path, step: float) -> None:
    def interrupt(done: int, total: int) -> None:
        if done > step * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(folder, tmp_path / "backup", interrupt)
    assert names(tmp_path) == ["workspace"]


def test_a_full_disk_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(StorageError):
            back_up(folder, tmp_path / "backup")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path) == ["workspace"]
    assert back_up(folder, tmp_path / "backup").events == 28


def test_what_a_killed_process_left_is_removed(folder: Path, tmp_path: Path) -> None:
    abandoned: list[Path] = []

    def remember(done: int, total: int) -> None:
        if not abandoned:
            (aside,) = tmp_path.glob(".tagalong-*")
            abandoned.append(Path(shutil.copytree(aside, aside.with_name(f"{aside.name}2"))))

    back_up(folder, tmp_path / "backup", remember)
    assert abandoned[0].is_dir()
    shutil.rmtree(tmp_path / "backup")
    descriptor = os.open(abandoned[0], os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # as if it lived
    back_up(folder, tmp_path / "backup")
    assert abandoned[0].is_dir()
    os.close(descriptor)
    shutil.rmtree(tmp_path / "backup")
    back_up(folder, tmp_path / "backup")
    assert names(tmp_path) == ["backup", "workspace"]


def test_a_damaged_workspace_is_named_and_not_copied(folder: Path, tmp_path: Path) -> None:
    write(folder, "UPDATE events SET actor = 'forger' WHERE seq IN (3, 5, 7, 9)")
    with pytest.raises(DamagedError) as error:
        back_up(folder, tmp_path / "backup")
    assert str(error.value) == (
        f"{folder}: no backup was made, because the workspace is damaged: journal.sqlite: event 3 "
        "is not what was written; journal.sqlite: event 5 is not what was written; journal.sqlite: "
        "event 7 is not what was written; and 1 more"
    )
    assert names(tmp_path) == ["workspace"]


def test_a_damaged_backup_is_refused_unless_forced(folder: Path, tmp_path: Path) -> None:
    back_up(folder, tmp_path / "backup")
    write(tmp_path / "backup", "UPDATE events SET actor = 'forger' WHERE seq = 27")
    with pytest.raises(DamagedError, match="event 27 is not what was written"):
        restore(tmp_path / "backup", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    made = restore(tmp_path / "backup", tmp_path / "restored", force=True)
    assert made.problems == ["journal.sqlite: event 27 is not what was written"]
    assert verify(tmp_path / "restored").problems == made.problems


def test_a_file_that_is_no_backup(tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "journal.sqlite").write_bytes(b"nonsense" * 1000)
    for force in (False, True):
        with pytest.raises(DamagedError, match=r"journal\.sqlite: the database is damaged"):
            restore(tmp_path / "backup", tmp_path / "restored", force=force)
    assert names(tmp_path) == ["backup"]


def test_a_damaged_page_of_a_backup(folder: Path, tmp_path: Path) -> None:
    back_up(folder, tmp_path / "backup")
    path = tmp_path / "backup" / "journal.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'snapshots'"
        (page,) = connection.execute(query).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(DamagedError, match="the backup is damaged"):
        restore(tmp_path / "backup", tmp_path / "restored")
    made = restore(tmp_path / "backup", tmp_path / "restored", force=True)
    assert made.snapshot is None
    assert made.events == 28
    assert made.problems


def test_a_damaged_snapshot_is_passed_over(folder: Path, tmp_path: Path) -> None:
    older, newest = sorted((folder / "snapshots").iterdir())
    newest.write_bytes(b"damaged")
    assert back_up(folder, tmp_path / "first").snapshot == 13
    older.unlink()
    made = back_up(folder, tmp_path / "second")
    assert (made.snapshot, made.events) == (None, 28)
    with JournalReader(tmp_path / "second" / "journal.sqlite") as reader:
        assert reader.snapshots() == []
    restore(tmp_path / "second", tmp_path / "restored")
    assert hash_of(tmp_path / "restored") == hash_of(tmp_path / "first")


def test_forgotten_words_are_in_no_later_backup(folder: Path, tmp_path: Path) -> None:
    def has_word(backup: Path) -> bool:
        files = [path for path in backup.rglob("*") if path.is_file()]
        return any(b"heliotrope" in path.read_bytes() for path in files)

    with Workspace(folder) as workspace:
        workspace.add("a heliotrope heliotrope", ["flowers"], id="heliotrope-7")
        workspace.snapshot()
        back_up(folder, tmp_path / "before")
        workspace.forget("heliotrope-7")
        workspace.settle()
        workspace.snapshot()
        back_up(folder, tmp_path / "after")
    assert has_word(tmp_path / "before")
    assert not has_word(tmp_path / "after")
    assert not has_word(folder)
