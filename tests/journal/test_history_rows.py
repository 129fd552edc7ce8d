"""The history for people: newest first, batches as one row, and what it can be narrowed to."""

from pathlib import Path

import pytest

from tagalong.journal import HistoryRow, WantedEvents, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace whose events are numbered: 2, 3 items; 4, 5 labels; 6, 7 a batch; 8 an undo."""
    made = Workspace(tmp_path / "w")
    made.add("a text", id="one", labels=["a"], actor="ann")
    made.add("another", id="two", actor="ben")
    made.add_label("b", actor="ann")
    made.add_label("c", actor="ben")
    made.merge_labels(["a", "b"], "c", actor="ann")
    made.undo(3, actor="ben")
    return made


def seqs(rows: list[HistoryRow]) -> list[int]:
    return [row.listed.event.seq for row in rows]


def test_a_batch_is_one_row(workspace: Workspace) -> None:
    with workspace:
        rows = workspace.history()
        assert seqs(rows) == [8, 7, 5, 4, 3, 2, 1]
        assert [(row.count, row.undone) for row in rows[:2]] == [(1, 0), (2, 0)]
        assert [row.undone for row in rows if row.listed.event.seq == 3] == [1]


def test_pages_follow_each_other(workspace: Workspace) -> None:
    with workspace:
        found, before = [], None
        while rows := workspace.history(before, 2):
            found += seqs(rows)
            before = found[-1]
        assert found == [8, 7, 5, 4, 3, 2, 1]
        assert seqs(workspace.history(7)) == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (WantedEvents(("label-merged", "undo")), [8, 7]),
        (WantedEvents(("item",), "ben"), [3]),
        (WantedEvents(actor="ann"), [7, 4, 2]),
        (WantedEvents(item="two"), [8, 3]),
        (WantedEvents(item="none"), []),
        (WantedEvents(actor="x' OR 1 = 1 --"), []),
    ],
)
def test_events_are_chosen(workspace: Workspace, wanted: WantedEvents, expected: list[int]) -> None:
    with workspace:
        assert seqs(workspace.history(wanted=wanted)) == expected


def test_a_batch_opens_to_its_events(workspace: Workspace) -> None:
    with workspace:
        batch = workspace.history(wanted=WantedEvents(("label-merged",)))[0].listed.event.batch
        rows = workspace.history(wanted=WantedEvents(batch=batch))
        assert [(row.listed.event.seq, row.count) for row in rows] == [(7, 1), (6, 1)]
        workspace.undo(6)
        assert [row.undone for row in workspace.history() if row.count == 2] == [1]


def test_items_with_only_a_label_are_counted(workspace: Workspace) -> None:
    with workspace:
        workspace.add("third", id="three", labels=["c", "d"])
        used = workspace.label_use("c")
        assert (used.items, used.alone) == (2, 1)
        assert workspace.label_use("d").alone == 0
        assert workspace.label_use("nothing").items == 0
