"""The second copy of the model in memory: an undo of a recent answer starts from it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tagalong.journal import Workspace, keeper, spare
from tagalong.journal.snapshots import Snapshots
from tagalong.journal.spare import Spare
from tests.journal.comparison import assert_equal, naive_of
from tests.journal.examples import new_workspace, texts
from tests.timeouts import TIMEOUT


@pytest.fixture(autouse=True)
def short_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is made when a test asks for it, and is a few answers behind."""
    monkeypatch.setattr(keeper, "SECONDS_OF_REST", TIMEOUT)
    monkeypatch.setattr(spare, "ANSWERS_BEHIND", 5)
    monkeypatch.setattr(spare, "EVENTS_BEHIND", 1)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which event each computing starts, if it is from the copy; 0 if it is not."""
    found: list[int] = []
    take = Spare.take

    def recorded(*args: Any) -> Any:
        state = take(*args)
        found.append(0 if state is None else state.seq)
        return state

    monkeypatch.setattr(Spare, "take", recorded)
    return found


@pytest.fixture
def taught(folder: Path) -> Iterator[Workspace]:
    with new_workspace(folder) as workspace:
        for number, (text, topic) in enumerate(texts(30)):
            workspace.add(text, [topic], id=f"{number}")
            workspace.add(text, id=f"open {number}")
        workspace._keeper._refresh_spare()
        yield workspace


# Items with labels have the events 2, 4, ..., 60; five of them come after event 50.
COPY = 50


def test_recent_answers_are_undone_from_the_copy(
    taught: Workspace, starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Snapshots, "load", None)  # no file is read
    taught.undo(52)
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [COPY]


def test_older_answers_are_not(taught: Workspace, starts: list[int]) -> None:
    taught.undo(COPY)
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [0]


def test_the_copy_is_used_up(taught: Workspace, starts: list[int]) -> None:
    taught.undo(56)
    taught.settle(TIMEOUT)
    taught.undo(54)
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [COPY, 0]
    taught._keeper._refresh_spare()
    taught.undo(60)
    assert_equal(taught, naive_of(taught.storage))
    assert starts[2] > COPY


def test_a_copy_of_the_old_history_is_used_after_redo(taught: Workspace, starts: list[int]) -> None:
    undo = taught.undo(10)
    taught.settle(TIMEOUT)
    taught.undo(undo)
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [0, COPY]


def test_a_copy_that_has_learnt_a_forgotten_item_is_not_used(
    taught: Workspace, starts: list[int]
) -> None:
    taught.forget("3")
    taught.settle(TIMEOUT)
    taught.undo(taught.answer("open 4", ["money"]))
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [0, 0]


def test_the_copy_follows_at_a_distance(taught: Workspace, starts: list[int]) -> None:
    for text, topic in texts(10, seed=1):
        taught.add(text, [topic])
    taught._keeper._refresh_spare()
    last = taught.tip
    taught.undo(last - 4)
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [last - 5]


def test_a_copy_far_behind_is_loaded_from_a_snapshot(
    taught: Workspace, monkeypatch: pytest.MonkeyPatch, starts: list[int]
) -> None:
    monkeypatch.setattr(spare, "EVENTS_TO_LOAD", 3)
    for text, topic in texts(10, seed=1):
        taught.add(text, [topic])
        taught.snapshot()
    taught._keeper._refresh_spare()
    taught.undo(taught.tip)
    assert_equal(taught, naive_of(taught.storage))
    assert starts == [66]


def test_large_models_have_no_copy(folder: Path, starts: list[int]) -> None:
    folder.mkdir()
    (folder / "settings.toml").write_text("spare_bytes = 0\n", encoding="utf-8")
    with new_workspace(folder) as workspace:
        for text, topic in texts(30):
            workspace.add(text, [topic])
        workspace._keeper._refresh_spare()
        workspace.undo(workspace.tip)
        assert_equal(workspace, naive_of(folder))
        assert starts == [0]


def test_the_copy_is_made_when_nothing_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "SECONDS_OF_REST", 0.0)
    made = threading.Event()
    refresh = Spare.refresh

    def recorded(*args: Any) -> None:
        refresh(*args)
        made.set()

    monkeypatch.setattr(Spare, "refresh", recorded)
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", ["money"])
        assert made.wait(TIMEOUT)
        for text, topic in texts(30):
            workspace.add(text, [topic])
        workspace.undo(workspace.tip - 1)
        assert_equal(workspace, naive_of(folder))
        assert workspace.problems == []
