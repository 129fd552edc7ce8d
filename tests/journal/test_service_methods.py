"""Methods of a workspace that a service needs: keys, labels, limits, listeners, numbers."""

import io
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from tagalong import Item
from tagalong.journal import (
    Added,
    ConflictError,
    Filed,
    NotFoundError,
    RefusedError,
    Settings,
    Workspace,
    WorkspaceView,
    export_items,
)
from tagalong.journal.contents import content_of
from tagalong.journal.limits import Limits, read_limits
from tagalong.journal.listing import list_events
from tagalong.readers.registry import FORMATS
from tagalong.streams.format import Target
from tests.journal.examples import new_workspace, texts
from tests.timeouts import TIMEOUT

Change = Callable[[Workspace, Any], Any]
CHANGES: dict[str, tuple[Change, Change]] = {
    "add_label": (
        lambda w, k: w.add_label("new", 0.9, **k),
        lambda w, k: w.add_label("new", 0.8, **k),
    ),
    "rename_label": (
        lambda w, k: w.rename_label("money", "bills", **k),
        lambda w, k: w.rename_label("money", "cash", **k),
    ),
    "merge_label": (
        lambda w, k: w.merge_label("money", "travel", **k),
        lambda w, k: w.merge_label("travel", "money", **k),
    ),
    "merge_labels": (
        lambda w, k: w.merge_labels(["money", "family"], "travel", **k),
        lambda w, k: w.merge_labels(["money"], "travel", **k),
    ),
    "forget_label": (
        lambda w, k: w.forget_label("money", **k),
        lambda w, k: w.forget_label("travel", **k),
    ),
    "set_min_precision": (
        lambda w, k: w.set_min_precision("money", 0.9, **k),
        lambda w, k: w.set_min_precision("money", None, **k),
    ),
    "change_settings": (
        lambda w, k: w.change_settings(audit=0.1, **k),
        lambda w, k: w.change_settings(audit=0.2, **k),
    ),
    "file": (
        lambda w, k: w.file("open", ["money"], **k),
        lambda w, k: w.file("open", ["travel"], **k),
    ),
    "forget": (lambda w, k: w.forget("a", **k), lambda w, k: w.forget("b", **k)),
}


@pytest.fixture
def small(workspace: Workspace) -> Workspace:
    for id, label in (("a", "money"), ("b", "travel"), ("c", "family")):
        workspace.add(f"text {id}", [label], id=id)
    workspace.add("open text", id="open")
    return workspace


@pytest.mark.parametrize("name", CHANGES)
def test_the_same_request_again_has_no_further_effect(
    small: Workspace, folder: Path, name: str
) -> None:
    change, other = CHANGES[name]
    key = {"key": "k1", "scope": "ada"}
    first = change(small, key)
    tip = small.tip
    assert change(small, key) == first
    small.close()
    with Workspace(folder) as workspace:
        assert change(workspace, key) == first
        assert workspace.tip == tip
        with pytest.raises(RefusedError, match="'k1' was used for another request"):
            other(workspace, key)
        assert workspace.tip == tip


def test_another_key_or_scope_is_another_request(small: Workspace) -> None:
    seqs = {
        small.change_settings(audit=0.1, key=key, scope=scope)
        for key, scope in (("k1", "ada"), ("k2", "ada"), ("k1", "bob"))
    }
    assert len(seqs) == 3


def test_a_refused_request_may_be_sent_again_with_its_key(small: Workspace) -> None:
    with pytest.raises(NotFoundError):
        small.rename_label("cash", "bills", key="k1")
    small.add_label("cash")
    small.rename_label("cash", "bills", key="k1")
    assert "bills" in small.labels


def test_the_key_of_forgetting_does_not_name_the_item(small: Workspace, folder: Path) -> None:
    small.add("text", ["money"], id="unusual-name")
    small.forget("unusual-name", key="k1", scope="ada items/unusual-name")
    small.close()
    data = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"unusual-name" not in data


@pytest.fixture
def sure(folder: Path) -> Workspace:
    """A workspace with many open items, most of them sure."""
    workspace = new_workspace(folder, "taught", {"audit": 0.1, "min_precision": 0.8})
    workspace.add_many([Item(str(i), text) for i, (text, _) in enumerate(texts(40, seed=9))])
    return workspace


def test_filing_again_with_the_same_key(sure: Workspace, folder: Path) -> None:
    key: dict[str, Any] = {"key": "k1", "scope": "ada"}
    with sure:
        first = sure.file_sure(**key)
        assert first.items
        tip = sure.tip
        sure.add("invoice payment due bank account tax refund", id="later")
        sure.change_settings(paused=True)
        assert sure.file_sure(**key) == first
        with pytest.raises(RefusedError, match="another request"):
            sure.file_sure(0.5, **key)
        gone = first.items[0][0]
        sure.forget(gone)
        again = sure.file_sure(**key)
        assert again == replace(first, items=first.items[1:])
        assert sure.tip == tip + 3
    data = b"".join(path.read_bytes() for path in folder.glob("journal*"))
    assert f'["{gone}"'.encode() not in data


def test_filing_is_paused_while_items_are_judged(
    sure: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = sure.suggest_many

    def pause(*args: Any) -> Any:
        sure.change_settings(paused=True)
        return judged(*args)

    monkeypatch.setattr(sure, "suggest_many", pause)
    with pytest.raises(ConflictError, match="paused"):
        sure.file_sure()
    assert sure.item_counts().get("filed", 0) == 0


def test_filing_nothing_with_a_key_stays_nothing(workspace: Workspace) -> None:
    nothing = Filed("", [], [])
    assert workspace.file_sure(key="k1") == nothing
    workspace.add("text", ["money"])
    assert workspace.file_sure(key="k1") == nothing


def limited(folder: Path, per_day: int) -> Workspace:
    (folder / "settings.toml").write_text(f"filed_per_day = {per_day}\n")
    return Workspace(folder)


def test_no_more_is_filed_than_a_day_allows(sure: Workspace, folder: Path) -> None:
    every = sure.file_sure(preview=True)
    sure.close()
    count = len(every.items)
    assert count > 5
    assert every.asked
    assert every.limited == 0
    now = datetime.now(UTC)
    with limited(folder, 3) as workspace:
        preview = workspace.file_sure(preview=True)
        assert (preview.items, preview.asked) == (every.items[:3], every.asked)
        assert preview.limited == count - 3
        first = workspace.file_sure()
        assert (first.items, first.asked, first.limited) == (
            preview.items,
            preview.asked,
            count - 3,
        )
        assert workspace.filed_since(now - timedelta(days=1)) == 3
        second = workspace.file_sure()
        assert (second.items, second.limited) == ([], count - 3)
        workspace.undo(workspace.item(first.items[0][0]).answer)
        assert workspace.filed_since(now - timedelta(days=1)) == 2
        workspace.settle(TIMEOUT)
        assert len(workspace.file_sure().items) == 1
        assert workspace.filed_since(datetime.now(UTC) + timedelta(days=1)) == 0


def test_items_answered_while_filing_are_left_out(
    sure: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sure:
        preview = sure.file_sure(preview=True)
        (first, _), (second, labels), *_ = preview.items
        judged = sure._sure_items

        def answered_meanwhile(*args: Any) -> Any:
            found = judged(*args)
            sure.answer(first, ["money"])
            return found

        monkeypatch.setattr(sure, "_sure_items", answered_meanwhile)
        assert sure.file_sure().items == preview.items[1:]
        assert sure.item(second).labels == labels


def test_a_time_needs_a_zone(workspace: Workspace) -> None:
    with pytest.raises(RefusedError, match="time zone"):
        workspace.filed_since(datetime(2026, 1, 1))


def test_items_with_a_label(small: Workspace) -> None:
    small.file("open", ["money"])
    assert small.items_with_label("money") == 2
    small.answer("b", ["money", "family"])
    correction = small.answer("a", ["travel"])
    assert {name: small.items_with_label(name) for name in small.labels} == {
        "money": 2,
        "travel": 1,
        "family": 2,
    }
    small.rename_label("family", "home")
    small.merge_label("home", "money")
    assert small.items_with_label("money") == 3
    assert small.items_with_label("family") == 0
    small.undo(correction)
    assert small.items_with_label("money") == 4
    small.forget("a")
    small.undo(small.item("b").seq, cascade=True)
    assert small.items_with_label("money") == 2
    small.forget_label("money")
    assert small.items_with_label("money") == 0


def test_facts_about_labels(folder: Path) -> None:
    with new_workspace(folder, "taught") as workspace:
        workspace.set_min_precision("money", "never")
        workspace.add_label("empty", 0.9)
        facts = {each.name: each for each in workspace.label_facts()}
        assert list(facts) == workspace.labels
        tagger = workspace.tagger
        judged = tagger.label_precision()
        assert (facts["money"].min_precision, facts["travel"].min_precision) == ("never", None)
        empty = facts["empty"]
        assert (empty.items, empty.last, empty.min_precision) == (0, 0, 0.9)
        assert (empty.precision, empty.sure) == (None, 0)
        assert sum(each.items for each in facts.values()) == 300
        assert max(each.last for each in facts.values()) == 300
        for name, (sure, right) in judged.items():
            assert facts[str(name)].sure == sure
            assert sure == 0 or facts[str(name)].precision == right / sure
        assert facts["money"].sure > 0


def test_listeners_hear_of_every_commit(small: Workspace) -> None:
    heard: list[int] = []
    is_stored: list[bool] = []

    def fail(tip: int) -> None:
        raise ValueError("a listener that fails")

    def listen(tip: int) -> None:
        heard.append(tip)
        is_stored.append(tip == small.tip)  # the commit is there for readers

    ends = [small.subscribe(fail), small.subscribe(listen)]
    first = small.answer("a", ["travel"])
    assert heard == [first]
    with pytest.raises(ConflictError):
        small.answer("a", ["money"], was=["nothing"])
    second = small.answer("b", ["money"])
    assert heard[-1] == second
    assert all(is_stored)
    ends[1]()
    ends[1]()
    small.answer("c", ["money"])
    assert second in heard
    assert small.tip not in heard


def test_listeners_hear_when_the_model_has_settled(small: Workspace) -> None:
    tips: list[int] = []
    has_settled = threading.Event()

    def listen(tip: int) -> None:
        tips.append(tip)
        if small.is_settled:
            has_settled.set()

    small.subscribe(listen)
    undo = small.undo(2)
    assert has_settled.wait(TIMEOUT)
    assert set(tips) == {undo}
    assert len(tips) >= 2


def test_listed_events(small: Workspace, folder: Path) -> None:
    answer = small.answer("a", ["travel"])
    small.undo(answer)
    small.forget("b")
    small.rename_label("money", "bills")
    small.file("open", ["bills"])
    expected = list_events(folder).events
    assert small.listed_events(0, 100) == expected
    assert small.listed_events(3, 2) == expected[3:5]
    assert small.listed_events(small.tip, 5) == []
    for kinds in (["filed"], ["item", "filed"], ["undo", "forgotten"], ["answer"], []):
        found = small.listed_events(1, 100, kinds)
        assert found == [each for each in expected[1:] if each.event.kind in kinds]
    assert [each.id for each in small.listed_events(0, 100, ["filed"])] == ["open"]
    assert [each.is_forgotten for each in small.listed_events(0, 4)] == [False, False, True, False]
    with pytest.raises(RefusedError, match="no events of kind 'nothing'"):
        small.listed_events(0, 1, ["nothing"])


def test_stats(small: Workspace, folder: Path) -> None:
    stats = small.stats()
    assert stats.events == small.tip
    assert stats.items == {"answered": 3, "open": 1}
    assert (stats.lag, stats.labels, stats.refused) == (0, 3, 0)
    assert stats.model_bytes == small.model_bytes == small.tagger.size().total_bytes > 0
    with WorkspaceView(folder) as view:
        small.answer("a", ["travel"])
        assert (view.stats().events, view.stats().lag) == (small.tip, 1)


def test_the_lag_while_the_model_is_computed_anew(
    small: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(small), "is_settled", False)
    assert small.stats().lag == 1


def test_many_contents_in_one_commit(workspace: Workspace) -> None:
    commits: list[int] = []
    workspace.subscribe(commits.append)
    results = workspace.add_contents(
        [
            (content_of(Item("a", "text"), "Title", "mail"), ["money"]),
            (content_of(Item("a", "other")), None),
            (content_of(Item("bad\n", "other")), None),
            (content_of("text"), None),
        ],
        actor="ada",
    )
    assert [type(result) for result in results] == [Added, ConflictError, RefusedError, Added]
    assert len(commits) == 1
    first = workspace.item("a")
    assert (first.content.title, first.content.source) == ("Title", "mail")
    assert (first.labels, first.answered_by) == (["money"], "ada")
    assert workspace.item(results[3].id).state == "open"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "item",
    [
        Item("a", "text", date=datetime(2026, 1, 2, 3, 4, tzinfo=UTC)),
        Item("a", {"subject": "birthday", "from": "mother"}),
        Item(
            "a", "", cast(Any, {"amount": 2.5, "count": 3, "currency": "EUR", "tags": ["x", "y"]})
        ),
        Item("a", {"body": "text"}, {"amount": -1.0}, weight=0.5),
    ],
)
def test_all_parts_of_an_item_are_kept(workspace: Workspace, item: Item) -> None:
    workspace.add(item)
    (found,) = workspace.export_items()
    assert found == item


def test_an_export_is_written_in_pieces(small: Workspace, folder: Path) -> None:
    written = io.BytesIO()
    seen: list[int] = []

    def counted() -> Any:
        for item in small.export_items():
            yield item
            seen.append(len(written.getvalue()))

    write = FORMATS["jsonl"].write
    assert write is not None
    assert write(counted(), Target(written, "export")) == 4
    assert seen[0] > 0
    assert len(set(seen)) == 4
    assert list(small.export_items()) == list(export_items(folder))


def test_an_export_that_is_given_up_frees_its_connection(small: Workspace) -> None:
    items = small.export_items()
    next(items)
    cast(Any, items).close()
    small.compact()  # needs that nobody reads


def test_operation_settings_have_defaults(folder: Path) -> None:
    limits = read_limits(folder)
    assert limits == Limits()
    assert (limits.memory_bytes, limits.body_bytes, limits.item_bytes) == (2e9, 64e6, 1e6)
    assert (limits.page_items, limits.connections, limits.requests) == (1000, 256, 64)
    assert (limits.filed_per_day, limits.allow_hosts) == (None, [])


def test_operation_settings_are_read(folder: Path) -> None:
    new_workspace(folder).close()
    text = 'filed_per_day = 5\nallow_hosts = ["example.org"]\nmin_precision = 0.95\n'
    (folder / "settings.toml").write_text(text)
    with Workspace(folder) as workspace:
        assert workspace.limits == Limits(filed_per_day=5, allow_hosts=["example.org"])
    assert read_limits(folder) == read_limits(folder, Settings()) == workspace.limits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("requests = 0", "requests: must be a number of requests, at least 1, got 0"),
        ("page_items = true", "page_items: must be a number of items, at least 1, got True"),
        ("filed_per_day = -1", "filed_per_day: must be a number of items, at least 0, got -1"),
        ('allow_hosts = "a"', "allow_hosts: must be a list of texts"),
        ("allow_hosts = [1]", "allow_hosts: must be a list of texts"),
        ("colour = 1", "colour: there is no such setting; snapshot_bytes, .* and allow_hosts are"),
    ],
)
def test_wrong_operation_settings(folder: Path, text: str, expected: str) -> None:
    folder.mkdir()
    (folder / "settings.toml").write_text(text)
    with pytest.raises(RefusedError, match=expected):
        read_limits(folder)
