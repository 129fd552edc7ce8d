"""Items over HTTP: add, list, show, put off, forget."""

from dataclasses import replace
from urllib.parse import quote

import pytest

from tests.server.api_server import Api

STRANGE_IDS = [
    "a/b/c",
    "/",
    "100%",
    "%2F",
    "%",
    "a b+c",
    "?q=1&x#y",
    "..",
    ".",
    "naïve café",
    "日本語/☃",
    "👩‍👩‍👧",
    "answer",
    "items:batch",
    "a\\b",
    "'; DROP TABLE items; --",
    "x" * 512,
    "é" * 256,
    " ",
    '"<script>',
]


def path_of(id: str) -> str:
    return f"items/{quote(id, safe='')}"


def last_event(api: Api) -> int:
    return int(api.get(f"/api/v1/workspaces/{api.workspace}").json["seq"])


def test_an_item_gets_an_id_a_number_and_suggestions(api: Api):
    first = api.post("items", {"text": "pay the invoice", "labels": ["money"]})
    assert first.status == 201
    assert first.json["id"] == "item-2"  # event 1 has made the workspace
    assert first.json["seq"] == 2
    second = api.post("items", {"text": "invoice to pay", "id": "mine"})
    assert second.status == 201
    assert (second.json["id"], second.json["seq"]) == ("mine", 3)
    assert [each["label"] for each in second.json["suggestions"]] == ["money"]
    assert set(second.json["suggestions"][0]) >= {"score", "probability", "chosen", "sure"}


@pytest.mark.parametrize("id", STRANGE_IDS)
def test_any_id_can_be_used_in_paths(shared: Api, id: str):
    added = shared.add("some text", id=id)
    assert added["id"] == id
    shown = shared.get(path_of(id))
    assert shown.status == 200
    assert shown.json["id"] == id
    assert shared.answer(id, ["travel"]) == added["seq"] + 1
    assert shared.post(f"{path_of(id)}/viewing").status == 204
    assert shared.get(path_of(id)).json["labels"] == ["travel"]
    assert [item["id"] for item in shared.get("items?limit=1").json["items"]] == [id]
    assert shared.delete(path_of(id)).status == 202
    assert shared.get(path_of(id)).status == 404


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("", "/id must be a non-empty text"),
        ("x" * 513, "/id must be a text of at most 512 bytes in UTF-8 (it has 513)"),
        ("é" * 257, "/id must be a text of at most 512 bytes in UTF-8 (it has 514)"),
        ("a\nb", "/id must be a text without control characters"),
        ("a\x00", "/id must be a text without control characters"),
        ("a\x85", "/id must be a text without control characters"),
        (7, "/id must be a text, got 7"),
        (None, "/id must be a text, got None"),
    ],
)
def test_ids_that_cannot_be(shared: Api, id: object, message: str):
    before = last_event(shared)
    refused = shared.post("items", {"text": "x", "id": id})
    assert (refused.status, refused.kind) == (422, "not-valid")
    assert refused.json["detail"].startswith(message)
    assert refused.json["place"] == "/id"
    assert last_event(shared) == before


def test_the_same_item_again_is_the_same_item(api: Api):
    body = {"id": "a", "text": "hello", "values": {"size": 3.0, "from": "x"}, "source": "mail"}
    first = api.post("items", body)
    again = api.post("items", body)
    assert (first.status, again.status) == (201, 200)
    assert again.json["seq"] == first.json["seq"]
    other = api.post("items", {**body, "text": "other"})
    assert (other.status, other.kind) == (409, "conflict")
    assert "'a'" in other.json["detail"]
    assert api.get("items/a").json["text"] == "hello"


def test_the_same_item_with_other_labels_is_a_conflict(api: Api):
    api.add("hello", ["x"], id="a")
    assert api.post("items", {"id": "a", "text": "hello", "labels": ["x"]}).status == 200
    assert api.post("items", {"id": "a", "text": "hello"}).status == 200
    other = api.post("items", {"id": "a", "text": "hello", "labels": ["y"]})
    assert (other.status, other.json["labels"]) == (409, ["x"])


def test_the_same_item_after_a_correction_is_the_same_item(api: Api):
    body = {"id": "a", "text": "hello", "labels": ["x"]}
    first = api.post("items", body).json["seq"]
    api.answer("a", ["y"])
    again = api.post("items", body)
    assert (again.status, again.json["seq"]) == (200, first)
    api.patch("labels/y", {"name": "z"})
    assert api.post("items", body).status == 200
    assert api.get("items/a").json["labels"] == ["z"]
    assert api.post("items", {**body, "labels": ["other"]}).status == 409


def test_open_items_and_suggestions_never_change_the_model(api: Api):
    api.add("pay the invoice", ["money"])
    before = api.get("model").json
    api.add("another invoice")
    api.post("suggest", {"text": "invoice"})
    api.get("items?order=unsure&state=open")
    after = api.get("model").json
    assert after["hash"] == before["hash"]
    assert after["seq"] == before["seq"] + 1
    api.add("more", ["money"])
    assert api.get("model").json["hash"] != before["hash"]


def test_an_item_is_shown_with_its_content_suggestions_and_explanation(api: Api):
    api.add("pay the invoice", ["money"])
    api.add("book the flight", ["travel"])
    body = {
        "id": "a",
        "fields": {"subject": "an invoice", "body": "for the flight"},
        "values": {"size": 3, "kind": "pdf"},
        "title": "The title",
        "source": "inbox",
        "date": "2026-01-31T12:00:00+01:00",
    }
    assert api.post("items", body).status == 201
    shown = api.get("items/a").json
    assert shown["fields"] == body["fields"]
    assert "text" not in shown
    assert shown["values"] == body["values"]
    assert (shown["title"], shown["source"]) == ("The title", "inbox")
    assert shown["date"] == "2026-01-31T12:00:00+01:00"
    assert (shown["state"], shown["labels"], shown["seq"]) == ("open", None, 4)
    assert {each["label"] for each in shown["suggestions"]} == {"money", "travel"}
    assert shown["explanation"]["label"] == shown["suggestions"][0]["label"]
    travel = api.get("items/a?label=travel&k=1").json
    assert len(travel["suggestions"]) == 1
    assert travel["explanation"]["label"] == "travel"
    parts = {part["name"]: part["value"] for part in travel["explanation"]["parts"]}
    total = travel["explanation"]["base"] + sum(parts.values())
    assert total == pytest.approx(travel["explanation"]["score"])
    assert any("flight" in name for name in parts)


def test_an_item_without_labels_to_suggest_has_no_explanation(api: Api):
    api.add("hello", id="a")
    shown = api.get("items/a").json
    assert (shown["suggestions"], shown["explanation"]) == ([], None)


def test_what_does_not_exist_is_not_found(api: Api):
    for answer in (
        api.get("items/none"),
        api.delete("items/none"),
        api.post("items/none/answer", {"labels": []}),
        api.post("items/none/skip"),
        api.post("items/none/viewing"),
    ):
        assert (answer.status, answer.kind) == (404, "not-found")
        assert answer.json["detail"] == "there is no item 'none'"
    api.add("x", id="a")
    missing = api.get("items/a?label=none")
    assert (missing.status, missing.json["detail"]) == (404, "there is no label 'none'")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "one of text, fields, values must be there"),
        ({"id": "a"}, "one of text, fields, values must be there"),
        ({"text": "a", "fields": {}}, "/text and /fields cannot be there together"),
        ({"text": 1}, "/text must be a text, got 1"),
        ({"fields": {"subject": None}}, "/fields/subject must be a text, got None"),
        ({"text": "a", "values": {"x": None}}, "/values/x must be a number from -1e18"),
        ({"text": "a", "labels": "x"}, "/labels must be a list of labels, or null, got 'x'"),
        ({"text": "a", "labels": [""]}, "/labels/0 must be a non-empty text, got ''"),
        ({"text": "a", "labels": [" \t"]}, "/labels/0 must be a text that is not only spaces"),
        ({"values": {"x": 1e19}}, "/values/x must be a number from -1e18 to 1e18, a text or a"),
        ({"text": "a", "date": "yesterday"}, "/date must be a time with its zone"),
        ({"text": "a", "weight": 0}, "/weight must be a number above 0, got 0"),
        ({"text": "a", "weight": 1e30}, "/weight must be a number of at most 1e+10, got 1e+30"),
        ({"text": "a", "txet": "b"}, "/txet: there is no such member; the members are: id, text"),
        ([], "the body must be an object, got []"),
        ("text", "the body must be an object, got 'text'"),
    ],
)
def test_items_that_are_refused(shared: Api, body: object, message: str):
    before = last_event(shared)
    refused = shared.post("items", body)
    assert refused.status == 422, refused
    assert refused.json["detail"].startswith(message)
    assert last_event(shared) == before


def test_values_of_all_kinds(api: Api):
    values = {"size": 3.5, "count": 2, "kind": "pdf", "people": ["ann", "bob"]}
    api.add("x", ["a"], id="a", values=values)
    assert api.get("items/a").json["values"] == values


def test_pages_of_items_never_repeat_and_miss_nothing(api: Api):
    for number in range(25):
        api.add(f"text {number}", id=f"i{number}")
    seen = []
    path = "items?limit=10"
    for new in range(100, 104):
        page = api.get(path).json
        seen += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        path = f"items?limit=10&after={page['next']}"
        api.add("new", id=f"i{new}")  # newer than all pages that follow
    assert seen == [f"i{number}" for number in reversed(range(25))]


def test_pages_by_state(api: Api):
    api.add("one", ["a"], id="answered")
    api.add("two", id="open")
    found = {
        state: [item["id"] for item in api.get(f"items?state={state}").json["items"]]
        for state in ("open", "answered", "filed", "asked")
    }
    assert found == {"open": ["open"], "answered": ["answered"], "filed": [], "asked": []}
    assert len(api.get("items").json["items"]) == 2
    listed = api.get("items?state=answered").json["items"][0]
    assert (listed["labels"], listed["state"], listed["seq"]) == (["a"], "answered", 2)


def test_the_least_certain_items_first(api: Api):
    api.patch("settings", {"one_label": True})
    for _ in range(5):
        api.add("pay the invoice money bank", ["money"])
        api.add("book the flight hotel trip", ["travel"])
    api.add("pay the invoice money bank", id="clear")
    api.add("invoice for the flight", id="unclear")
    api.add("book the flight hotel trip", id="clear too")
    page = api.get("items?state=open&order=unsure&limit=1").json
    assert [item["id"] for item in page["items"]] == ["unclear"]
    rest = api.get(f"items?state=open&order=unsure&limit=5&after={page['next']}").json
    assert {item["id"] for item in rest["items"]} == {"clear", "clear too"}
    assert rest["next"] is None
    assert len(api.get("items?order=unsure").json["items"]) == 3
    refused = api.get("items?order=unsure&state=answered")
    assert (refused.status, refused.kind) == (422, "refused")


def test_items_by_source_and_words(api: Api):
    api.add("the invoice of Ann", id="a", source="mail")
    api.add("the flight of Ann", id="b", source="chat")
    api.add("fields too", id="c", source="mail", title="Ann's title")

    def ids(query: str) -> list[str]:
        return [item["id"] for item in api.get(f"items?{query}").json["items"]]

    assert ids("source=mail") == ["c", "a"]
    assert ids("source=fax") == []
    assert ids("q=ann+invoice") == ["a"]
    assert ids("q=ANN&source=mail") == ["c", "a"]
    assert ids("q=nobody") == []
    assert ids(f"q={quote('the of')}") == ["b", "a"]


def test_lists_can_have_suggestions(api: Api):
    api.add("pay", ["money"])
    api.add("pay more", id="a")
    with_suggestions = api.get("items?state=open&k=3").json["items"][0]
    assert [each["label"] for each in with_suggestions["suggestions"]] == ["money"]
    assert "suggestions" not in api.get("items?state=open").json["items"][0]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("state=closed", "state must be 'open' or 'answered'"),
        ("order=oldest", "order must be 'newest' or 'unsure', got 'oldest'"),
        ("limit=0", "limit must be a whole number from 1 to 10000, got 0"),
        ("limit=x", "limit must be a whole number from 1 to 10000, got 'x'"),
        ("after=xyz", "after must be the cursor of the page before"),
        ("nope=1", "there is no parameter 'nope' here; the parameters are: state, order, after"),
        ("limit=1&limit=2", "the parameter limit is there twice"),
    ],
)
def test_parameters_that_are_refused(shared: Api, query: str, message: str):
    refused = shared.get(f"items?{query}")
    assert refused.status == 422
    assert refused.json["detail"].startswith(message)


def test_a_cursor_belongs_to_its_list(api: Api):
    for number in range(3):
        api.add(f"text {number}")
    cursor = api.get("items?limit=1").json["next"]
    assert api.get(f"items?limit=2&after={cursor}").status == 200
    assert api.get(f"items?limit=1&state=open&after={cursor}").status == 422


def test_an_item_that_is_put_off_comes_last(api: Api):
    for id in "abc":
        api.add(f"text {id}", id=id)
    assert api.post("items/c/skip").status == 204
    listed = [item["id"] for item in api.get("items?state=open").json["items"]]
    assert listed == ["b", "a", "c"]
    api.answer("c", ["x"])
    answered = api.post("items/c/skip")
    assert (answered.status, answered.kind) == (409, "conflict")
    assert answered.json["detail"] == "the item 'c' is answered already"


def test_viewers_are_listed(api: Api):
    api.add("text", id="a")
    assert api.get("items/a").json["viewers"] == []
    assert api.post("items/a/viewing").status == 204
    assert api.get("items/a").json["viewers"] == ["owner"]
    assert api.get("items").json["items"][0]["viewers"] == ["owner"]


def test_a_forgotten_item_is_gone_with_its_influence(api: Api):
    api.add("pay the invoice", ["money"])
    before = api.get("model").json["hash"]
    api.add("secret words", ["money"], id="secret")
    forgotten = api.delete("items/secret")
    assert forgotten.status == 202
    assert api.get("items/secret").status == 404
    assert api.get("model").json["hash"] == before
    undone = api.post("undo", {"seq": forgotten.json["seq"]})
    assert (undone.status, undone.kind) == (409, "conflict")
    assert "cannot be undone" in undone.json["detail"]


def test_pages_have_a_largest_size(shared: Api, monkeypatch: pytest.MonkeyPatch):
    most = shared.service.limits.page_items
    for path in ("items", "events"):
        json = {"Accept": "application/json"}
        assert shared.get(f"{path}?limit={most}", headers=json).status == 200
        refused = shared.get(f"{path}?limit={most + 1}", headers=json)
        assert (refused.status, refused.json["place"], refused.json["limit"]) == (
            422,
            "limit",
            most,
        )
        assert "limit must be at most 1,000 (the setting page_items" in refused.json["detail"]
        assert "got 1,001" in refused.json["detail"]
    monkeypatch.setattr(shared.service, "limits", replace(shared.service.limits, page_items=2))
    for number in range(3):
        shared.add(f"text {number}")
    assert len(shared.get("items").json["items"]) == 2  # the default is not too much


def test_large_items_are_refused(api: Api):
    limit = api.service.limits.item_bytes
    assert api.post("items", {"text": "x" * limit}).status == 201
    refused = api.post("items", {"text": "x" * (limit + 1)})
    assert (refused.status, refused.kind) == (413, "item-too-large")
    assert "1,000,001 bytes" in refused.json["detail"]
    assert "1,000,000 are allowed" in refused.json["detail"]
    in_values = api.post("items", {"values": {"a": ["w" * 10_000] * 101}})
    assert (in_values.status, in_values.kind) == (413, "item-too-large")


def test_the_content_can_be_features_only(api: Api):
    assert api.patch("settings", {"content": "features"}).status == 200
    api.add("pay the invoice", ["money"], id="a", title="Invoice")
    shown = api.get("items/a").json
    assert "text" not in shown
    assert "fields" not in shown
    assert (shown["title"], shown["labels"]) == ("Invoice", ["money"])
    assert shown["suggestions"][0]["label"] == "money"
    assert all("invoice" not in part["name"] for part in shown["explanation"]["parts"])
