"""Idempotency keys: the same request again has the same result, and no further effect."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tagalong.journal import Added, ConflictError, RefusedError, Workspace, store
from tests.journal.comparison import hash_of
from tests.journal.examples import new_workspace

Act = Callable[[Workspace, str], Any]

REQUESTS: dict[str, Act] = {
    "add": lambda workspace, key: workspace.add("the hotel", ["travel"], key=key),
    "add with an id": lambda workspace, key: workspace.add("the hotel", id="b", key=key),
    "answer": lambda workspace, key: workspace.answer("a", ["money"], key=key),
    "answer to an open item": lambda workspace, key: workspace.answer(
        "a", ["money"], was=None, key=key
    ),
    "undo": lambda workspace, key: workspace.undo(2, key=key),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_again_has_the_same_result_once(folder: Path, name: str) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("the invoice", id="a")
        result = REQUESTS[name](workspace, "key")
        tip, hash = workspace.tip, hash_of(workspace)
        assert REQUESTS[name](workspace, "key") == result
        assert (workspace.tip, hash_of(workspace)) == (tip, hash)
    with Workspace(folder) as workspace:  # kept on the disk
        assert REQUESTS[name](workspace, "key") == result
        assert (workspace.tip, hash_of(workspace)) == (tip, hash)


def test_items_without_an_id_are_added_once(workspace: Workspace) -> None:
    added = [workspace.add("the invoice", key="one") for _ in range(3)]
    assert added == [added[0]] * 3
    assert workspace.add("the invoice", key="two").seq == added[0].seq + 1
    assert workspace.add("the invoice").seq == added[0].seq + 2


@pytest.mark.parametrize("name", REQUESTS)
def test_another_request_with_the_same_key_is_refused(workspace: Workspace, name: str) -> None:
    workspace.add("the invoice", id="a")
    REQUESTS[name](workspace, "key")
    tip = workspace.tip
    others = [
        lambda: workspace.add("the hotel", ["money"], key="key"),
        lambda: workspace.add("the invoice", ["travel"], key="key"),
        lambda: workspace.answer("a", ["travel"], key="key"),
        lambda: workspace.answer("a", ["money"], was=[], key="key"),
        lambda: workspace.answer("a", ["money"], shown=[], key="key"),
        lambda: workspace.undo(3, key="key"),
        lambda: workspace.undo(2, cascade=True, key="key"),
    ]
    for other in others:
        with pytest.raises(RefusedError, match="the key 'key' was used for another request"):
            other()
    assert workspace.tip == tip


def test_a_key_is_valid_in_its_scope(workspace: Workspace) -> None:
    workspace.add("the invoice", id="a")
    first = workspace.answer("a", ["money"], key="key", scope="alice")
    second = workspace.answer("a", ["travel"], key="key", scope="bob")
    assert second == first + 1
    assert workspace.answer("a", ["money"], key="key", scope="alice") == first
    assert workspace.item("a").labels == ["travel"]


def test_a_refused_request_uses_up_no_key(workspace: Workspace) -> None:
    with pytest.raises(LookupError):
        workspace.answer("a", ["money"], key="key")
    workspace.add("the invoice", id="a")
    assert workspace.answer("a", ["money"], key="key") == 3


def test_a_key_outlives_an_undo(workspace: Workspace) -> None:
    """The request was carried out; that somebody has undone it is no reason to repeat it."""
    added = workspace.add("the invoice", id="a", key="one")
    answer = workspace.answer("a", ["money"], key="two")
    workspace.undo(answer, key="three")
    tip = workspace.tip
    assert workspace.answer("a", ["money"], key="two") == answer
    assert workspace.undo(answer, key="three") == tip
    with pytest.raises(ConflictError):
        workspace.undo(answer)
    workspace.undo(added.seq)
    assert workspace.add("the invoice", id="a", key="one") == Added("a", added.seq)
    assert workspace.tip == tip + 1


@pytest.mark.parametrize("contents", [("text", "features"), ("features", "text")])
def test_a_key_outlives_a_change_of_what_is_stored(
    workspace: Workspace, contents: tuple[str, str]
) -> None:
    workspace.change_settings(content=contents[0])
    added = workspace.add("the invoice", ["money"], id="a", key="key")
    workspace.change_settings(content=contents[1])
    tip = workspace.tip
    assert workspace.add("the invoice", ["money"], id="a", key="key") == added
    with pytest.raises(RefusedError, match="another request"):
        workspace.add("the hotel", ["money"], id="a", key="key")
    assert workspace.tip == tip


def test_threads_with_the_same_key_act_once(workspace: Workspace) -> None:
    workspace.add("the invoice", id="a")
    together = threading.Barrier(16)
    results: list[Any] = []

    def act() -> None:
        together.wait()
        results.append(
            (
                workspace.add("the hotel", key="one"),
                workspace.answer("a", ["money"], key="two"),
            )
        )

    threads = [threading.Thread(target=act) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 16
    assert results == [results[0]] * 16
    assert workspace.tip == 4


class Clock(datetime):
    """A clock that stands still until it is set."""

    present = datetime(2026, 1, 1, tzinfo=UTC)

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return cls.present


def test_keys_are_kept_for_seven_days(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "datetime", Clock)
    start = Clock.present
    workspace.add("the invoice", id="a")
    answer = workspace.answer("a", ["money"], key="old")
    monkeypatch.setattr(Clock, "present", start + timedelta(days=6, hours=23))
    workspace.add("the hotel", key="other")
    assert workspace.answer("a", ["money"], key="old") == answer
    monkeypatch.setattr(Clock, "present", start + timedelta(days=7, hours=1))
    workspace.add("the flight", key="another")
    assert workspace.answer("a", ["money"], key="old") == workspace.tip
    assert workspace.tip > answer
    assert workspace.add("the hotel", key="other").seq == answer + 1  # is younger
