"""One process writes a workspace; a second one is told which."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tagalong.files.lock import BusyError
from tagalong.journal import Workspace, WorkspaceView
from tests.journal.comparison import assert_equal, naive_of
from tests.journal.examples import new_workspace
from tests.timeouts import TIMEOUT

HOLDER = """
import sys
from tagalong.journal import Workspace
workspace = Workspace(sys.argv[1], command="tagalong serve")
workspace.add("the invoice", ["money"], id="from the other process")
print("open", flush=True)
sys.stdin.read()
workspace.close()
"""


@contextmanager
def other_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has a workspace open until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=TIMEOUT)


def test_a_second_process_is_refused(folder: Path) -> None:
    new_workspace(folder).close()
    with other_process(folder) as process:
        with pytest.raises(BusyError) as error:
            Workspace(folder)
        message = str(error.value)
        assert f"this workspace is in use by process {process.pid} (tagalong serve)" in message
        assert str(folder) in message
        with WorkspaceView(folder) as view:  # reading goes on
            assert view.item("from the other process").labels == ["money"]
        process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0
    with Workspace(folder) as workspace:
        assert workspace.tip == 2


def test_the_lock_of_a_killed_process_is_free(folder: Path) -> None:
    new_workspace(folder).close()
    with other_process(folder) as process:
        process.kill()
        process.wait(TIMEOUT)
        with Workspace(folder) as workspace:  # what it has acknowledged is there
            assert_equal(workspace, naive_of(folder))
            assert workspace.item("from the other process").labels == ["money"]


def test_waiting_for_the_other_process(folder: Path) -> None:
    new_workspace(folder).close()
    with other_process(folder) as process:
        waited: list[str] = []

        def end_it(who: str) -> None:
            waited.append(who)
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None

        with Workspace(folder, wait=TIMEOUT, on_wait=end_it) as workspace:
            assert workspace.tip == 2
        assert len(waited) == 1
        assert f"process {process.pid} (tagalong serve)" in waited[0]
        process.wait(TIMEOUT)


def test_a_workspace_is_opened_once_in_a_process(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        with pytest.raises(BusyError, match="this workspace is in use by process"):
            Workspace(folder)
        workspace.add("the invoice")
    with Workspace(folder) as workspace:
        assert workspace.tip == 2


def test_links_to_a_workspace_share_its_lock(folder: Path, tmp_path: Path) -> None:
    with new_workspace(folder):
        (tmp_path / "link").symlink_to(folder)
        with pytest.raises(BusyError):
            Workspace(tmp_path / "link")


def test_a_workspace_that_cannot_be_opened_leaves_no_lock(folder: Path) -> None:
    new_workspace(folder).close()
    (folder / "settings.toml").write_text("wrong = 1\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            Workspace(folder)
    (folder / "settings.toml").unlink()
    Workspace(folder).close()
    assert sorted(path.name for path in folder.iterdir()) == ["journal.sqlite"]


def test_closing_twice_is_allowed(folder: Path) -> None:
    workspace = new_workspace(folder)
    workspace.close()
    workspace.close()
