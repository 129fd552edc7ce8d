"""Pages of items: everything once, in order, whatever happens between two pages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagalong import Item
from tagalong.journal import ConflictError, NotFoundError, RefusedError, Workspace, pages, verify
from tagalong.journal.contents import content_of, title_of
from tests.journal.examples import new_workspace, texts


def all_pages(
    workspace: Workspace,
    limit: int = 2,
    between: Callable[[int], None] = lambda number: None,
    **query: Any,
) -> list[str]:
    """The ids of all pages of a list."""
    found: list[str] = []
    after, number = None, 0
    while True:
        page = workspace.page(after=after, limit=limit, **query)
        assert len(page.records) <= limit
        found += [record.id for record in page.records]
        assert number < 100, "the pages do not end"
        if page.next is None:
            return found
        between(number)
        after, number = page.next, number + 1


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    """Eight items: 0 and 1 answered, 2 filed, 3 a spot check, the others open."""
    for number in range(8):
        source = "mail/inbox" if number % 2 else "mail/lists"
        labels = ["money"] if number < 2 else None
        workspace.add(f"text {number}", labels, id=str(number), source=source, actor="ada")
    workspace.file("2", ["money"], actor="robot")
    workspace.file("3", ["money"], asked=True)
    return workspace


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (None, "76543210"),
        ("open", "76543"),
        ("answered", "210"),
        ("asked", "3"),
        ("filed", "2"),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_newest_first(filled: Workspace, state: str | None, expected: str, limit: int) -> None:
    assert all_pages(filled, limit, state=state) == list(expected)


def test_the_last_page_says_so(filled: Workspace) -> None:
    assert filled.page(state="open", limit=5).next is None
    assert filled.page(state="open", limit=4).next is not None
    assert filled.page(state="filed", source="nowhere").next is None


def test_records_have_what_a_list_shows(filled: Workspace) -> None:
    filled.skip("5")
    filled.answer("1", ["travel"], actor="bob")
    records = {record.id: record for record in filled.page(limit=100).records}
    events = {event.seq: event for event in filled.events()}
    assert all(record.time == events[record.seq].time for record in records.values())
    found = {id: (each.skipped, each.answered_by, each.answer) for id, each in records.items()}
    tip = filled.tip
    assert found["5"] == (True, "", None)
    assert found["3"] == (False, "", None)
    assert found["2"] == (False, "robot", records["2"].answer)
    assert events[records["2"].answer or 0].kind == "filed"
    assert found["1"] == (False, "bob", tip)
    assert found["0"] == (False, "ada", records["0"].seq)
    assert filled.item("1") == records["1"]
    filled.undo(records["1"].answer)
    assert filled.item("1").labels == ["money"]


def test_items_that_were_put_off_come_last_in_the_order_of_putting_off(filled: Workspace) -> None:
    filled.skip("7")
    filled.skip("3")
    filled.skip("5")
    assert all_pages(filled, state="open") == ["6", "4", "7", "3", "5"]
    filled.skip("7")
    assert all_pages(filled, state="open") == ["6", "4", "3", "5", "7"]
    assert all_pages(filled, state="asked") == ["3"]
    assert all_pages(filled) == list("76543210")
    assert all_pages(filled, state="open", source="mail/inbox") == ["3", "5", "7"]


def test_putting_off_is_stored_without_an_event(filled: Workspace, folder: Path) -> None:
    tip = filled.tip
    filled.skip("7")
    assert filled.tip == tip
    filled.close()
    with Workspace(folder) as workspace:
        assert all_pages(workspace, state="open") == ["6", "5", "4", "3", "7"]
        answer = workspace.answer("7", ["money"])
        assert not workspace.item("7").skipped
        assert workspace.page(state="answered", limit=1).records[0].id == "7"
        workspace.undo(answer)
        assert workspace.item("7").skipped
    assert verify(folder).problems == []


@pytest.mark.parametrize("id", ["0", "2"])
def test_an_answered_item_cannot_be_put_off(filled: Workspace, id: str) -> None:
    with pytest.raises(ConflictError, match=f"the item '{id}' is (answered|filed) already"):
        filled.skip(id)


def test_an_unknown_item_cannot_be_put_off(filled: Workspace) -> None:
    with pytest.raises(NotFoundError):
        filled.skip("nobody")


def test_no_item_comes_twice_if_it_is_put_off_meanwhile(filled: Workspace) -> None:
    filled.skip("6")
    found = all_pages(
        filled, 1, lambda number: filled.skip(["7", "5", "6", "3"][number % 4]), state="open"
    )
    assert found[0] == "7"
    assert len(found) == len(set(found))


def test_the_number_of_a_forgotten_put_off_is_not_used_again(filled: Workspace) -> None:
    for id in ("4", "4", "4"):
        filled.skip(id)
    page = filled.page(state="open", limit=2)
    assert [record.id for record in page.records] == ["7", "6"]
    filled.forget("4")
    filled.skip("7")
    rest = filled.page(state="open", limit=10, after=page.next)
    assert [record.id for record in rest.records] == ["5", "3"]


def test_no_item_comes_twice_if_it_is_answered_and_undone_meanwhile(filled: Workspace) -> None:
    def change(number: int) -> None:
        answer = filled.answer("7", ["money"])
        filled.undo(answer)
        filled.add(f"new {number}", id=f"new {number}")

    assert all_pages(filled, 1, change, state="open") == list("76543")


def test_no_item_comes_twice_if_its_answer_is_undone_meanwhile(filled: Workspace) -> None:
    filled.skip("7")
    answer = filled.answer("7", ["money"])
    page = filled.page(limit=1)
    assert [record.id for record in page.records] == ["7"]
    filled.undo(answer)
    rest = filled.page(limit=100, after=page.next)
    assert [record.id for record in rest.records] == list("6543210")


@pytest.mark.parametrize("order", ["newest", "unsure"])
def test_items_that_go_meanwhile_are_left_out(filled: Workspace, order: str) -> None:
    page = filled.page(state="open", order=order, limit=1)  # type: ignore[arg-type]
    gone = [id for id in "76543" if id != page.records[0].id][:3]
    filled.answer(gone[0], ["money"])
    filled.forget(gone[1])
    filled.undo(filled.item(gone[2]).seq, cascade=True)
    rest = filled.page(state="open", order=order, limit=9, after=page.next)  # type: ignore[arg-type]
    expected = set("76543") - {page.records[0].id, *gone}
    assert {record.id for record in rest.records} == expected
    assert rest.next is None


def test_the_least_certain_items_come_first(folder: Path) -> None:
    with new_workspace(folder, "taught") as workspace:
        for number, (text, _) in enumerate(texts(30, seed=5)):
            workspace.add(text if number % 2 else text.split()[0], id=str(number))
        workspace.skip("3")
        found = all_pages(workspace, 7, state="open", order="unsure")
        items = {each.id: each.content.item for each in workspace.items("open")}
        tagger = workspace.tagger
        certainty = {}
        for id, item in items.items():
            suggestions = tagger.suggest(item)
            whole = suggestions.whole
            certainty[id] = suggestions[0].probability if tagger.has_one_label else whole
        values = [certainty[id] for id in found[:-1]]
        assert values == sorted(values)
        assert len(set(values)) > 5
        assert found[-1] == "3"
        assert set(found) == set(items)


def test_the_order_of_the_first_page_stays(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        for number, (text, _) in enumerate(texts(20)):
            workspace.add(text, id=str(number))
        workspace.add("invoice of the bank", ["money"])
        first = all_pages(workspace, 100, state="open", order="unsure")
        lessons = iter(texts(40, seed=3))

        def learn(number: int) -> None:
            text, topic = next(lessons)
            workspace.add(text, [topic])

        assert all_pages(workspace, 3, learn, state="open", order="unsure") == first
        assert all_pages(workspace, 100, state="open", order="unsure") != first


def test_a_model_without_labels_lists_open_items(workspace: Workspace) -> None:
    workspace.add("one", id="1")
    workspace.add("two", id="2")
    assert all_pages(workspace, 1, state="open", order="unsure") == ["2", "1"]


def test_an_item_that_is_put_off_meanwhile_leaves_the_order(filled: Workspace) -> None:
    query: dict[str, Any] = {"state": "open", "order": "unsure"}
    page = filled.page(**query, limit=1)
    id = next(id for id in "76543" if id != page.records[0].id)
    filled.skip(id)
    rest = filled.page(**query, limit=9, after=page.next)
    assert {record.id for record in rest.records} == set("76543") - {page.records[0].id, id}


def test_an_order_that_is_gone(filled: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ORDERS_KEPT", 2)
    query: dict[str, Any] = {"state": "open", "order": "unsure", "limit": 1}
    first, second = filled.page(**query), filled.page(**query)
    assert filled.page(**query, after=first.next).records
    third = filled.page(**query)
    with pytest.raises(RefusedError, match="start again"):
        filled.page(**query, after=second.next)
    for page in (first, third):
        assert filled.page(**query, after=page.next).records


def test_only_some_items_are_ordered(filled: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ITEMS_ORDERED", 3)
    assert set(all_pages(filled, state="open", order="unsure")) == set("765")


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("INVOICE", "a"),
        ("bank invoice", "a"),
        ("invoice flight", ""),
        ("", "hgfedcba"),
        ("  ", "hgfedcba"),
        ("STRASSE", "c"),
        ("straße", "c"),
        ("mail/lists", "cb"),
        ("weekly", "d"),
        ("2.5", "e"),
        ("eur", "e"),
        ("second", "f"),
        ("ﬁle", "g"),
        ("e\u0301tude", "h"),
        ("urgent", "e"),
        ("nothing of it", ""),
    ],
)
@pytest.mark.parametrize("order", ["newest", "unsure"])
def test_words(workspace: Workspace, q: str, expected: str, order: str) -> None:
    items: list[tuple[str, Any, dict[str, str]]] = [
        ("a", "the Invoice of the bank", {}),
        ("b", "a flight", {"source": "mail/lists"}),
        ("c", "Große Straße", {"source": "mail/lists"}),
        ("d", "text", {"title": "Weekly news"}),
        ("e", {"amount": 2.5, "currency": "EUR", "tags": ["urgent", "old"]}, {}),
        ("f", Item(text={"subject": "first", "body": "second"}), {}),
        ("g", "a file", {}),
        ("h", "\u00e9tude", {}),
    ]
    for id, item, more in items:
        workspace.add(item, id=id, **more)
    found = all_pages(workspace, 3, state="open", q=q, order=order)
    assert found == list(expected)


@pytest.mark.parametrize("order", ["newest", "unsure"])
def test_a_search_ends_early(
    workspace: Workspace, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "ITEMS_SEARCHED", 4)
    for number in range(10):
        workspace.add("rare" if number == 0 else "common", id=str(number))
    query: dict[str, Any] = {"state": "open", "q": "rare", "order": order}
    page = workspace.page(**query)
    assert (page.records, page.next is None) == ([], False)
    assert all_pages(workspace, 100, **query) == ["0"]


def test_a_page_of_large_items_ends_early(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "BYTES_READ", 1000)
    for number in range(5):
        workspace.add("large " * 100, id=str(number))
    assert [record.id for record in workspace.page().records] == ["4", "3"]
    assert all_pages(workspace, 100) == list("43210")


def test_hashed_items_are_found_by_id_title_and_source(folder: Path) -> None:
    with new_workspace(folder, settings={"content": "features"}) as workspace:
        workspace.add("secret", id="a1", title="Weekly", source="mail")
        for q, expected in (("a1", ["a1"]), ("weekly mail", ["a1"]), ("secret", [])):
            assert all_pages(workspace, q=q) == expected


def test_long_and_invalid_sources(workspace: Workspace) -> None:
    for id, source in (("a", "caf\udce9"), ("b", "x" * 5000), ("c", "nul\0l")):
        workspace.add("text", id=id, source=source)
        assert all_pages(workspace, source=source) == [id]
        assert workspace.item(id).content.source == source


QUERY: dict[str, Any] = {"state": "open", "limit": 1}


@pytest.mark.parametrize(
    "other",
    [
        {"state": "answered"},
        {"order": "unsure"},
        {"source": "mail/inbox"},
        {"q": "text"},
    ],
)
def test_a_cursor_of_another_list_is_refused(filled: Workspace, other: dict[str, Any]) -> None:
    cursor = filled.page(**QUERY).next
    assert filled.page(**{**QUERY, "limit": 3}, after=cursor).records
    with pytest.raises(RefusedError, match="start again"):
        filled.page(**{**QUERY, **other}, after=cursor)


def test_a_cursor_of_another_workspace_is_refused(filled: Workspace, tmp_path: Path) -> None:
    with new_workspace(tmp_path / "other") as other:
        other.add("one", id="1")
        other.add("two", id="2")
        cursor = other.page(**QUERY).next
        assert cursor is not None
    with pytest.raises(RefusedError, match="start again"):
        filled.page(**QUERY, after=cursor)


def test_forged_cursors_are_refused(filled: Workspace) -> None:
    cursor = filled.page(**QUERY).next
    assert cursor is not None
    assert cursor.replace("-", "").replace("_", "").isalnum()
    forged = ["", "x", "=", "é", "\udce9", cursor[:-1], cursor + "A", "A" * 1000, cursor.swapcase()]
    forged += [
        f"{cursor[:place]}{'B' if cursor[place] == 'A' else 'A'}{cursor[place + 1 :]}"
        for place in range(len(cursor) - 1)
    ]
    for each in forged:
        with pytest.raises(RefusedError):
            filled.page(**QUERY, after=each)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"state": "undone"}, "state must be one of 'open'"),
        ({"order": "best"}, "order must be"),
        ({"order": "unsure", "state": "answered"}, "'unsure' is for open items"),
        ({"order": "unsure"}, "'unsure' is for open items"),
        ({"limit": 0}, "limit must be"),
        ({"limit": 10**6}, "limit must be"),
        ({"limit": "5"}, "limit must be"),
        ({"q": 5}, "q must be a text"),
        ({"source": 5}, "source must be a text"),
    ],
)
def test_wrong_queries(filled: Workspace, query: dict[str, Any], expected: str) -> None:
    with pytest.raises(RefusedError, match=expected):
        filled.page(**query)


@pytest.mark.parametrize(
    ("item", "title", "expected"),
    [
        ("the text", "Title", "Title"),
        ("the  text\n of it", "", "the text of it"),
        ("x" * 80, "", "x" * 80),
        ("x" * 100, "", "x" * 79 + "…"),
        ("words " * 20, "", "words " * 12 + "words…"),
        ("a " + "x" * 100, "", "a " + "x" * 77 + "…"),
        ("x" * 79 + " next", "", "x" * 79 + "…"),
        ("Minutes of the last meeting\r\nPresent: all", "", "Minutes of the last meeting…"),
        ("Minutes of the last meeting\n\n", "", "Minutes of the last meeting"),
        ("Hello,\nthe invoice", "", "Hello, the invoice"),
        ("short" + " " * 1000 + "text", "", "short…"),
        ("", "", ""),
        (Item(text={"from": "ada", "subject": "Hello"}), "", "Hello"),
        (Item(text={"title": "Name", "body": "text"}), "", "Name"),
        (Item(text={"subject": "", "body": "text"}), "", "text"),
        ({"amount": 1.0}, "", ""),
    ],
)
def test_titles_for_display(item: Any, title: str, expected: str) -> None:
    assert title_of(content_of(item, title)) == expected


def test_hashed_items_have_no_title_of_their_own(folder: Path) -> None:
    with new_workspace(folder, settings={"content": "features"}) as workspace:
        workspace.add("secret", id="a")
        assert title_of(workspace.item("a").content) == ""
