"""Items that are added as one batch, over several commits, and taken back as one."""

from pathlib import Path

import pytest

from tagalong import Item
from tagalong.journal import Added, ConflictError, Workspace
from tests.journal.comparison import hash_of

FIRST = [Item("a", "the invoice", labels=("money",)), Item("b", "the flight", labels=("travel",))]
SECOND = [Item("c", "the hotel", labels=("travel",)), Item("d", "the bill")]


def add(workspace: Workspace, batch: str = "one") -> list[str]:
    found = [
        *workspace.add_many(FIRST, relabel=True, revive=True, batch=batch),
        *workspace.add_many(SECOND, relabel=True, revive=True, batch=batch),
    ]
    return [each.outcome for each in found if isinstance(each, Added)]


def test_a_batch_of_items_is_taken_back_as_one(workspace: Workspace) -> None:
    workspace.add("there before", ["other"], id="z")
    before = hash_of(workspace)
    assert add(workspace) == ["new"] * 4
    assert workspace.item_counts() == {"answered": 4, "open": 1}
    undo = workspace.undo(batch="one")
    assert hash_of(workspace) == before
    assert [item.id for item in workspace.items()] == ["z"]
    assert workspace.labels == ["other"]
    workspace.undo(undo)
    assert [item.id for item in workspace.items()] == ["z", "a", "b", "c", "d"]


def test_labels_that_a_batch_has_changed_come_back(workspace: Workspace) -> None:
    workspace.add(Item("a", "the invoice", labels=("other",)))
    assert add(workspace) == ["answered", "new", "new", "new"]
    assert workspace.item("a").labels == ["money"]
    workspace.undo(batch="one")
    assert workspace.item("a").labels == ["other"]


def test_items_that_were_taken_back_can_be_added_again(workspace: Workspace) -> None:
    add(workspace)
    added = hash_of(workspace)
    workspace.undo(batch="one")
    assert {each.outcome for each in workspace.add_many(FIRST, relabel=True)} == {"known"}  # type: ignore[union-attr]
    assert add(workspace, "two") == ["new"] * 4
    assert hash_of(workspace) == added


def test_answers_to_items_of_a_batch_are_named(workspace: Workspace) -> None:
    add(workspace)
    answer = workspace.answer("d", ["money"])
    with pytest.raises(ConflictError) as caught:
        workspace.undo(batch="one")
    assert caught.value.seqs == [answer]
    workspace.undo(batch="one", cascade=True)
    assert workspace.item_counts() == {}


def test_batches_survive_a_restart(folder: Path) -> None:
    with Workspace(folder) as workspace:
        add(workspace)
    with Workspace(folder) as workspace:
        assert len(workspace.events_of_batch("one")) == 4
        workspace.undo(batch="one")
        assert workspace.item_counts() == {}
