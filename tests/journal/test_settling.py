"""After an undo the old model answers until the new one is ready."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tagalong.journal import Workspace, database, keeper
from tagalong.journal.spare import Spare
from tests.journal.comparison import assert_equal, hash_of, naive_of
from tests.journal.examples import new_workspace, texts
from tests.timeouts import TIMEOUT


class HeldBack:
    """Holds the computing of a new model back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.started = threading.Semaphore(0)
        self.go_on = threading.Event()
        self.fails = False
        take = Spare.take

        def held_back(*args: Any) -> Any:
            self.started.release()
            assert self.go_on.wait(TIMEOUT)
            if self.fails:
                self.fails = False
                raise OSError("the disk fails")
            return take(*args)

        monkeypatch.setattr(Spare, "take", held_back)  # the first step of computing


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldBack]:
    held = HeldBack(monkeypatch)
    yield held
    held.go_on.set()


@pytest.fixture
def taught(folder: Path, held: HeldBack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    # Do not wait long for a reader that is held back.
    monkeypatch.setattr(database, "_SECONDS_TO_WAIT", 0.1)
    with new_workspace(folder) as workspace:
        for number, (text, topic) in enumerate(texts(30)):
            workspace.add(text, [topic], id=f"{number}")
        try:
            yield workspace
        finally:
            held.go_on.set()


def test_suggestions_go_on_from_the_old_model(taught: Workspace, held: HeldBack) -> None:
    probes = [text for text, _ in texts(10, seed=1)]
    before, hash = taught.suggest_many(probes), hash_of(taught)
    assert taught.is_settled
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    assert not taught.is_settled
    assert taught.suggest_many(probes) == before
    assert taught.suggest(probes[0]) == before[0]
    assert taught.explain(probes[0], "money").speaks_for
    assert taught.report().items == 30
    with pytest.raises(TimeoutError, match="is still being computed"):
        taught.settle(0)
    with pytest.raises(TimeoutError):
        taught.model(0)
    held.go_on.set()
    taught.settle(TIMEOUT)
    assert taught.is_settled
    assert hash_of(taught) != hash
    assert taught.report().items == 29
    assert_equal(taught, naive_of(taught.storage))


def test_what_the_database_knows_is_known_at_once(taught: Workspace, held: HeldBack) -> None:
    taught.undo(5)
    taught.change_settings(labels="fixed")
    taught.add("the invoice", id="new")
    assert held.started.acquire(timeout=TIMEOUT)
    assert taught.settings.labels == "fixed"
    assert [item.id for item in taught.items("open")] == ["new"]
    with pytest.raises(ValueError, match="there is no label 'home'"):
        taught.answer("new", ["home"])
    with pytest.raises(LookupError):
        taught.item("3")


def test_the_old_model_learns_on_meanwhile(taught: Workspace, held: HeldBack) -> None:
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    for _ in range(20):
        taught.add("zebra crossing", ["street"])
    assert taught.suggest("zebra", k=1)[0].label == "street"
    held.go_on.set()
    assert_equal(taught, naive_of(taught.storage))


def test_undos_during_the_computing_are_in_the_new_model(taught: Workspace, held: HeldBack) -> None:
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    taught.undo(9)
    taught.answer("20", ["home"])
    taught.undo(taught.tip)
    taught.forget("25")
    held.go_on.set()
    assert_equal(taught, naive_of(taught.storage))


def test_many_answers_during_the_computing_are_in_the_new_model(
    taught: Workspace, held: HeldBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last ones are learnt while nobody may write."""
    monkeypatch.setattr(keeper, "EVENTS_WITHOUT_WRITERS", 3)
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    for text, topic in texts(20, seed=3):
        taught.add(text, [topic])
    held.go_on.set()
    assert_equal(taught, naive_of(taught.storage))


def test_no_snapshot_of_the_old_model_is_made(taught: Workspace, held: HeldBack) -> None:
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    taught._keeper.make_snapshot()
    assert not (taught.folder / "snapshots").exists()


def test_a_failed_computing_is_tried_again(taught: Workspace, held: HeldBack) -> None:
    held.fails = True
    held.go_on.set()
    taught.undo(5)
    taught.settle(TIMEOUT)
    assert ["the disk fails" in str(problem) for problem in taught.problems] == [True]
    assert_equal(taught, naive_of(taught.storage))


def test_closing_before_the_model_is_ready(taught: Workspace, held: HeldBack) -> None:
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    held.go_on.set()
    taught.close()
    assert taught.problems == []
    with Workspace(taught.storage) as workspace:
        assert workspace.is_settled
        assert_equal(workspace, naive_of(taught.storage))


def test_waiting_ends_when_the_workspace_is_closed(taught: Workspace, held: HeldBack) -> None:
    taught.undo(5)
    assert held.started.acquire(timeout=TIMEOUT)
    results: list[str] = []

    def wait() -> None:
        try:
            taught.settle(TIMEOUT)
            results.append("settled")
        except Exception as error:
            results.append(type(error).__name__)

    waiting = threading.Thread(target=wait)
    waiting.start()
    closing = threading.Thread(target=taught.close)
    closing.start()
    waiting.join(TIMEOUT)
    assert len(results) == 1
    held.go_on.set()
    closing.join(TIMEOUT)
