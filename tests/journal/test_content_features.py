"""`content = "features"`: the journal has no text, and the model learns all the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import Item, LabelRanker, Tagger, model_hash
from tagalong.features import FeatureItem, TextFeatures
from tagalong.journal import Added, RefusedError, Workspace
from tagalong.journal.teaching import TaughtWorkspace
from tests.journal.comparison import assert_equal, hash_of, naive_of
from tests.journal.examples import TOPICS, new_workspace, small_tagger, texts

FEATURES = {"content": "features"}
WORDS = {  # long ones, which do not appear by chance
    *(word for words in TOPICS.values() for word in words.split() if len(word) > 4),
    *("xylophonist", "quuxman", "subjectfield"),
}


def requests(workspace: Workspace) -> None:
    for number, (text, topic) in enumerate(texts(30)):
        workspace.add(text, [topic] if number % 3 else None, id=f"{number}")
        if number % 3 == 0:
            workspace.answer(f"{number}", [topic], shown=workspace.labels[:2])
    workspace.add(Item("fields", {"subjectfield": "invoice"}, {"xylophonist": 2.0}), ["money"])
    workspace.add(Item("category", features={"from": "quuxman"}, weight=0.5), ["travel"])
    workspace.answer("3", ["family"])
    workspace.rename_label("money", "bills")


def words_in(folder: Path) -> set[str]:
    """The words of items in the files of a workspace, also in the parts of its models."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            if path.suffix == ".tagalong":
                header, arrays = tagalong.load(path).to_parts()
                data += json.dumps(header, ensure_ascii=False).lower().encode()
                data += b" ".join(
                    array.tobytes() for array in arrays.values() if isinstance(array, np.ndarray)
                )
            found |= {word for word in WORDS if word.encode() in data}
    return found


def learner_hash(tagger: Tagger) -> tuple[str, dict[str, Any]]:
    """Which learner a tagger has, and how often its labels were answered."""
    return model_hash(tagger.learner), tagger.history.to_json()


def test_no_word_of_an_item_is_in_any_file(folder: Path) -> None:
    with new_workspace(folder, settings=FEATURES) as workspace:
        requests(workspace)
        assert words_in(folder) == set()
        workspace.snapshot()
        assert words_in(folder) == set()
    assert words_in(folder) == set()
    with new_workspace(folder.with_name("text")) as workspace:  # the test would find them
        requests(workspace)
        workspace.snapshot()
        assert words_in(folder.with_name("text")) >= WORDS - {"subjectfield"}


def test_a_model_with_words_of_its_own_keeps_them(folder: Path) -> None:
    """The words of the first model are not those of items; new ones are not added."""
    tagger = small_tagger().learn("quuxman", ["money"])
    with Workspace(folder, tagger=tagger, settings=FEATURES) as workspace:
        workspace.add("xylophonist", ["money"])
        workspace.snapshot()
        assert words_in(folder) == {"quuxman"}


def test_the_learner_is_the_same_as_with_text(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        requests(workspace)
        hash_of(workspace)
        expected = learner_hash(workspace.tagger)
        figures = workspace.report().to_dict()
    with new_workspace(folder.with_name("features"), settings=FEATURES) as workspace:
        requests(workspace)
        hash_of(workspace)
        assert learner_hash(workspace.tagger) == expected
        assert workspace.report().to_dict() == figures


def test_replay_and_undo_are_exact(folder: Path) -> None:
    with new_workspace(folder, settings=FEATURES) as workspace:
        requests(workspace)
        before = hash_of(workspace)
        workspace.undo(8, cascade=True)
        undone = hash_of(workspace)
        assert undone != before
        assert_equal(workspace, naive_of(folder, settings=FEATURES))
        workspace.undo(workspace.tip)
        assert hash_of(workspace) == before
    with Workspace(folder) as workspace:
        assert hash_of(workspace) == before


def test_items_are_found_again(folder: Path) -> None:
    with new_workspace(folder, settings=FEATURES) as workspace:
        item = Item("a", "the invoice", {"amount": 2.0}, weight=0.5)
        workspace.add(item, title="An item")
        record = workspace.item("a")
        assert isinstance(record.content.item, FeatureItem)
        assert record.content.item == workspace.tagger.features.hashed(item)
        assert record.content.title == "An item"
        assert workspace.add(item, title="An item") == Added("a", 2, "known")
        suggested = workspace.suggest(record.content.item)
        assert suggested == workspace.suggest(item)


def test_the_setting_can_change_at_any_time(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.add("quuxman", ["money"], id="a")
        changed = workspace.change_settings(content="features")
        workspace.add("xylophonist", ["travel"], id="b")
        workspace.answer("a", ["travel"])
        assert isinstance(workspace.item("a").content.item, Item)
        assert isinstance(workspace.item("b").content.item, FeatureItem)
        workspace.undo(changed)
        assert isinstance(workspace.item("b").content.item, FeatureItem)
        workspace.add("the invoice", ["money"], id="c")
        assert isinstance(workspace.item("c").content.item, Item)
        workspace.snapshot()
        assert words_in(folder) == {"quuxman", "invoice"}
        assert_equal(workspace, naive_of(folder))


def test_an_item_on_its_way_while_the_setting_changes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item that is stored after the setting has no text, however early it was given."""
    prepared = TaughtWorkspace._prepared

    def held_back(*args: Any) -> Any:
        result = prepared(*args)
        monkeypatch.undo()
        workspace.change_settings(content="features")
        return result

    monkeypatch.setattr(TaughtWorkspace, "_prepared", held_back)
    workspace.add("quuxman", ["money"], id="a")
    monkeypatch.setattr(TaughtWorkspace, "_prepared", held_back)
    workspace.undo(2)
    workspace.add_many(["xylophonist"])
    assert words_in(workspace.folder) == set()


@pytest.mark.parametrize(
    "features",
    [
        lambda: TextFeatures(buckets=None),
        lambda: TextFeatures(weighting="tfidf"),
    ],
    ids=["vocabulary", "tfidf"],
)
def test_features_that_depend_on_what_was_learnt_are_refused(
    folder: Path, features: Callable[[], TextFeatures]
) -> None:
    tagger = Tagger(LabelRanker(race=None), features=features())
    with pytest.raises(RefusedError):
        Workspace(folder, tagger=tagger, settings=FEATURES)
    assert not (folder / "journal.sqlite").exists()
    with Workspace(folder, tagger=tagger) as workspace:
        with pytest.raises(RefusedError):
            workspace.change_settings(content="features")
        workspace.add("the invoice", ["money"])
        assert workspace.settings.content == "text"
        assert workspace.tip == 2
