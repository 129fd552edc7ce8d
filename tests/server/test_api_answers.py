"""Answers, undo, suggestions, filing and idempotency keys over HTTP."""

from dataclasses import replace
from typing import Any

import pytest

from tests.server.api_server import Api


def model(api: Api) -> str:
    return str(api.get("model").json["hash"])


def labels_of(api: Api, id: str) -> Any:
    return api.get(f"items/{id}").json["labels"]


def taught(api: Api) -> Api:
    """A workspace that knows two labels well."""
    for number in range(40):
        api.add(f"pay the invoice to the bank {number}", ["money"])
        api.add(f"book the flight and the hotel {number}", ["travel"])
    return api


def test_an_answer_makes_labels_and_is_learnt(api: Api):
    added = api.add("pay the invoice", id="a")
    before = model(api)
    answered = api.post("items/a/answer", {"labels": ["money", "bills"]})
    assert (answered.status, answered.json) == (200, {"seq": added["seq"] + 1})
    shown = api.get("items/a").json
    assert (shown["state"], shown["labels"]) == ("answered", ["money", "bills"])
    assert {each["name"] for each in api.get("labels").json["labels"]} == {"money", "bills"}
    assert model(api) != before


def test_a_second_answer_corrects(api: Api):
    api.add("pay the invoice", id="a")
    api.answer("a", ["travel"])
    api.answer("a", ["money"])
    assert labels_of(api, "a") == ["money"]
    counts = {each["name"]: each["items"] for each in api.get("labels").json["labels"]}
    assert counts == {"money": 1, "travel": 0}


def test_fixed_labels_refuse_new_ones(api: Api):
    api.add("x", ["money"], id="a")
    api.patch("settings", {"labels": "fixed"})
    refused = api.post("items/a/answer", {"labels": ["travel"]})
    assert (refused.status, refused.kind) == (422, "refused")
    assert refused.json["detail"] == "there is no label 'travel'"
    assert api.post("items", {"text": "y", "labels": ["travel"]}).status == 422
    assert labels_of(api, "a") == ["money"]
    assert api.post("labels", {"name": "travel"}).status == 200
    assert api.post("items/a/answer", {"labels": ["travel"]}).status == 200


def test_an_answer_that_is_not_the_expected_one_is_a_conflict(api: Api):
    api.add("x", id="a")
    assert api.post("items/a/answer", {"labels": ["m"], "was": ["m"]}).status == 409
    assert api.post("items/a/answer", {"labels": ["m"], "was": None}).status == 200
    late = api.post("items/a/answer", {"labels": ["t"], "was": None})
    assert (late.status, late.kind) == (409, "conflict")
    assert late.json["labels"] == ["m"]
    assert labels_of(api, "a") == ["m"]
    assert api.post("items/a/answer", {"labels": ["t", "m"], "was": ["m"]}).status == 200
    assert api.post("items/a/answer", {"labels": [], "was": ["m", "t"]}).status == 200
    none = api.post("items/a/answer", {"labels": ["t"], "was": ["t"]})
    assert (none.status, none.json["labels"]) == (409, [])
    assert api.post("items/a/answer", {"labels": ["t"], "was": []}).status == 200


def test_the_present_answer_of_an_open_item_is_null(api: Api):
    api.add("x", id="a")
    late = api.post("items/a/answer", {"labels": ["m"], "was": ["m"]})
    assert late.json["labels"] is None


def test_labels_that_were_not_shown_are_unknown(api: Api):
    """With `shown`, labels neither shown nor answered have unknown relevance."""
    other = api.workspace
    for workspace in (f"{other}-a", f"{other}-b", f"{other}-c"):
        api.post("/api/v1/workspaces", {"name": workspace})
    hashes = []
    for workspace, more in (
        (f"{other}-a", {"shown": ["one"]}),
        (f"{other}-b", {"unknown": ["two", "three"]}),
        (f"{other}-c", {}),
    ):
        each = replace(api, workspace=workspace)
        for name in ("one", "two", "three"):
            each.add(f"words about {name}", [name])
        each.add("the text", id="a")
        each.answer("a", ["one"], **more)
        hashes.append(model(each))
    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]


def test_labels_shown_must_exist_and_a_right_label_is_not_unknown(api: Api):
    api.add("x", ["m"], id="a")
    for more in ({"shown": ["none"]}, {"unknown": ["none"]}):
        refused = api.post("items/a/answer", {"labels": ["m"], **more})
        assert (refused.status, refused.json["detail"]) == (422, "there is no label 'none'")
    both = api.post("items/a/answer", {"labels": ["m"], "unknown": ["m"]})
    assert (both.status, both.kind) == (422, "refused")


def test_a_workspace_with_one_label_per_item(api: Api):
    api.patch("settings", {"one_label": True})
    api.add("x", id="a")
    two = api.post("items/a/answer", {"labels": ["m", "t"]})
    assert (two.status, two.kind) == (422, "refused")
    assert two.json["detail"] == "the workspace takes one label per item, not 2"
    assert api.post("items", {"text": "y", "labels": ["m", "t"]}).status == 422
    assert api.post("items/a/answer", {"labels": ["m"]}).status == 200
    assert api.post("items/a/answer", {"labels": []}).status == 200
    assert labels_of(api, "a") == []


def test_none_of_these_changes_no_weights_but_counts_as_wrong(api: Api):
    api.add("pay the invoice", ["money"])
    api.add("pay the invoice now", id="a")
    before = api.get("items/a").json["suggestions"][0]["score"]
    report = api.get("report").json["report"]
    api.answer("a", [])
    assert api.get("items/a").json["labels"] == []
    assert api.get("items/a").json["suggestions"][0]["score"] == before
    assert api.get("report").json["report"] != report


def test_an_event_is_undone_once_and_exactly(api: Api):
    api.add("pay the invoice", ["money"])
    api.add("book the flight", id="a")
    before = model(api)
    answer = api.answer("a", ["travel"])
    undone = api.post("undo", {"seq": answer})
    assert (undone.status, undone.json) == (200, {"seq": answer + 1})
    assert model(api) == before
    assert labels_of(api, "a") is None
    again = api.post("undo", {"seq": answer})
    assert (again.status, again.kind) == (409, "conflict")
    assert again.json["detail"] == f"event {answer} is undone already"
    redone = api.post("undo", {"seq": undone.json["seq"]})
    assert redone.status == 200
    assert labels_of(api, "a") == ["travel"]


def test_everything_but_the_first_event_can_be_undone(api: Api):
    label = api.post("labels", {"name": "x"}).json["seq"]
    setting = api.patch("settings", {"min_precision": 0.8}).json["seq"]
    item = api.add("text", id="a")["seq"]
    for seq in (label, setting, item):
        assert api.post("undo", {"seq": seq}).status == 200
    assert api.get("labels").json["labels"] == []
    assert api.get("settings").json["min_precision"] == 0.95
    assert api.get("items/a").status == 404
    first = api.post("undo", {"seq": 1})
    assert (first.status, first.json["detail"]) == (409, "the first event cannot be undone")
    missing = api.post("undo", {"seq": 999})
    assert (missing.status, missing.kind) == (404, "not-found")


def test_later_events_that_become_impossible_are_listed(api: Api):
    label = api.post("labels", {"name": "old"}).json["seq"]
    renamed = api.patch("labels/old", {"name": "new"}).json["seq"]
    target = api.patch("labels/new", {"min_precision": 0.5}).json["seq"]
    refused = api.post("undo", {"seq": label})
    assert (refused.status, refused.kind) == (409, "conflict")
    assert refused.json["events"] == [renamed, target]
    assert len(api.get("labels").json["labels"]) == 1
    assert api.post("undo", {"seq": label, "cascade": True}).status == 200
    assert api.get("labels").json["labels"] == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "one of seq, batch must be there"),
        ({"cascade": True}, "one of seq, batch must be there"),
        ({"seq": 0}, "/seq must be a whole number from 1 to"),
        ({"seq": "2"}, "/seq must be a whole number from 1 to"),
        ({"seq": 2, "batch": "x"}, "/seq and /batch cannot be there together"),
        ({"batch": ""}, "/batch must be a non-empty text"),
    ],
)
def test_undo_needs_an_event_or_a_batch(shared: Api, body: Any, message: str):
    refused = shared.post("undo", body)
    assert refused.status == 422
    assert refused.json["detail"].startswith(message)


def test_suggestions_keep_nothing(api: Api):
    for _ in range(2):
        api.add("pay the invoice", ["money"])
        api.add("book the flight", ["travel"])
    before = api.get("model").json
    found = api.post("suggest", {"text": "pay the invoice", "k": 1})
    assert found.status == 200
    assert [each["label"] for each in found.json["suggestions"]] == ["money"]
    fields = api.post("suggest", {"fields": {"subject": "flight"}, "values": {"size": 1}})
    assert {each["label"] for each in fields.json["suggestions"]} == {"money", "travel"}
    assert api.get("model").json == before
    assert len(api.get("items").json["items"]) == 4


def test_a_long_text_and_the_same_short_one_have_the_same_suggestions(api: Api):
    """Long texts take another way through the server."""
    api.add("pay the invoice", ["money"])
    short = api.post("suggest", {"text": "invoice"}).json
    long = api.post("suggest", {"text": "invoice" + " " * 30_000}).json
    assert long == short


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"text": "x", "k": 0}, "/k must be a whole number from 1 to 1000, got 0"),
        ({"text": "x", "k": 2.5}, "/k must be a whole number from 1 to 1000, got 2.5"),
        ({"text": "x", "min_precision": 0}, "/min_precision must be a number above 0, got 0"),
        ({"text": "x", "min_precision": 1.1}, "/min_precision must be a number of at most 1"),
        ({"k": 3}, "one of text, fields, values must be there"),
    ],
)
def test_requests_for_suggestions_that_are_refused(shared: Api, body: Any, message: str):
    refused = shared.post("suggest", body)
    assert refused.status == 422
    assert refused.json["detail"].startswith(message)


def test_all_that_is_sure_is_filed_as_one_batch(api: Api):
    taught(api)
    api.patch("settings", {"audit": 0})
    for number in range(3):
        api.add(f"pay the invoice to the bank again {number}", id=f"money {number}")
    api.add("completely different words", id="other")
    preview = api.post("accept-sure", {"min_precision": 0.5, "preview": True})
    assert preview.status == 200
    assert preview.json["batch"] is None
    ids = [each["id"] for each in preview.json["items"]]
    assert set(ids) >= {"money 0", "money 1", "money 2"}
    assert len(api.get("items?state=open").json["items"]) == 4  # nothing changed
    filed = api.post("accept-sure", {"min_precision": 0.5})
    assert filed.json["items"] == preview.json["items"]
    assert filed.json["items"][0]["labels"] == ["money"]
    assert api.get("items/money%200").json["state"] == "filed"
    listed = api.get("items?state=filed").json["items"]
    assert {item["id"] for item in listed} == set(ids)
    events = api.get("events?type=filed", headers={"Accept": "application/json"}).json["events"]
    assert {event["batch"] for event in events} == {filed.json["batch"]}
    undone = api.post("undo", {"batch": filed.json["batch"]})
    assert undone.status == 200
    assert len(api.get("items?state=open").json["items"]) == 4
    again = api.post("undo", {"batch": filed.json["batch"]})
    assert (again.status, again.kind) == (409, "conflict")
    assert api.post("undo", {"batch": "none"}).status == 404


def test_spot_checks_are_left_to_a_person(api: Api):
    taught(api)
    api.patch("settings", {"audit": 1})
    api.add("pay the invoice to the bank again", id="a")
    found = api.post("accept-sure", {"min_precision": 0.5}).json
    assert (found["items"], found["asked"]) == ([], ["a"])
    assert api.get("items/a").json["state"] == "asked"
    assert [item["id"] for item in api.get("items?state=open").json["items"]] == ["a"]


def test_nothing_is_filed_while_filing_is_paused(api: Api):
    taught(api)
    api.patch("settings", {"paused": True, "audit": 0})
    api.add("pay the invoice to the bank again", id="a")
    refused = api.post("accept-sure", {"min_precision": 0.5})
    assert (refused.status, refused.kind) == (409, "conflict")
    assert "paused" in refused.json["detail"]
    preview = api.post("accept-sure", {"min_precision": 0.5, "preview": True})
    assert [each["id"] for each in preview.json["items"]] == ["a"]
    api.patch("settings", {"paused": False})
    assert len(api.post("accept-sure", {"min_precision": 0.5}).json["items"]) == 1


def test_nothing_that_is_sure(shared: Api):
    found = shared.post("accept-sure", {}).json
    assert found == {"batch": None, "items": [], "asked": [], "limited": 0}


def test_a_request_with_the_same_key_has_one_effect(api: Api):
    api.add("x", id="a")
    key = {"Idempotency-Key": "abc"}
    first = api.post("items/a/answer", {"labels": ["m"]}, headers=key)
    again = api.post("items/a/answer", {"labels": ["m"]}, headers=key)
    assert (again.status, again.json) == (first.status, first.json) == (200, {"seq": 3})
    other = api.post("items/a/answer", {"labels": ["t"]}, headers=key)
    assert (other.status, other.kind) == (422, "refused")
    assert "'abc' was used for another request" in other.json["detail"]
    assert labels_of(api, "a") == ["m"]


def test_every_change_takes_a_key(api: Api):
    api.add("x", ["m"], id="a")
    api.add("y", id="b")
    changes = [
        ("POST", "items", {"text": "new"}),
        ("POST", "items/b/answer", {"labels": ["m"]}),
        ("POST", "labels", {"name": "one"}),
        ("PATCH", "labels/one", {"name": "two"}),
        ("PATCH", "labels/two", {"min_precision": 0.5}),
        ("PATCH", "labels/two", {"into": "m"}),
        ("PATCH", "settings", {"audit": 0.5}),
        ("POST", "undo", {"seq": 2}),
        ("POST", "accept-sure", {}),
        ("DELETE", "labels/m", None),
        ("DELETE", "items/b", None),
    ]
    for number, (method, path, body) in enumerate(changes):
        key = {"Idempotency-Key": f"key-{number}"}
        first = api.send(method, path, body, headers=key)
        assert first.status < 300, (path, first)
        tip = api.get("model").json["seq"]
        again = api.send(method, path, body, headers=key)
        if path == "items":
            assert (first.status, again.status) == (201, 201)
            assert again.json["id"] == first.json["id"]
        else:
            assert (again.status, again.json) == (first.status, first.json)
        assert api.get("model").json["seq"] == tip, path


def test_keys_of_other_paths_and_tokens_are_other_keys(api: Api):
    someone = replace(api, token=api.service.tokens.add(f"other-{api.workspace}"))
    key = {"Idempotency-Key": "same"}
    body = {"labels": ["m"]}
    for id in "ab":
        api.add(f"text {id}", id=id)
    seqs = {
        api.post("items/a/answer", body, headers=key).json["seq"],
        api.post("items/b/answer", body, headers=key).json["seq"],
        someone.post("items/a/answer", body, headers=key).json["seq"],
    }
    assert len(seqs) == 3
    assert api.post("labels", {"name": "x"}, headers=key).status == 200


@pytest.mark.parametrize("key", ["a b", "", "x" * 256, "é"])
def test_keys_that_are_refused(shared: Api, key: str):
    for path in ("labels", "labels?preview=true"):
        refused = shared.post(path, {"name": "new"}, headers={"Idempotency-Key": key})
        assert (refused.status, refused.json["place"]) == (422, "Idempotency-Key")
    assert shared.get("labels/new").status == 405
    assert "new" not in [each["name"] for each in shared.get("labels").json["labels"]]


def test_a_key_of_255_characters(api: Api):
    assert api.post("labels", {"name": "x"}, headers={"Idempotency-Key": "k" * 255}).status == 200
