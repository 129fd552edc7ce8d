"""Undoing by a form: one event, a batch, what depends on it, and doing it again."""

from tests.server.api_server import Api
from tests.server.page.pages import Element, submit, visit


def undo(api: Api, fields: dict[str, str | list[str]], status: int = 303) -> tuple[str, Element]:
    return submit(api, Element("form", {"action": f"/w/{api.workspace}/undo"}), fields, status)


def test_an_answer_is_undone_and_done_again(api: Api) -> None:
    api.add("flight to lisbon", id="mail")
    seq = api.answer("mail", ["travel"])
    path, page = undo(api, {"seq": str(seq), "back": "filing"})
    assert path.startswith(f"/w/{api.workspace}?seq=")
    notice = page.one(class_="notice")
    assert "Undone: “flight to lisbon”: travel" in notice.text
    assert api.get("items/mail").json["labels"] is None
    form = notice.one("form")
    assert form.one("button").text == "Redo"
    path, page = submit(api, form, {})
    assert path.startswith(f"/w/{api.workspace}?seq=")
    notice = page.one(class_="notice")
    assert "Done again: “flight to lisbon”: travel" in notice.text
    assert api.get("items/mail").json["labels"] == ["travel"]


def test_a_form_that_is_sent_twice_counts_once(api: Api) -> None:
    api.add("flight to lisbon", id="mail")
    seq = api.answer("mail", ["travel"])
    first, _ = undo(api, {"seq": str(seq), "key": "one", "back": "filing"})
    again, _ = undo(api, {"seq": str(seq), "key": "one", "back": "filing"})
    assert first == again


def test_what_depends_on_it_is_asked_about_first(api: Api) -> None:
    added = api.post("labels", {"name": "tr<i>ps"}).json["seq"]
    api.patch("labels/tr%3Ci%3Eps", {"name": "travel"})
    api.patch("labels/travel", {"min_precision": 0.99})
    _, page = undo(api, {"seq": str(added), "back": "labels"}, 409)
    texts = [each.text for each in page.one(class_="panel plain-list undo-list").all("li")]
    assert texts == [
        "Label “tr<i>ps” was renamed to “travel”",
        "“travel” is filed without asking when 99 % are right",
    ]
    assert [each["name"] for each in api.get("labels").json["labels"]] == ["travel"]
    form = page.one("main").one("form", method="post")
    path, _ = submit(api, form, {})
    assert path.startswith(f"/w/{api.workspace}/labels?seq=")
    assert api.get("labels").json["labels"] == []


def test_what_was_undone_already_is_told(api: Api) -> None:
    added = str(api.post("labels", {"name": "travel"}).json["seq"])
    undo(api, {"seq": added, "key": "one"})
    _, page = undo(api, {"seq": added, "key": "two"}, 409)
    assert f"event {added} is undone already" in page.text


def test_only_views_are_gone_back_to(api: Api) -> None:
    added = str(api.post("labels", {"name": "travel"}).json["seq"])
    _, page = undo(api, {"seq": added, "back": "//elsewhere.example"}, 422)
    assert "back must be" in page.text
    undo(api, {"back": "history"}, 422)
    undo(api, {"seq": added, "batch": "x"}, 422)


def test_a_batch_is_undone_as_one(api: Api) -> None:
    for name in ("a", "b", "c"):
        api.post("labels", {"name": name})
    workspace = api.service.workspaces.loaded[api.workspace]
    seqs = workspace.merge_labels(["a", "b"], "c", actor="owner")
    page = visit(api, f"/labels?seq={seqs[-1]}")
    notice = page.one(class_="notice")
    assert "2 labels were merged" in notice.text
    _, page = submit(api, notice.one("form"), {})
    assert "Undone: 2 labels were merged" in page.one(class_="notice").text
    workspace.settle()
    assert len(workspace.labels) == 3
