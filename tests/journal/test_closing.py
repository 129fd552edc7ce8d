"""Closing, interrupts and forks: no crash, no second writer, no wrong model."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tagalong import model_hash
from tagalong.files.lock import BusyError
from tagalong.journal import JournalError, StorageError, Workspace, WorkspaceView, verify
from tagalong.journal.state import ModelState
from tests.timeouts import TIMEOUT


def test_closing_while_threads_write(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    started = threading.Barrier(9)
    workspace = Workspace(tmp_path / "w")

    def write(thread: int) -> None:
        started.wait(TIMEOUT)
        with suppress(StorageError):  # when it is closed
            for number in range(10_000):
                id = f"{thread} {number}"
                workspace.add("some words", ["label"], id=id)
                acknowledged.append(id)

    threads = [threading.Thread(target=write, args=(each,)) for each in range(8)]
    for thread in threads:
        thread.start()
    started.wait(TIMEOUT)
    workspace.add("the last one of this thread", id="last")
    workspace.close()
    for thread in threads:
        thread.join(TIMEOUT)
    with WorkspaceView(tmp_path / "w") as view:
        stored = {record.id for record in view.items(limit=-1)}
    assert stored == {*acknowledged, "last"}
    assert verify(tmp_path / "w").problems == []


def test_a_closed_workspace_writes_no_more(tmp_path: Path) -> None:
    closed = Workspace(tmp_path / "w")
    closed.add("some words", ["x"], id="a")
    closed.close()
    with Workspace(tmp_path / "w") as workspace:
        for _ in range(2):
            with pytest.raises(StorageError, match="closed"):
                closed.rename_label("x", "y")
            with pytest.raises(StorageError, match="closed"):
                closed.snapshot()
        workspace.rename_label("x", "z")
    closed.close()
    assert verify(tmp_path / "w").problems == []


def test_an_interrupted_lesson_is_not_learnt_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = ModelState.follow

    def interrupted(self: ModelState, lessons: object) -> None:
        learn(self, lessons)  # type: ignore[arg-type]
        if threading.current_thread() is threading.main_thread():  # as Ctrl-C does
            self.seq -= 1
            raise KeyboardInterrupt

    with Workspace(tmp_path / "w") as workspace:
        workspace.add("some words", ["x"], id="a")
        with monkeypatch.context() as patched:
            patched.setattr(ModelState, "follow", interrupted)
            with pytest.raises(KeyboardInterrupt):
                workspace.add("other words", ["y"], id="b")
        workspace.add("more words", ["x"], id="c")
        found = workspace.model()
        workspace.snapshot()
        assert workspace.item("b").labels == ["y"]
    assert verify(tmp_path / "w").problems == []
    assert verify(tmp_path / "w").hash == found.hash


def test_a_fork_neither_writes_nor_unlocks(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        workspace.add("some words", ["x"], id="a")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    workspace.add("words of the child", ["x"], id="b")
                except StorageError:
                    workspace.close()
                    code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with pytest.raises(BusyError):
            Workspace(tmp_path / "w")
        workspace.add("words of the parent", ["x"], id="c")
        expected = workspace.model().hash
    with Workspace(tmp_path / "w", exact=True) as workspace:
        assert model_hash(workspace.tagger) == expected


def test_waiting_for_a_model_ends_with_the_workspace(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    workspace.add("some words", ["x"], id="a")
    workspace.close()
    workspace.settle()  # it had followed everything


@pytest.mark.parametrize(
    "options",
    [{"actor": None}, {"actor": "\ud800"}, {"key": "\ud800"}, {"scope": "\ud800", "key": "k"}],
)
def test_texts_that_cannot_be_stored(tmp_path: Path, options: dict[str, str]) -> None:
    with Workspace(tmp_path / "w") as workspace:
        with pytest.raises(JournalError):
            workspace.add("some words", ["x"], id="a", **options)
        workspace.add("some words", ["x"], id="a")


@pytest.mark.parametrize("seq", [3.0, "3", 2**70, True])
def test_numbers_that_are_no_events(tmp_path: Path, seq: int) -> None:
    with Workspace(tmp_path / "w") as workspace:
        workspace.add("some words", ["x"], id="a")
        with pytest.raises(JournalError):
            workspace.undo(seq)
        assert workspace.tip == 2


def test_ids_and_states_that_do_not_exist(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        for request in (workspace.item, workspace.forget):
            with pytest.raises(JournalError):
                request("\ud800")
        with pytest.raises(JournalError, match="state must be one of"):
            workspace.items("bogus")  # type: ignore[arg-type]
