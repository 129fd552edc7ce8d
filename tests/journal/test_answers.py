"""Answers: each way to answer is the call of `Tagger` that it stands for, bit by bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagalong import Item, Tagger, model_hash
from tagalong.journal import ConflictError, NotFoundError, RefusedError, Workspace
from tests.journal.comparison import hash_of
from tests.journal.examples import new_workspace, small_tagger

ITEM = Item("a", "the invoice of the bank", {"amount": 2.0}, weight=0.5)
LABELS = ("money", "travel", "family")


def answered(*answers: dict[str, Any]) -> Callable[[Workspace], None]:
    def act(workspace: Workspace) -> None:
        for answer in answers:
            workspace.answer("a", **answer)

    return act


def filed_and_answered(asked: bool, **answer: Any) -> Callable[[Workspace], None]:
    def act(workspace: Workspace) -> None:
        workspace.file("a", ["money"], asked=asked)
        workspace.answer("a", **answer)

    return act


CASES: dict[str, tuple[Callable[[Workspace], None], Callable[[Tagger], Any]]] = {
    "first": (
        answered({"labels": ["money"]}),
        lambda tagger: tagger.learn(ITEM, ["money"]),
    ),
    "a label as a text": (
        answered({"labels": "money"}),
        lambda tagger: tagger.learn(ITEM, ["money"]),
    ),
    "new label": (
        answered({"labels": ["money", "bank"]}),
        lambda tagger: tagger.learn(ITEM, ["money", "bank"]),
    ),
    "none of these": (
        answered({"labels": []}),
        lambda tagger: tagger.learn(ITEM, []),
    ),
    "unknown": (
        answered({"labels": ["money"], "unknown": ["travel"]}),
        lambda tagger: tagger.learn(ITEM, ["money"], unknown=["travel"]),
    ),
    "shown": (
        answered({"labels": ["money"], "shown": ["travel"]}),
        lambda tagger: tagger.learn(ITEM, ["money"], unknown=["family"]),
    ),
    "shown with a new label": (
        answered({"labels": ["bank"], "shown": ["travel", "bank"]}),
        lambda tagger: tagger.learn(ITEM, ["bank"], unknown=["money", "family"]),
    ),
    "nothing shown": (
        answered({"labels": ["money"], "shown": []}),
        lambda tagger: tagger.learn(ITEM, ["money"], unknown=["travel", "family"]),
    ),
    "shown and unknown": (
        answered({"labels": ["money"], "shown": ["money", "travel"], "unknown": ["travel"]}),
        lambda tagger: tagger.learn(ITEM, ["money"], unknown=["travel", "family"]),
    ),
    "second": (
        answered({"labels": ["money"]}, {"labels": ["travel"]}),
        lambda tagger: tagger.learn(ITEM, ["money"]).correct(ITEM, ["travel"], was=["money"]),
    ),
    "the same again": (
        answered({"labels": ["money"]}, {"labels": ["money"]}),
        lambda tagger: tagger.learn(ITEM, ["money"]).correct(ITEM, ["money"], was=["money"]),
    ),
    "second, none of these": (
        answered({"labels": ["money"]}, {"labels": []}),
        lambda tagger: tagger.learn(ITEM, ["money"]).correct(ITEM, [], was=["money"]),
    ),
    "second after none of these": (
        answered({"labels": []}, {"labels": ["money"]}),
        lambda tagger: tagger.learn(ITEM, []).correct(ITEM, ["money"], was=[]),
    ),
    "second with shown": (
        answered({"labels": ["money"]}, {"labels": ["travel"], "shown": ["money"]}),
        lambda tagger: tagger.learn(ITEM, ["money"]).correct(
            ITEM, ["travel"], was=["money"], unknown=["family"]
        ),
    ),
    "third": (
        answered({"labels": ["money"]}, {"labels": ["travel"]}, {"labels": ["family"]}),
        lambda tagger: (
            tagger.learn(ITEM, ["money"])
            .correct(ITEM, ["travel"], was=["money"])
            .correct(ITEM, ["family"], was=["travel"])
        ),
    ),
    "filed": (
        filed_and_answered(False, labels=["travel"]),
        lambda tagger: tagger.learn(ITEM, ["travel"], filed=True),
    ),
    "filed and shown": (
        filed_and_answered(False, labels=["travel"], shown=["money", "travel"]),
        lambda tagger: tagger.feedback(ITEM, ["money", "travel"], ["travel"], filed=True),
    ),
    "filed and shown with a new label": (
        filed_and_answered(False, labels=["bank"], shown=["money", "bank"]),
        lambda tagger: tagger.add_labels(["bank"]).feedback(
            ITEM, ["money", "bank"], ["bank"], filed=True
        ),
    ),
    "filed, shown, another one is right": (
        filed_and_answered(False, labels=["travel"], shown=["money"]),
        lambda tagger: tagger.learn(ITEM, ["travel"], unknown=["family"], filed=True),
    ),
    "spot check": (
        filed_and_answered(True, labels=["travel"]),
        lambda tagger: tagger.learn(ITEM, ["travel"], audited=True),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_answers_are_calls_of_the_tagger(folder: Path, case: str) -> None:
    act, call = CASES[case]
    tagger = small_tagger().add_labels(LABELS)
    with Workspace(folder, tagger=tagger) as workspace:
        workspace.add(ITEM)
        assert hash_of(workspace) == model_hash(tagger)  # an open item changes nothing
        act(workspace)
        call(tagger)
        assert hash_of(workspace) == model_hash(tagger)


def test_an_item_with_labels_is_learnt_at_once(workspace: Workspace) -> None:
    added = workspace.add(ITEM, ["money"])
    assert (added.id, added.seq, added.is_new) == ("a", 2, True)
    assert workspace.item("a").state == "answered"
    assert workspace.item("a").labels == ["money"]
    assert hash_of(workspace) == model_hash(small_tagger().learn(ITEM, ["money"]))


def test_items_suggestions_and_filing_change_no_model(folder: Path) -> None:
    with new_workspace(folder, "taught") as workspace:
        before = hash_of(workspace)
        workspace.add(ITEM)
        workspace.suggest("the flight")
        workspace.suggest_many(["the hotel", "the gate"])
        workspace.explain("the passport")
        workspace.report()
        workspace.file("a", ["money"], asked=True)
        workspace.file("a", ["money"])
        assert hash_of(workspace) == before
        assert workspace.item("a").state == "filed"
        assert workspace.item_counts() == {"filed": 1}


def test_without_an_audit_a_spot_check_is_like_any_answer(folder: Path) -> None:
    tagger = small_tagger().add_labels(LABELS)
    tagger.audit = 0
    with Workspace(folder, tagger=tagger) as workspace:
        assert workspace.settings.audit == 0
        workspace.add(ITEM)
        filed_and_answered(True, labels=["travel"])(workspace)
        assert hash_of(workspace) == model_hash(tagger.learn(ITEM, ["travel"]))


def test_only_first_answers_by_people_are_measured(workspace: Workspace) -> None:
    for id in "abcd":
        workspace.add("the invoice", id=id)
    workspace.answer("a", ["money"])
    assert workspace.report().items == 1
    workspace.answer("a", ["travel"])
    assert workspace.report().items == 1
    workspace.file("b", ["money"])
    workspace.answer("b", ["travel"])
    assert workspace.report().items == 1
    workspace.file("c", ["money"], asked=True)
    workspace.answer("c", ["travel"])
    assert workspace.report().items == 2
    workspace.answer("d", [])
    assert workspace.report().items == 3


def test_the_answer_that_a_request_is_about(workspace: Workspace) -> None:
    workspace.add(ITEM)
    with pytest.raises(ConflictError, match="has another answer by now: none") as error:
        workspace.answer("a", ["money"], was=[])
    assert error.value.present is None
    workspace.answer("a", ["money", "travel"], was=None)
    before, tip = hash_of(workspace), workspace.tip
    for was in (None, [], ["money"], ["money", "travel", "family"]):
        with pytest.raises(ConflictError) as error:
            workspace.answer("a", ["family"], was=was)
        assert error.value.present == ["money", "travel"]
    assert (hash_of(workspace), workspace.tip) == (before, tip)
    workspace.answer("a", ["family"], was=["travel", "money"])  # in any order
    workspace.answer("a", [], was={"family"})
    workspace.answer("a", ["money"], was=[])
    workspace.rename_label("money", "bills")
    workspace.answer("a", ["travel"], was=["bills"])


def test_the_labels_that_a_workspace_accepts(workspace: Workspace) -> None:
    workspace.add(ITEM)
    workspace.add_label("money")
    workspace.change_settings(labels="fixed")
    with pytest.raises(RefusedError, match="there is no label 'travel'"):
        workspace.answer("a", ["money", "travel"])
    with pytest.raises(RefusedError, match="there is no label 'travel'"):
        workspace.add("the flight", ["travel"])
    workspace.change_settings(labels="grow", one_label=True)
    with pytest.raises(RefusedError, match="one label per item, not 2"):
        workspace.answer("a", ["money", "travel"])
    workspace.answer("a", [])
    workspace.answer("a", ["travel"])
    with pytest.raises(RefusedError, match="there is no label 'home'"):
        workspace.answer("a", ["money"], shown=["home"])
    with pytest.raises(RefusedError, match="there is no label 'home'"):
        workspace.answer("a", ["money"], unknown=["home"])
    assert sorted(workspace.labels) == ["money", "travel"]


def test_a_label_cannot_be_right_and_unknown(workspace: Workspace) -> None:
    workspace.add(ITEM)
    workspace.add_label("money")
    with pytest.raises(RefusedError, match="'money' cannot be both"):
        workspace.answer("a", ["money"], unknown=["money"])
    assert workspace.item("a").state == "open"


@pytest.mark.parametrize(
    "labels", [None, 3, [3], [""], ["\ud800"], [None], {"money": 1}, ["x" * 513]]
)
def test_labels_that_cannot_be_stored_are_refused(workspace: Workspace, labels: Any) -> None:
    workspace.add(ITEM)
    with pytest.raises(RefusedError):
        workspace.answer("a", labels)
    if labels is not None:
        with pytest.raises(RefusedError):
            workspace.add("the flight", labels)
    assert workspace.tip == 2


def test_a_repeated_label_counts_once(workspace: Workspace) -> None:
    workspace.add(ITEM)
    workspace.answer("a", ["money", "money"])
    assert workspace.item("a").labels == ["money"]
    assert hash_of(workspace) == model_hash(small_tagger().learn(ITEM, ["money"]))


def test_only_items_that_exist_are_answered_and_filed(workspace: Workspace) -> None:
    for request in (
        lambda: workspace.answer("b", ["money"]),
        lambda: workspace.file("b", []),
        lambda: workspace.forget("b"),
        lambda: workspace.item("b"),
    ):
        with pytest.raises(NotFoundError, match="there is no item 'b'"):
            request()


def test_only_items_without_an_answer_are_filed(workspace: Workspace) -> None:
    workspace.add(ITEM)
    workspace.add_label("money")
    with pytest.raises(RefusedError, match="there is no label 'travel'"):
        workspace.file("a", ["travel"])
    workspace.file("a", ["money"], asked=True)
    workspace.file("a", ["money"])
    for asked in (False, True):
        with pytest.raises(ConflictError, match="is filed already"):
            workspace.file("a", ["money"], asked=asked)
    workspace.answer("a", ["money"])
    with pytest.raises(ConflictError, match="is answered already"):
        workspace.file("a", ["money"])


def test_operations_on_labels_that_are_missing_or_there_already(workspace: Workspace) -> None:
    workspace.add_label("money")
    workspace.add_label("travel")
    for request in (
        lambda: workspace.rename_label("none", "new"),
        lambda: workspace.rename_label("none", "money"),
        lambda: workspace.merge_label("none", "money"),
        lambda: workspace.merge_label("money", "none"),
        lambda: workspace.forget_label("none"),
        lambda: workspace.set_min_precision("none", 0.9),
    ):
        with pytest.raises(NotFoundError, match="there is no label 'none'"):
            request()
    for request in (
        lambda: workspace.add_label("money"),
        lambda: workspace.rename_label("travel", "money"),
        lambda: workspace.rename_label("money", "money"),
    ):
        with pytest.raises(ConflictError, match="there is a label 'money' already"):
            request()
    assert workspace.tip == 3


def test_labels_of_answers_follow_operations_on_labels(workspace: Workspace) -> None:
    """A correction takes the earlier answer by the names that its labels have at that time."""
    tagger = small_tagger()
    workspace.add(ITEM, ["money", "travel"])
    tagger.learn(ITEM, ["money", "travel"])
    workspace.merge_label("travel", "money")
    tagger.merge_labels(["travel"], "money")
    workspace.rename_label("money", "bills")
    tagger.rename_label("money", "bills")
    assert workspace.item("a").labels == ["bills"]
    workspace.answer("a", ["family"], was=["bills"])
    tagger.correct(ITEM, ["family"], was=["bills"])
    assert hash_of(workspace) == model_hash(tagger)
    workspace.forget_label("family")
    tagger.forget_label("family")
    assert workspace.item("a").labels == []
    workspace.answer("a", ["bills"], was=[])
    tagger.correct(ITEM, ["bills"], was=[])
    assert hash_of(workspace) == model_hash(tagger)


def test_merged_labels_of_an_item_are_forgotten_together(workspace: Workspace) -> None:
    workspace.add(ITEM, ["money", "travel"])
    workspace.merge_label("travel", "money")
    workspace.forget_label("money")
    assert workspace.item("a").labels == []
    assert workspace.answer("a", ["family"], was=[]) == workspace.tip
