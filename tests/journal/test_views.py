"""Reading a workspace while another process writes it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tagalong.journal import NotFoundError, Workspace, WorkspaceView
from tagalong.journal.reader import JournalReader
from tests.journal.comparison import assert_equal, copy_of_files, hash_of, naive_of
from tests.journal.examples import new_workspace, texts
from tests.timeouts import TIMEOUT

WRITER = """
import sys
from tagalong.journal import Workspace
from tests.journal.examples import texts
with Workspace(sys.argv[1]) as workspace:
    for number, (text, topic) in enumerate(texts(300)):
        workspace.add(text, [topic] if number % 3 else None, id=f"{number}")
        if number % 10 == 5:
            workspace.undo(workspace.tip - 3, cascade=True)
        if number % 50 == 20:
            workspace.snapshot()
            workspace.forget("12" if number == 20 else f"{number - 5}")
        if number % 10 == 0:
            print(workspace.tip, flush=True)
"""


def test_a_view_is_one_state_while_another_process_writes(folder: Path) -> None:
    new_workspace(folder).close()
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    views = 0
    try:
        for line in process.stdout:
            with WorkspaceView(folder) as view:
                acknowledged, seq = int(line), view._state.seq
                assert acknowledged <= seq
                assert view.problems == []
                views += 1
                with JournalReader(folder / "journal.sqlite") as reader:
                    if reader.revision > seq:
                        continue  # the history of the view has been changed meanwhile
                naive = naive_of(folder)
                changed_since = any(event.takes for event in naive.events[seq:])
                if not changed_since:
                    del naive.events[seq:]
                    state = naive.state(with_model=True)
                    assert state.tagger is not None
                    assert hash_of(view) == state.tagger.model_hash()
    finally:
        process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert views == 30
    with WorkspaceView(folder) as view:
        assert_equal(view, naive_of(folder))


def test_a_view_of_an_open_workspace(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        for text, topic in texts(10):
            workspace.add(text, [topic])
        with WorkspaceView(folder) as view:
            assert_equal(view, naive_of(folder))
            hash = hash_of(view)
            workspace.add("the invoice", ["home"], id="new")
            # The model is that of the beginning; the journal is read as it is.
            assert hash_of(view) == hash
            assert "home" not in view.labels
            assert view.item("new").labels == ["home"]
            assert view.tip == workspace.tip
            assert view.suggest("the invoice") != workspace.suggest("the invoice")


def test_a_view_of_a_closed_workspace_changes_nothing(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
        workspace.snapshot()
        workspace.set_document("notes", {"colour": "red"})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with WorkspaceView(folder) as view:
        assert_equal(view, naive_of(folder))
        assert view.document("notes") == {"colour": "red"}
        assert view.document("others") is None
        assert view.item_counts() == {"answered": 1}
    for path, data in before.items():
        assert path.read_bytes() == data


def test_a_view_of_what_a_crash_left(folder: Path, tmp_path: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
        workspace.add("the hotel", ["travel"])
        copy_of_files(folder, tmp_path / "crashed")
        naive = naive_of(folder)
    with WorkspaceView(tmp_path / "crashed") as view:
        assert_equal(view, naive)


def test_there_must_be_a_workspace(tmp_path: Path) -> None:
    for open_it in (WorkspaceView, lambda folder: Workspace(folder, create=False)):
        with pytest.raises(NotFoundError, match="there is no workspace here"):
            open_it(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []


def test_a_view_reads_documents_of_the_workspace(workspace: Workspace) -> None:
    before = hash_of(workspace), workspace.tip
    workspace.set_document("seen", ["a", 1, None])
    workspace.set_document("seen", ["b"])
    assert workspace.document("seen") == ["b"]
    assert (hash_of(workspace), workspace.tip) == before
