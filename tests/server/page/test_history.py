"""The history view: who, what and when, narrowed, in pages, with undo and redo."""

from tagalong import Item
from tests.server.api_server import Api
from tests.server.page.pages import Element, submit, visit


def rows(page: Element) -> list[Element]:
    return [each for each in page.all("li") if "event-row" in each.attributes.get("class", "")]


def texts(page: Element) -> list[str]:
    return [row.one(class_="event-what").text for row in rows(page)]


def test_events_are_undone_and_done_again(api: Api) -> None:
    api.add("flight to lisbon", id="m/1")
    api.answer("m/1", ["travel"])
    page = visit(api, "/history")
    assert texts(page) == [
        "“flight to lisbon”: travel",
        "“flight to lisbon” came in",
        "The workspace was made",
    ]
    first, _, made = rows(page)
    assert first.one("a").attributes["href"] == f"/w/{api.workspace}/items/m%2F1"
    assert "owner" in first.text
    assert not made.all("form")
    path, page = submit(api, first.one("form"), {})
    assert path.startswith(f"/w/{api.workspace}/history?seq=")
    answered = "“flight to lisbon”: travel"
    assert texts(page)[:2] == [f"Undone: {answered}", f"undone {answered}"]
    assert rows(page)[1].one("s").text == answered
    assert not rows(page)[1].all("form")
    redo = rows(page)[0].one("form")
    assert redo.one("button").text.startswith("Redo")
    _, page = submit(api, redo, {})
    assert texts(page)[0] == f"Done again: {answered}"
    assert api.get("items/m%2F1").json["labels"] == ["travel"]


def test_a_batch_is_one_row_that_opens(api: Api) -> None:
    for name in "abc":
        api.post("labels", {"name": name})
    workspace = api.service.workspaces.loaded[api.workspace]
    workspace.merge_labels(["a", "b"], "c", actor="ann")
    page = visit(api, "/history")
    assert texts(page)[0] == "2 labels were merged"
    link = rows(page)[0].one("a").attributes["href"]
    opened = visit(api, link.removeprefix(f"/w/{api.workspace}"))
    assert texts(opened) == ["Label “b” was merged into “c”", "Label “a” was merged into “c”"]
    _, page = submit(api, rows(page)[0].one("form"), {})
    assert texts(page)[0] == "Undone: 2 labels were merged"


def test_the_history_is_narrowed(api: Api) -> None:
    api.add("one", id="one", labels=["travel"])
    api.add("two", id="two")
    api.post("labels", {"name": "press"})
    assert texts(visit(api, "/history?kind=labels")) == ["Label “press” was made"]
    assert texts(visit(api, "/history?kind=items&item=two")) == ["“two” came in"]
    assert texts(visit(api, "/history?who=nobody")) == []
    assert len(texts(visit(api, "/history?who=owner&kind=items"))) == 2
    assert "Nothing here" in visit(api, "/history?item=%3Cb%3E").text
    visit(api, "/history?kind=other", 422)


def test_items_without_a_title_have_their_id_and_imports_their_file(api: Api) -> None:
    api.patch("settings", {"content": "features"})
    api.add("not kept", id="hashed")
    assert texts(visit(api, "/history"))[0] == "hashed came in"
    workspace = api.service.workspaces.loaded[api.workspace]
    for count in (1, 3):
        items = [Item(id=f"{count} {number}", text="x", labels=("a",)) for number in range(count)]
        workspace.add_many(items, source="tickets.csv", batch=f"b{count}", actor="ann")
    assert texts(visit(api, "/history"))[:2] == [
        "3 items came in from tickets.csv",
        "1 0 came in from tickets.csv, as a",
    ]


def test_older_events_are_on_further_pages(api: Api) -> None:
    for number in range(120):
        api.service.workspaces.loaded.get(api.workspace) or api.get("labels")
        api.service.workspaces.loaded[api.workspace].add_label(f"label {number}", actor="ann")
    found: list[str] = []
    path = "/history?kind=labels"
    while True:
        page = visit(api, path)
        found += texts(page)
        following = page.all("a", rel="next")
        if not following:
            break
        path = following[0].attributes["href"].removeprefix(f"/w/{api.workspace}")
    assert found == [f"Label “label {number}” was made" for number in reversed(range(120))]


def test_deleted_content_is_not_shown(api: Api) -> None:
    api.add("a secret", id="secret-id", labels=["travel"], title="secret title")
    api.delete("items/secret-id")
    page = visit(api, "/history")
    assert "secret" not in page.text
    assert "A forgotten item" in page.text
    assert "An item was deleted for good" in texts(page)[0]
    assert not rows(page)[0].all("form")


def test_hostile_texts_stay_texts(api: Api) -> None:
    api.add("x", id="<i>one</i>\u202e", labels=["<b>bold</b>\n"])
    page = visit(api, "/history")
    assert not page.all("b")
    assert not page.all("i")
    assert "\\u202e" in page.text
