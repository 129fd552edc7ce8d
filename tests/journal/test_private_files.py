"""The files of a workspace are readable by their owner only, whatever the umask."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tagalong.journal import Workspace
from tests.journal.examples import new_workspace


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct, autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    old = os.umask(request.param)
    yield
    os.umask(old)


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder.parent)): stat.S_IMODE(path.stat().st_mode)
        for path in [folder, *folder.rglob("*")]
    }


def assert_private(folder: Path) -> None:
    for name, mode in modes(folder).items():
        is_folder = (folder.parent / name).is_dir()
        assert mode == (0o700 if is_folder else 0o600), (name, oct(mode))


def test_all_files_are_private(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        assert_private(folder)
        workspace.add("the invoice", ["money"], id="a")
        workspace.snapshot()
        found = modes(folder)
        for name in ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "snapshots"):
            assert f"{folder.name}/{name}" in found
        assert len([name for name in found if name.endswith(".tagalong")]) == 1
        assert_private(folder)
        workspace.undo(2)
        workspace.compact()
        workspace.forget("a")
        assert_private(folder)
    assert_private(folder)
    with Workspace(folder) as workspace:
        workspace.add("the hotel", ["travel"])
        workspace.snapshot()
        assert_private(folder)


def test_a_folder_that_exists_keeps_its_mode(folder: Path) -> None:
    """Its owner may have good reasons; the files in it are private all the same."""
    folder.mkdir(mode=0o700)
    folder.chmod(0o750)
    with new_workspace(folder) as workspace:
        workspace.snapshot()
        found = modes(folder)
        assert found.pop(folder.name) == 0o750
        assert found.pop(f"{folder.name}/snapshots") == 0o700
        assert set(found.values()) == {0o600}


def test_new_folders_above_are_made_too(folder: Path) -> None:
    below = folder / "deeper" / "workspace"
    with new_workspace(below):
        assert_private(below)
