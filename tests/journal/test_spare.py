"""The second copy of the model: near undos start from it, and it is never of another history."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tagalong import model_hash
from tagalong.journal import Workspace, keeper, spare
from tagalong.journal.reader import JournalReader
from tagalong.journal.recovery import catch_up, first_state
from tagalong.journal.spare import Spare
from tagalong.journal.view import journal_path, snapshots_of
from tests.timeouts import TIMEOUT

WORDS = {"money": "invoice bank due", "travel": "flight hotel ticket", "family": "dinner mother"}


@pytest.fixture(autouse=True)
def small_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare, "ANSWERS_BEHIND", 5)
    monkeypatch.setattr(spare, "EVENTS_BEHIND", 8)
    monkeypatch.setattr(spare, "EVENTS_TO_LOAD", 30)


def teach(workspace: Workspace, first: int, last: int) -> None:
    labels = list(WORDS)
    for number in range(first, last):
        label = labels[number % 3]
        workspace.add(f"{WORDS[label]} {number}", [label], id=str(number))


def never() -> bool:
    return False


@contextmanager
def made(folder: Path, count: int, **options: Any) -> Iterator[tuple[Workspace, Spare]]:
    """A workspace without a spare of its own, and a spare that a test handles itself."""
    with Workspace(folder / "w", quick_undo=False, **options) as workspace:
        teach(workspace, 0, count)
        yield workspace, Spare(snapshots_of(folder / "w"), exact=False)


def reader_of(folder: Path) -> JournalReader:
    return JournalReader(journal_path(folder / "w"))


def test_it_stays_some_answers_behind(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (workspace, copy), reader_of(tmp_path) as reader:
        assert copy.is_due(workspace.tip)
        copy.refresh(reader, never)
        assert not copy.is_due(workspace.tip)
        state = copy.take(reader)
        assert state is not None
        assert state.seq == workspace.tip - 5
        assert copy.take(reader) is None  # it is taken once


def test_it_continues_to_the_same_model(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (workspace, copy), reader_of(tmp_path) as reader:
        for count in (30, 60, 61):
            copy.refresh(reader, never)
            teach(workspace, workspace.tip - 1, count)
        state = copy.take(reader)
        assert state is not None
        catch_up(reader, state)
        assert model_hash(state.tagger) == workspace.model().hash


def test_items_without_labels_do_not_count(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (workspace, copy), reader_of(tmp_path) as reader:
        for number in range(10):
            workspace.add("an open item", id=f"open {number}")
        copy.refresh(reader, never)
        state = copy.take(reader)
        assert state is not None
        assert state.seq == workspace.tip - 15


def test_an_undo_of_an_older_event_makes_it_useless(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (workspace, copy), reader_of(tmp_path) as reader:
        copy.refresh(reader, never)
        undo = workspace.undo(5)
        assert copy.take(reader) is None
        workspace.undo(undo)
        assert copy.take(reader) is not None


def test_refreshing_after_an_older_undo(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (workspace, copy), reader_of(tmp_path) as reader:
        copy.refresh(reader, never)
        workspace.undo(5)
        copy.refresh(reader, never)
        state = copy.take(reader)
        assert state is not None
        catch_up(reader, state)
        naive = first_state(reader)
        catch_up(reader, naive)
        assert model_hash(state.tagger) == model_hash(naive.tagger) == workspace.model().hash


def test_forgetting_makes_it_useless(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (workspace, copy), reader_of(tmp_path) as reader:
        copy.refresh(reader, never)
        workspace.forget("3")
        assert copy.take(reader) is None


def test_a_workspace_with_few_events(tmp_path: Path) -> None:
    with made(tmp_path, 2) as (_, copy), reader_of(tmp_path) as reader:
        copy.refresh(reader, never)
        state = copy.take(reader)
        assert state is not None
        assert state.seq == 1


def test_it_gives_up_when_the_workspace_is_closed(tmp_path: Path) -> None:
    with made(tmp_path, 20) as (_, copy), reader_of(tmp_path) as reader:
        with pytest.raises(InterruptedError):
            copy.refresh(reader, lambda: True)
        assert copy.take(reader) is None


class _Watched(Spare):
    """A spare that tells what happened to it."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.refreshed = threading.Event()
        self.taken: list[bool] = []

    def refresh(self, *args: Any) -> None:
        super().refresh(*args)
        self.refreshed.set()

    def take(self, reader: JournalReader) -> Any:
        state = super().take(reader)
        self.taken.append(state is not None)
        return state


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[_Watched]:
    found: list[_Watched] = []

    def make(*args: Any, **options: Any) -> _Watched:
        found.append(_Watched(*args, **options))
        return found[-1]

    monkeypatch.setattr(keeper, "Spare", make)
    monkeypatch.setattr(keeper, "SECONDS_OF_REST", 0.01)
    return found


def test_a_workspace_undoes_with_it(tmp_path: Path, watched: list[_Watched]) -> None:
    with Workspace(tmp_path / "w") as workspace:
        teach(workspace, 0, 20)
        before = workspace.model().hash
        assert watched[0].refreshed.wait(TIMEOUT)
        last = workspace.add("another one", ["family"], id="last").seq
        workspace.undo(last)
        assert workspace.model().hash == before
    assert watched[0].taken == [True]


def test_a_large_model_has_none(tmp_path: Path, watched: list[_Watched]) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "settings.toml").write_text("spare_bytes = 0\n")
    with Workspace(tmp_path / "w") as workspace:
        teach(workspace, 0, 20)
        workspace.undo(workspace.tip)
        workspace.settle()
    assert not watched[0].refreshed.is_set()
    assert watched[0].taken == [False]
