"""Undo: afterwards everything is as if the event had never happened."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagalong import Item
from tagalong.journal import ConflictError, NotFoundError, RefusedError, Workspace
from tagalong.journal.reader import Snapshot
from tagalong.journal.snapshots import Snapshots
from tagalong.journal.state import ModelState
from tests.journal.comparison import assert_equal, hash_of, naive_of
from tests.journal.examples import new_workspace, texts
from tests.timeouts import TIMEOUT

Act = Callable[[Workspace], object]

EVENTS: dict[str, Act] = {
    "item": lambda workspace: workspace.add("the hotel", id="new"),
    "item with labels": lambda workspace: workspace.add("the hotel", ["trips"], id="new"),
    "answer": lambda workspace: workspace.answer("open", ["travel"]),
    "answer with a new label": lambda workspace: workspace.answer("open", ["trips"]),
    "none of these": lambda workspace: workspace.answer("open", []),
    "second answer": lambda workspace: workspace.answer("answered", ["travel"]),
    "filed": lambda workspace: workspace.file("open", ["money"]),
    "asked": lambda workspace: workspace.file("open", ["money"], asked=True),
    "label added": lambda workspace: workspace.add_label("trips", 0.9),
    "label renamed": lambda workspace: workspace.rename_label("money", "bills"),
    "label merged": lambda workspace: workspace.merge_label("money", "travel"),
    "label forgotten": lambda workspace: workspace.forget_label("money"),
    "target": lambda workspace: workspace.set_min_precision("money", "never"),
    "audit": lambda workspace: workspace.change_settings(audit=0.5),
    "one label": lambda workspace: workspace.change_settings(one_label=True),
    "fixed labels": lambda workspace: workspace.change_settings(labels="fixed"),
    "without text": lambda workspace: workspace.change_settings(content="features"),
}


def prepared(folder: Path) -> Workspace:
    workspace = new_workspace(folder)
    workspace.add("the invoice", ["money"], id="answered")
    workspace.add("the flight", ["travel"])
    workspace.add("the bank", id="open")
    return workspace


def seen(workspace: Workspace) -> tuple[object, ...]:
    """All that can be seen of a workspace, without the numbers of events."""
    items = [(item.id, item.state, item.labels, item.content) for item in workspace.items()]
    return (
        hash_of(workspace),
        workspace.labels,
        workspace.settings,
        items,
        workspace.report().to_dict(),
    )


@pytest.mark.parametrize("kind", EVENTS)
def test_without_the_event_everything_is_as_before(folder: Path, kind: str) -> None:
    with prepared(folder) as workspace:
        before = seen(workspace)
        EVENTS[kind](workspace)
        event = workspace.tip
        after = seen(workspace)
        assert after != before
        undo = workspace.undo(event)
        assert undo == event + 1
        assert seen(workspace) == before
        with pytest.raises(ConflictError, match=f"event {event} is undone already"):
            workspace.undo(event)
        redo = workspace.undo(undo)
        assert seen(workspace) == after
        with pytest.raises(ConflictError, match=f"event {undo} is undone already"):
            workspace.undo(undo)
        workspace.undo(redo)
        assert seen(workspace) == before
        workspace.undo(workspace.tip)
        assert seen(workspace) == after
        assert_equal(workspace, naive_of(folder))
    with Workspace(folder) as workspace:
        assert seen(workspace) == after


@pytest.mark.parametrize("kind", EVENTS)
def test_later_events_are_replayed_without_the_event(folder: Path, kind: str) -> None:
    def go_on(workspace: Workspace) -> None:
        workspace.add("a birthday and a cake", ["family"], id="last")
        workspace.add("the passport of mother", ["family"], id="more")
        workspace.answer("last", ["family", "home"])
        workspace.answer("answered", ["family"])

    with prepared(folder) as workspace:
        go_on(workspace)
        expected = seen(workspace)
    with prepared(folder.with_name("other")) as workspace:
        EVENTS[kind](workspace)
        event = workspace.tip
        if kind in ("one label", "fixed labels"):
            workspace.undo(event)
            go_on(workspace)
        else:
            go_on(workspace)
            workspace.undo(event)
        if kind == "without text":  # the later items are stored without text
            assert seen(workspace)[1:3] == expected[1:3]
        else:
            assert seen(workspace) == expected


def test_what_cannot_be_undone(workspace: Workspace) -> None:
    workspace.add("the invoice", id="a")
    forgotten = workspace.forget("a")
    with pytest.raises(ConflictError, match="the first event cannot be undone"):
        workspace.undo(1)
    with pytest.raises(ConflictError, match="forgetting an item cannot be undone"):
        workspace.undo(forgotten, cascade=True)
    for seq in (4, 2**62):
        with pytest.raises(NotFoundError, match=f"there is no event {seq}"):
            workspace.undo(seq)
    wrong: Any
    for wrong in (0, -1, 2**70, "2", 2.5):
        with pytest.raises(RefusedError, match="event must be"):
            workspace.undo(wrong)
    with pytest.raises(NotFoundError, match="there is no batch 'one'"):
        workspace.undo(batch="one")
    with pytest.raises(RefusedError, match="either an event or a batch"):
        workspace.undo()
    with pytest.raises(RefusedError, match="either an event or a batch"):
        workspace.undo(2, batch="one")
    assert workspace.tip == 3


def test_events_that_would_become_impossible_are_listed(workspace: Workspace) -> None:
    workspace.add_label("money")  # 2
    workspace.add("the invoice", id="a")  # 3
    workspace.answer("a", [], shown=["money"])  # 4
    workspace.rename_label("money", "bills")  # 5
    workspace.add("the bank", id="b")  # 6
    workspace.file("b", ["bills"])  # 7
    workspace.set_min_precision("bills", 0.9)  # 8
    workspace.forget_label("bills")  # 9
    workspace.answer("b", ["travel"])  # 10
    before = seen(workspace)
    # Event 4 says that the label was shown and was wrong, so it existed before.
    with pytest.raises(ConflictError, match="later events would become impossible: 4, 5, 7,") as e:
        workspace.undo(2)
    assert e.value.seqs == [4, 5, 7, 8, 9]
    with pytest.raises(ConflictError) as e:
        workspace.undo(3)
    assert e.value.seqs == [4]
    with pytest.raises(ConflictError) as e:
        workspace.undo(5)
    assert e.value.seqs == [7, 8, 9]
    with pytest.raises(ConflictError) as e:
        workspace.undo(6)
    assert e.value.seqs == [7, 10]
    assert seen(workspace) == before
    assert workspace.tip == 10


def test_a_cascade_takes_back_what_becomes_impossible(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.add_label("money")  # 2
        workspace.add("the invoice", id="a")  # 3
        before = seen(workspace)
        workspace.rename_label("money", "bills")  # 4
        workspace.answer("a", ["travel"], unknown=["bills"])  # 5
        workspace.merge_label("bills", "travel")  # 6
        after = seen(workspace)
        undo = workspace.undo(4, cascade=True)
        assert workspace.events()[-1].taken == [4, 5, 6]
        assert seen(workspace) == before
        for seq in (4, 5, 6):
            with pytest.raises(ConflictError, match="is undone already"):
                workspace.undo(seq)
        workspace.undo(undo)  # brings all three back
        assert seen(workspace) == after
        assert_equal(workspace, naive_of(folder))


def test_settings_decide_which_events_are_possible(workspace: Workspace) -> None:
    workspace.change_settings(one_label=True)  # 2
    workspace.undo(2)  # 3
    workspace.add("the invoice", ["money", "travel"])  # 4
    with pytest.raises(ConflictError) as error:
        workspace.undo(3)
    assert error.value.seqs == [4]
    workspace.undo(3, cascade=True)
    assert workspace.items() == []
    assert workspace.settings.one_label is True
    workspace.settle(TIMEOUT)
    assert workspace.labels == []


def test_an_item_that_becomes_impossible_takes_its_events_with_it(workspace: Workspace) -> None:
    """Also those that come when labels and settings are the same again with and without it."""
    workspace.add_label("money")  # 2
    workspace.change_settings(labels="fixed")  # 3
    workspace.add("the invoice", ["money"], id="a")  # 4
    workspace.forget_label("money")  # 5
    workspace.add("the hotel", id="b")  # 6
    workspace.answer("a", [])  # 7
    workspace.file("b", [])  # 8
    with pytest.raises(ConflictError) as error:
        workspace.undo(2)
    assert error.value.seqs == [4, 5, 7]
    workspace.undo(2, cascade=True)
    assert [item.id for item in workspace.items()] == ["b"]
    assert_equal(workspace, naive_of(workspace.storage))


def test_an_event_without_its_item_cannot_come_back(workspace: Workspace) -> None:
    workspace.add("the invoice", id="a")  # 2
    workspace.answer("a", ["money"])  # 3
    workspace.undo(3)  # 4
    workspace.undo(2)  # 5
    for cascade in (False, True):
        with pytest.raises(ConflictError) as error:
            workspace.undo(4, cascade=cascade)
        assert error.value.seqs == [3]
    workspace.undo(5)
    workspace.undo(4)
    assert workspace.item("a").labels == ["money"]


def test_an_undone_item_leaves_its_id_to_others(workspace: Workspace) -> None:
    workspace.add("the invoice", ["money"], id="a")  # 2
    workspace.undo(2)  # 3
    with pytest.raises(NotFoundError):
        workspace.item("a")
    assert workspace.add("the flight", id="a").seq == 4
    with pytest.raises(ConflictError):
        workspace.undo(3)
    assert workspace.item("a").content.item == Item("a", "the flight")
    workspace.undo(4)  # 5
    workspace.undo(3)  # 6
    assert workspace.item("a").content.item == Item("a", "the invoice")
    with pytest.raises(ConflictError):
        workspace.undo(5)
    assert workspace.item("a").labels == ["money"]


def test_batches_are_undone_as_one(folder: Path) -> None:
    with new_workspace(folder, "taught") as workspace:
        for number, (text, _) in enumerate(texts(30, seed=5)):
            workspace.add(text, id=f"{number}")
        workspace.add("nothing known", id="unsure")
        before = seen(workspace)
        preview = workspace.file_sure(preview=True)
        assert preview.batch == ""
        assert seen(workspace) == before
        filed = workspace.file_sure()
        assert (filed.items, filed.asked) == (preview.items, preview.asked)
        assert len(filed.items) > 10
        assert filed.asked
        assert workspace.item_counts() == {
            "asked": len(filed.asked),
            "filed": len(filed.items),
            "open": 1,
        }
        assert workspace.file_sure() == type(filed)("", [], [])
        undo = workspace.undo(batch=filed.batch)
        assert seen(workspace) == before
        with pytest.raises(ConflictError, match="is undone already"):
            workspace.undo(batch=filed.batch)
        workspace.undo(undo)
        events = {event.seq for event in workspace.events() if event.batch == filed.batch}
        first = min(events)
        workspace.undo(first)
        workspace.undo(batch=filed.batch)  # the rest
        assert set(workspace.events()[-1].taken) == events - {first}
        assert seen(workspace) == before


def test_filing_stops_at_the_limit_and_while_it_is_paused(folder: Path) -> None:
    with new_workspace(folder, "taught") as workspace:
        for text, _ in texts(30, seed=5):
            workspace.add(text)
        limited = workspace.file_sure(limit=3)
        assert len(limited.items) + len(limited.asked) == 3
        workspace.change_settings(paused=True)
        with pytest.raises(ConflictError, match="filing is paused"):
            workspace.file_sure()
        assert len(workspace.file_sure(preview=True).items) > 5
        with pytest.raises(ValueError, match="min_precision"):
            workspace.file_sure(1.5, preview=True)


def test_answers_after_filing_depend_on_the_filing(folder: Path) -> None:
    with new_workspace(folder, "taught") as workspace:
        workspace.add(Item("a", "the invoice"))
        workspace.answer("a", ["money"])
        watched = hash_of(workspace)
        workspace.undo(workspace.tip)
        filed = workspace.file("a", ["money"])
        workspace.answer("a", ["money"])
        assert hash_of(workspace) != watched
        workspace.undo(filed)  # the answer stays, now as a first one
        assert hash_of(workspace) == watched
        assert_equal(workspace, naive_of(folder, "taught"))


def kept_snapshots(folder: Path) -> list[int]:
    return sorted(int(path.name.split("-")[0]) for path in (folder / "snapshots").iterdir())


def test_a_snapshot_of_the_old_history_is_used_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[int] = []
    load = Snapshots.load

    def recorded(self: Snapshots, snapshot: Snapshot) -> ModelState:
        loaded.append(snapshot.seq)
        return load(self, snapshot)

    with new_workspace(folder) as workspace:
        for number, (text, topic) in enumerate(texts(20)):
            workspace.add(text, [topic])
            if number % 5 == 4:
                workspace.snapshot()
        before = [seq for seq in kept_snapshots(folder) if seq < 13]
        monkeypatch.setattr(Snapshots, "load", recorded)
        undo = workspace.undo(13)
        workspace.settle(TIMEOUT)
        assert loaded == [before[-1]]  # the newest before the undone event
        workspace.snapshot()
        redo = workspace.undo(undo)
        workspace.settle(TIMEOUT)
        assert loaded[1:] == [21]  # that of the time before the undo
        workspace.undo(redo)
        workspace.settle(TIMEOUT)
        assert loaded[2:] == [undo]
        assert_equal(workspace, naive_of(folder))
        assert workspace.problems == []
