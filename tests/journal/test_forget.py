"""Forgetting: nothing of the item remains in the files of a workspace, nor in its model."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import Item
from tagalong.journal import ConflictError, NotFoundError, Workspace, WorkspaceView
from tagalong.journal import database as journal_database
from tagalong.journal.spare import Spare
from tests.journal.comparison import assert_equal, assert_tables_agree, hash_of, naive_of
from tests.journal.examples import new_workspace, small_tagger, texts
from tests.timeouts import TIMEOUT

ID = "secretidentity"
SECRET = Item(ID, {"subject": "zebracorn"}, {"xylophonist": 3.5, "from": "quuxman"})
WORDS = (ID, "zebracorn", "xylophonist", "quuxman", "grapefruited", "trombonist")


def secrets_in(folder: Path) -> set[str]:
    """The secret words in the files of a workspace, also in the packed words of models."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".tagalong":
            header, arrays = tagalong.load(path).to_parts()
            data += json.dumps(header, ensure_ascii=False).encode()
            data += b" ".join(
                array.tobytes() for array in arrays.values() if isinstance(array, np.ndarray)
            )
        found |= {word for word in WORDS if word.encode() in data}
    return found


def teach(workspace: Workspace, *, with_secret: bool) -> None:
    for number, (text, topic) in enumerate(texts(30)):
        workspace.add(text, [topic], id=f"{number}")
        if number == 10 and with_secret:
            workspace.add(SECRET, title="grapefruited", source="trombonist", key=ID)
        if number == 15 and with_secret:
            workspace.answer(ID, ["money"], key="other")
        if number == 25 and with_secret:
            workspace.answer(ID, ["travel"])
    workspace.answer("20", ["family"])


@pytest.fixture
def known(folder: Path) -> Any:
    """A workspace that has learnt the secret item, with snapshots before and after."""
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
        workspace.snapshot()
        teach(workspace, with_secret=True)
        workspace.snapshot()
        yield workspace


def test_the_test_finds_what_is_there(folder: Path, known: Workspace) -> None:
    assert secrets_in(folder) == set(WORDS)


def test_nothing_remains_in_the_files(folder: Path, known: Workspace) -> None:
    known.forget(ID)
    assert secrets_in(folder) == set()  # as soon as it is acknowledged
    known.settle(TIMEOUT)
    known.snapshot()
    assert secrets_in(folder) == set()
    known.compact()
    known.close()
    assert secrets_in(folder) == set()
    with Workspace(folder) as workspace:
        assert secrets_in(folder) == set()
        assert workspace.problems == []


def test_nothing_remains_if_a_reader_holds_the_log(folder: Path, known: Workspace) -> None:
    with WorkspaceView(folder) as view:
        view.items()
        known.forget(ID)
        assert secrets_in(folder) == set()
        with pytest.raises(NotFoundError):
            view.item(ID)


def test_nothing_remains_after_a_rebuild_that_read_the_log(
    folder: Path, known: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log cannot be emptied while the model is computed anew from it; it is afterwards."""
    # Do not wait long for a reader that waits for this thread.
    monkeypatch.setattr(journal_database, "_SECONDS_TO_WAIT", 0.1)
    known.close()
    with Workspace(folder) as workspace:
        take = Spare.take
        started, go_on = threading.Event(), threading.Event()

        def held_back(*args: Any) -> Any:
            started.set()
            assert go_on.wait(TIMEOUT)
            return take(*args)

        monkeypatch.setattr(Spare, "take", held_back)  # the first step of computing
        workspace.answer("3", ["money"])
        workspace.undo(workspace.tip)
        assert started.wait(TIMEOUT)
        workspace.forget(ID)
        go_on.set()
        workspace.settle(TIMEOUT)
        with workspace._commits.paused():  # the log is emptied just after the model is ready
            assert secrets_in(folder) == set()


def test_a_tombstone_keeps_the_numbers(folder: Path, known: Workspace) -> None:
    events = known.events()
    seq = known.forget(ID)
    after = known.events()
    assert [event.seq for event in after] == list(range(1, seq + 1))
    assert after[:-1] == events
    assert after[-1].kind == "forgotten"
    about = [e.seq for e in events if e.item == 14 or e.seq == 14]
    assert after[-1].taken == about
    assert len(about) == 3


def test_the_model_is_that_of_a_workspace_without_the_item(folder: Path, known: Workspace) -> None:
    with new_workspace(folder.with_name("other")) as other:
        other.add("the invoice", ["money"])
        teach(other, with_secret=False)
        expected = hash_of(other), other.report().to_dict(), other.labels
    known.forget(ID)
    assert (hash_of(known), known.report().to_dict(), known.labels) == expected
    assert_equal(known, naive_of(folder))
    known.close()
    with Workspace(folder) as workspace:
        assert hash_of(workspace) == expected[0]


def test_a_forgotten_item_does_not_exist(known: Workspace) -> None:
    known.forget(ID)
    for request in (
        lambda: known.item(ID),
        lambda: known.answer(ID, ["money"]),
        lambda: known.file(ID, []),
        lambda: known.forget(ID),
    ):
        with pytest.raises(NotFoundError):
            request()
    assert known.add("another text", id=ID).is_new


def test_snapshots_that_have_learnt_the_item_are_gone(folder: Path, known: Workspace) -> None:
    before = {path.name for path in (folder / "snapshots").iterdir()}
    known.forget(ID)
    after = {path.name for path in (folder / "snapshots").iterdir()}
    assert after < before
    assert all(int(name.split("-")[0]) < 14 for name in after)
    assert len(after) == 1


def test_the_keys_of_requests_about_the_item_are_forgotten(known: Workspace) -> None:
    known.forget(ID)
    added = known.add(Item("new", "another text"), key=ID)  # not the item of that time
    assert added.is_new


def test_forgetting_cannot_be_undone(known: Workspace) -> None:
    seq = known.forget(ID)
    with pytest.raises(ConflictError, match="forgetting an item cannot be undone"):
        known.undo(seq)
    for about in (14, 20, 31):
        with pytest.raises(ConflictError, match="is undone already"):
            known.undo(about)


def test_an_undone_item_is_forgotten_too(folder: Path, known: Workspace) -> None:
    undo = known.undo(14, cascade=True)
    with pytest.raises(NotFoundError):
        known.item(ID)
    assert secrets_in(folder) == set(WORDS)
    known.forget(ID)
    assert secrets_in(folder) == set()
    expected = hash_of(known)
    known.undo(undo)  # takes nothing back any more, and brings nothing back
    assert hash_of(known) == expected
    with pytest.raises(NotFoundError):
        known.item(ID)
    assert_equal(known, naive_of(folder))


def test_an_undone_answer_of_a_forgotten_item_does_not_come_back(
    folder: Path, known: Workspace
) -> None:
    answer = next(e.seq for e in known.events() if e.kind == "answer" and e.item == 14)
    undo = known.undo(answer)
    known.forget(ID)
    expected = hash_of(known)
    known.undo(undo)
    assert hash_of(known) == expected
    assert_equal(known, naive_of(folder))


def test_all_items_of_an_id_are_forgotten(folder: Path, workspace: Workspace) -> None:
    workspace.add(Item(ID, "zebracorn"), ["money"])
    workspace.undo(2)
    workspace.add(Item(ID, "quuxman"), ["travel"])
    workspace.forget(ID)
    assert secrets_in(folder) == set()
    assert hash_of(workspace) == small_tagger().model_hash()
    assert_equal(workspace, naive_of(folder))


def test_labels_that_other_events_need_stay(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"], id="a")
        workspace.add("the hotel", id="c")
        workspace.change_settings(labels="fixed")
        workspace.add("the bank", ["money"], id="b")
        workspace.rename_label("money", "bills")
        workspace.answer("c", [], shown=["bills"])
        seq = workspace.forget("a")
        assert workspace.events()[-1].taken == [2]
        states = [(item.id, item.labels) for item in workspace.items()]
        assert states == [("c", []), ("b", ["bills"])]
        with pytest.raises(ConflictError):
            workspace.undo(seq)
        assert_equal(workspace, naive_of(folder))
        workspace.undo(6, cascade=True)  # the renaming; the label is still there
        assert workspace.item("b").labels == ["money"]
        assert_equal(workspace, naive_of(folder))
        workspace.forget("b")
        with pytest.raises(NotFoundError):
            workspace.forget("b")


def test_a_label_that_nothing_needs_goes_with_the_item(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"], id="a")
        workspace.add("the hotel", ["travel"])
        workspace.forget("a")
        workspace.settle(TIMEOUT)
        assert workspace.labels == ["travel"]
        assert_equal(workspace, naive_of(folder))


def test_only_answers_keep_labels(folder: Path) -> None:
    """A label under which a forgotten item was filed stays no longer than its own item."""
    with new_workspace(folder) as workspace:
        workspace.add("the hotel", ["travel"], id="b")  # 2
        workspace.add("the invoice", id="a")
        workspace.file("a", ["travel"])
        workspace.answer("a", ["money"])
        workspace.rename_label("money", "bills")
        workspace.forget("a")
        workspace.undo(2)
        naive = naive_of(folder)
        assert_equal(workspace, naive)
        assert_tables_agree(folder, naive)
        assert workspace.labels == ["bills"]
