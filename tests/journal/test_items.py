"""Items: ids, contents, and the same item again."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tagalong import Item, Tagger, model_hash
from tagalong.features import FeatureItem, TextFeatures
from tagalong.journal import Added, ConflictError, JournalError, RefusedError, Workspace
from tests.journal.comparison import hash_of
from tests.journal.examples import small_tagger, taught_tagger

CONTENTS: dict[str, Any] = {
    "text": "the invoice of the bank",
    "fields": Item(text={"subject": "invoice", "from": "bank"}),
    "values": {"amount": 2, "currency": "EUR", "words": {"tax", "due"}, "none": None},
    "text and values": Item("", "the invoice", {"amount": 1.25e-7}, weight=0.25),
    "nothing": Item(),
    "surrogates": Item(text="file \udcff name"),
    "features": FeatureItem("", [3, 5], [0.5, -2.0], weight=2.0),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_an_item_is_learnt_as_it_was_given(folder: Path, name: str) -> None:
    """Storing changes nothing that a model reads."""
    content = CONTENTS[name]
    tagger = small_tagger()
    with Workspace(folder, tagger=tagger) as workspace:
        workspace.add(content, ["money"], id="a")
        assert hash_of(workspace) == model_hash(tagger.learn(content, ["money"]))
    with Workspace(folder) as workspace:
        assert hash_of(workspace) == model_hash(tagger)
        again = workspace.add(content, ["money"], id="a")
        assert again == Added("a", 2, "known")


def test_title_source_and_date_are_kept(workspace: Workspace) -> None:
    date = datetime(2026, 1, 31, 12, tzinfo=UTC)
    workspace.add(Item("a", "the invoice", date=date), title="An invoice", source="inbox")
    content = workspace.item("a").content
    assert (content.title, content.source, content.date) == (
        "An invoice",
        "inbox",
        "2026-01-31T12:00:00+00:00",
    )


def test_items_without_an_id_get_one(workspace: Workspace) -> None:
    first = workspace.add("the invoice")
    workspace.add("the flight", id=f"item-{workspace.tip + 1}")
    workspace.add("the hotel", id=f"item-{workspace.tip + 2}")
    second = workspace.add("the invoice")
    assert first.is_new
    assert second.is_new
    ids = [item.id for item in workspace.items()]
    assert len(set(ids)) == len(ids) == 4
    assert first.id in ids
    assert second.id in ids


def test_the_same_item_again_changes_nothing(workspace: Workspace) -> None:
    workspace.add(Item("a", "the invoice"))
    assert workspace.add(Item("a", "the invoice")) == Added("a", 2, "known")
    for other in (Item("a", "the flight"), Item("a", "the invoice", weight=2.0), Item("a")):
        with pytest.raises(ConflictError, match="there is an item 'a' already, with other content"):
            workspace.add(other)
    with pytest.raises(ConflictError, match="with other labels") as error:
        workspace.add(Item("a", "the invoice"), ["money"])
    assert error.value.present is None
    workspace.answer("a", ["money", "travel"])
    assert workspace.add(Item("a", "the invoice"), ["travel", "money"]) == Added("a", 2, "known")
    assert workspace.add(Item("a", "the invoice")) == Added("a", 2, "known")
    with pytest.raises(ConflictError) as error:
        workspace.add(Item("a", "the invoice"), ["travel"])
    assert error.value.present == ["money", "travel"]
    assert workspace.tip == 3


def test_many_items_in_one_commit(workspace: Workspace) -> None:
    found = workspace.add_many(
        [
            Item("a", "the invoice", labels=("money",)),
            Item("a", "the flight"),
            Item("b", "the flight"),
            Item("c\n", "the hotel"),
            Item("b", "the flight"),
            Item("d", "the hotel", labels=("",)),
        ]
    )
    assert [each if isinstance(each, Added) else type(each) for each in found] == [
        Added("a", 2),
        ConflictError,
        Added("b", 3),
        RefusedError,
        Added("b", 3, "known"),
        RefusedError,
    ]
    assert workspace.tip == 3


def test_other_labels_of_a_known_item_can_be_an_answer(workspace: Workspace) -> None:
    tagger = small_tagger()
    item = Item("a", "the invoice", labels=("money",))
    assert workspace.add_many([item], relabel=True) == [Added("a", 2)]
    assert workspace.add_many([item], relabel=True) == [Added("a", 2, "known")]
    other = Item("a", "the invoice", labels=("travel",))
    assert workspace.add_many([other], relabel=True) == [Added("a", 3, "answered")]
    tagger.learn(item).correct(other, ["travel"], was=["money"])
    assert hash_of(workspace) == model_hash(tagger)
    [conflict] = workspace.add_many([Item("a", "the flight", labels=("money",))], relabel=True)
    assert isinstance(conflict, ConflictError)


@pytest.mark.parametrize("id", ["\n", "a\x00", "\x85", "x" * 513, "ä" * 257, "\ud800", 3])
def test_ids_that_cannot_be_used_are_refused(workspace: Workspace, id: Any) -> None:
    with pytest.raises(RefusedError, match="id"):
        workspace.add("the invoice", id=id)
    assert workspace.tip == 1


def test_ids_are_texts_of_any_language(workspace: Workspace) -> None:
    for id in ("ä" * 256, "x" * 512, "日本", "<b>&\"'%20/..", " "):
        workspace.add("the invoice", id=id)
        assert workspace.item(id).id == id


@pytest.mark.parametrize(
    "item",
    [
        3,
        None,
        Item(text=3),  # type: ignore[arg-type]
        Item(text={"subject": 3}),  # type: ignore[dict-item]
        Item(features={"amount": float("nan")}),
        Item(features={"amount": 1e300}),
        Item(weight=0.0),
        Item(weight=-1.0),
        Item(weight=float("nan")),
        Item(weight=1e300),
        Item(weight="much"),  # type: ignore[arg-type]
    ],
)
def test_what_a_model_could_not_learn_is_refused(workspace: Workspace, item: Any) -> None:
    """Also without labels: the item could never be answered."""
    before = hash_of(workspace)
    for labels in (["money"], None):
        with pytest.raises(JournalError):
            workspace.add(item, labels)
    assert workspace.tip == 1
    assert hash_of(workspace) == before


def test_items_are_listed_in_pages_and_by_state(workspace: Workspace) -> None:
    for number in range(7):
        workspace.add("the invoice", ["money"] if number % 2 else None, id=f"{number}")
    workspace.file("0", ["money"])
    workspace.file("2", ["money"], asked=True)
    assert [item.id for item in workspace.items(limit=3)] == ["0", "1", "2"]
    last = workspace.items(limit=3)[-1].seq
    assert [item.id for item in workspace.items(after=last, limit=10)] == ["3", "4", "5", "6"]
    assert [item.id for item in workspace.items("open")] == ["4", "6"]
    assert [item.id for item in workspace.items("answered")] == ["1", "3", "5"]
    assert [item.id for item in workspace.items("filed")] == ["0"]
    assert [item.id for item in workspace.items("asked")] == ["2"]
    assert workspace.item_counts() == {"open": 2, "asked": 1, "filed": 1, "answered": 3}


def test_models_that_cannot_learn_items_are_refused(folder: Path) -> None:
    with pytest.raises(RefusedError, match="learns labels item by item"):
        Workspace(folder, tagger=taught_tagger().compact())
    with pytest.raises(RefusedError, match="label must be a non-empty text"):
        Workspace(folder, tagger=Tagger().add_labels([3]))
    assert not (folder / "journal.sqlite").exists()
    with Workspace(folder, tagger=Tagger(features=TextFeatures(weighting="tfidf"))) as workspace:
        assert workspace.labels == []


def test_a_workspace_begins_with_a_copy_of_the_model(folder: Path) -> None:
    tagger = small_tagger().learn("the invoice", ["money"])
    with Workspace(folder, tagger=tagger) as workspace:
        assert hash_of(workspace) == model_hash(tagger)
        workspace.add("the flight", ["travel"])
        assert tagger.labels == ["money"]
        assert workspace.labels == ["money", "travel"]
        assert workspace.report().items == 1
    with pytest.raises(ConflictError, match="this workspace exists already"):
        Workspace(folder, tagger=tagger)
    with pytest.raises(ConflictError, match="this workspace exists already"):
        Workspace(folder, settings={"labels": "fixed"})
