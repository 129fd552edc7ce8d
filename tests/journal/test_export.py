"""Tests of exports: items with their present labels, and events."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tagalong import Item, Tagger
from tagalong.journal import NotFoundError, Workspace, export_events, export_items
from tagalong.journal.view import WorkspaceView
from tagalong.learning.feature_items import FeatureItem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def labels_of(folder: Path, *, filed: bool = False) -> dict[str, tuple[str, ...] | None]:
    return {item.id: item.labels for item in export_items(folder, filed=filed)}


def test_labels_are_the_present_ones(folder: Path) -> None:
    with Workspace(folder) as workspace:
        workspace.add("one", ["a", "b"], id="renamed")
        workspace.add("two", ["a", "c"], id="merged")
        workspace.add("three", ["d"], id="forgotten label")
        workspace.add("four", ["a"], id="corrected")
        workspace.add("five", ["a"], id="undone answer")
        workspace.add("six", [], id="none")
        workspace.add("seven", id="open")
        workspace.add("eight", ["a"], id="undone")
        workspace.add("nine", ["a"], id="forgotten")
        workspace.add("ten", id="filed")
        workspace.add("eleven", id="asked")
        workspace.answer("corrected", ["b"])
        answer = workspace.answer("undone answer", ["c"])
        workspace.undo(answer)
        workspace.undo(workspace.item("undone").seq)
        workspace.forget("forgotten")
        workspace.file("filed", ["b"])
        workspace.file("asked", ["b"], asked=True)
        workspace.merge_label("a", "c")
        workspace.rename_label("c", "see")
        workspace.rename_label("b", "a")  # a name that another label had before
        workspace.forget_label("d")
        workspace.add("twelve", ["b"], id="later")
    expected = {
        "renamed": ("see", "a"),
        "merged": ("see",),
        "forgotten label": (),
        "corrected": ("a",),
        "undone answer": ("see",),
        "none": (),
        "open": None,
        "filed": None,
        "asked": None,
        "later": ("b",),
    }
    assert labels_of(folder) == expected
    assert list(labels_of(folder)) == list(expected)  # in the order of arrival
    assert labels_of(folder, filed=True) == {**expected, "filed": ("a",)}
    with WorkspaceView(folder) as view:
        assert {each.id: each.labels for each in view.items()} == {
            id: None if labels is None else list(labels)
            for id, labels in labels_of(folder, filed=True).items()
        }
    assert [item.id for item in export_items(folder, "filed")] == ["filed"]
    assert [item.id for item in export_items(folder, "open")] == ["open"]
    assert len(list(export_items(folder, "answered"))) == 7


def test_learning_an_export_gives_the_same_model(folder: Path) -> None:
    """With one answer per item, given in the order of the items."""
    with Workspace(folder) as workspace:
        for i in range(40):
            topics = ("invoice bank", "flight hotel", "dinner mother")
            labels = [("money", "travel", "family")[i % 3]]
            item = Item(f"i{i}", f"{topics[i % 3]} {i}", {"length": i / 40}, weight=1 + i % 2)
            workspace.add(item, labels)
        facts = workspace.model()
    tagger = Tagger()
    for item in export_items(folder):
        tagger.learn(item)
    assert tagger.model_hash() == facts.hash


def test_items_are_exact(folder: Path) -> None:
    date = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
    given = [
        Item("a", {"subject": "S", "": "text\n"}, {"n": 1.5, "kind": "x"}, ("l",), 2.0, date=date),
        Item("b", "plain", labels=("l", "m")),
        Item("c", "nothing known"),
    ]
    with Workspace(folder) as workspace:
        workspace.add_many(given)
    assert list(export_items(folder)) == given


def test_hashed_items_have_numbered_features(folder: Path) -> None:
    with Workspace(folder, settings={"content": "features"}) as workspace:
        workspace.add("confidential words", ["secret"], id="a")
        hashed = workspace.item("a").content.item
        assert isinstance(hashed, FeatureItem)
    (item,) = export_items(folder)
    assert (item.id, item.text, item.labels) == ("a", "", ("secret",))
    assert len(item.features) == 2
    assert set(item.features) == {str(number) for number in hashed.numbers.tolist()}


def test_one_state_is_exported_while_it_changes(folder: Path) -> None:
    with Workspace(folder) as workspace:
        for i in range(3):
            workspace.add(f"text {i}", ["a"], id=f"i{i}")
        items = export_items(folder)
        found = [next(items)]
        workspace.add("later", ["a"], id="later")
        workspace.undo(workspace.item("i2").seq)
        found += items
    assert [item.id for item in found] == ["i0", "i1", "i2"]
    assert [item.id for item in export_items(folder)] == ["i0", "i1", "later"]


def test_events(folder: Path) -> None:
    with Workspace(folder) as workspace:
        workspace.add("one", ["a"], id="first")
        workspace.add("heliotrope", ["flower"], id="gone")
        workspace.undo(workspace.add("a mistake", id="undone").seq)
        workspace.forget("gone")
        known = workspace.events()
    found = list(export_events(folder))
    assert [event["seq"] for event in found] == [1, 2, 3, 4, 5, 6]
    assert [event.get("undone", False) for event in found] == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]
    assert found[1]["content"] == {"id": "first", "text": "one"}
    assert found[3]["content"] == {"id": "undone", "text": "a mistake"}
    for event, exported in zip(known, found, strict=True):
        kept = {n: v for n, v in exported.items() if n not in ("content", "undone")}
        assert kept == event.to_json()
    assert "heliotrope" not in json.dumps(found)
    assert not any(item.id == "gone" for item in export_items(folder))


def test_no_workspace(tmp_path: Path) -> None:
    for export in (export_items, export_events):
        with pytest.raises(NotFoundError, match="there is no workspace here"):
            export(tmp_path)
