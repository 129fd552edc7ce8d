"""Labels, settings and workspaces over HTTP."""

from dataclasses import replace
from typing import Any

import pytest

from tests.server.api_server import Api

WORKSPACES = "/api/v1/workspaces"


def labels(api: Api) -> dict[str, Any]:
    return {each["name"]: each for each in api.get("labels").json["labels"]}


def test_labels_are_listed_with_counts_and_precision(api: Api):
    api.add("pay", ["money"])
    api.add("pay more", ["money", "bills"])
    api.post("labels", {"name": "new", "min_precision": 0.5})
    found = labels(api)
    assert list(found) == ["money", "bills", "new"]
    assert [found[name]["items"] for name in found] == [2, 1, 0]
    assert [found[name]["last"] for name in found] == [2, 2, 0]
    assert found["new"]["min_precision"] == 0.5
    assert found["money"]["min_precision"] is None
    assert found["new"]["precision"] is None


def test_a_label_is_added_once(api: Api):
    added = api.post("labels", {"name": "a/b %"})
    assert (added.status, added.json) == (200, {"seq": 2})
    again = api.post("labels", {"name": "a/b %"})
    assert (again.status, again.kind) == (409, "conflict")
    assert again.json["detail"] == "there is a label 'a/b %' already"
    assert api.delete("labels/a%2Fb%20%25").status == 200
    assert labels(api) == {}


def test_a_label_is_renamed_with_its_items(api: Api):
    api.add("pay", ["old"], id="a")
    before = api.get("model").json
    renamed = api.patch("labels/old", {"name": "new"})
    assert (renamed.status, renamed.json) == (200, {"seq": 3})
    assert list(labels(api)) == ["new"]
    assert api.get("items/a").json["labels"] == ["new"]
    assert api.get("model").json["labels"] == before["labels"]
    assert api.post("suggest", {"text": "pay"}).json["suggestions"][0]["label"] == "new"


def test_a_label_is_merged_into_another(api: Api):
    api.add("pay", ["bills"], id="a")
    api.add("earn", ["money"], id="b")
    assert api.patch("labels/bills", {"into": "money"}).status == 200
    assert list(labels(api)) == ["money"]
    assert api.get("items/a").json["labels"] == ["money"]
    itself = api.patch("labels/money", {"into": "money"})
    assert (itself.status, itself.kind) == (422, "refused")
    assert itself.json["detail"] == "the label 'money' cannot be merged into itself"


def test_a_label_has_its_own_target(api: Api):
    api.post("labels", {"name": "money"})
    for target in (0.5, "never", 1, None):
        assert api.patch("labels/money", {"min_precision": target}).status == 200
        assert labels(api)["money"]["min_precision"] == target


def test_a_forgotten_label_is_gone(api: Api):
    api.add("pay", ["money"], id="a")
    assert api.delete("labels/money").status == 200
    assert labels(api) == {}
    assert api.post("suggest", {"text": "pay"}).json["suggestions"] == []


def test_a_preview_says_how_many_items_and_changes_nothing(api: Api):
    for number in range(3):
        api.add(f"pay {number}", ["money"])
    api.add("fly", ["travel"])
    before = api.get("model").json
    changes = [
        ("PATCH", "labels/money", {"name": "cash"}, 3),
        ("PATCH", "labels/money", {"into": "travel"}, 3),
        ("PATCH", "labels/travel", {"min_precision": 0.5}, 1),
        ("DELETE", "labels/money", None, 3),
        ("POST", "labels", {"name": "new"}, 0),
    ]
    for method, path, body, items in changes:
        preview = api.send(method, f"{path}?preview=true", body)
        assert (preview.status, preview.json) == (200, {"items": items})
    assert api.get("model").json == before
    assert list(labels(api)) == ["money", "travel"]
    done = api.send("DELETE", "labels/money?preview=false")
    assert "seq" in done.json


@pytest.mark.parametrize("preview", ["false", "true"])
def test_a_preview_refuses_what_the_change_would_refuse(api: Api, preview: str):
    api.post("labels", {"name": "money"})
    api.post("labels", {"name": "travel"})
    for method, path, body, status in (
        ("PATCH", "labels/none", {"name": "new"}, 404),
        ("PATCH", "labels/none", {"into": "money"}, 404),
        ("PATCH", "labels/money", {"into": "none"}, 404),
        ("PATCH", "labels/none", {"min_precision": "never"}, 404),
        ("DELETE", "labels/none", None, 404),
        ("PATCH", "labels/money", {"name": "travel"}, 409),
        ("PATCH", "labels/money", {"into": "money"}, 422),
        ("PATCH", "labels/none", {"into": "none"}, 422),
        ("POST", "labels", {"name": "money"}, 409),
    ):
        refused = api.send(method, f"{path}?preview={preview}", body)
        assert refused.status == status, (path, body, refused)
        assert "'none'" in refused.json["detail"] or status != 404
    assert list(labels(api)) == ["money", "travel"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "one of name, into, min_precision must be there"),
        ({"name": "a", "into": "b"}, "/name and /into cannot be there together: send one of"),
        ({"name": ""}, "/name must be a non-empty text"),
        ({"name": " "}, "/name must be the new name: a text that is not only spaces, got ' '"),
        ({"min_precision": 0}, "/min_precision must be a number from 0 to 1, 'never' or null"),
        ({"min_precision": "always"}, "/min_precision must be a number from 0 to 1, 'never' or"),
    ],
)
def test_changes_that_are_refused(shared: Api, body: Any, message: str):
    refused = shared.patch("labels/x", body)
    assert refused.status == 422
    assert refused.json["detail"].startswith(message)


def test_settings_have_defaults_and_can_be_changed(api: Api):
    found = api.get("settings")
    assert found.json == {
        "labels": "grow",
        "one_label": "auto",
        "min_precision": 0.95,
        "audit": 0.02,
        "content": "text",
        "paused": False,
    }
    changes = {"labels": "fixed", "one_label": False, "min_precision": 0.9, "audit": 0}
    changed = api.patch("settings", changes)
    assert (changed.status, changed.json) == (200, {"seq": 2})
    assert api.get("settings").json == {**found.json, **changes}
    assert api.post("undo", {"seq": 2}).status == 200
    assert api.get("settings").json == found.json


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "one of labels, one_label, min_precision, audit, content, paused must be there"),
        ({"labels": "few"}, "/labels must be 'grow' or 'fixed', got 'few'"),
        ({"one_label": "no"}, "/one_label must be true, false or 'auto', got 'no'"),
        ({"audit": 0.0001}, "/audit must be 0 or a number from 0.001 to 1, got 0.0001"),
        ({"audit": 2}, "/audit must be 0 or a number from 0.001 to 1, got 2"),
        ({"min_precision": 0}, "/min_precision must be a number above 0, got 0"),
        ({"content": "none"}, "/content must be 'text' or 'features', got 'none'"),
        ({"paused": 1}, "/paused must be true or false, got 1"),
        ({"colour": "red"}, "/colour: there is no such member; the members are: labels"),
    ],
)
def test_settings_that_are_refused(shared: Api, body: Any, message: str):
    before = shared.get("settings").json
    refused = shared.patch("settings", body)
    assert refused.status == 422
    assert refused.json["detail"].startswith(message)
    assert shared.get("settings").json == before


def test_workspaces_are_made_listed_and_removed(server: Api):
    made = server.post(WORKSPACES, {"name": "a-new_one"})
    assert (made.status, made.json) == (201, {"name": "a-new_one", "loaded": False})
    names = [each["name"] for each in server.get(WORKSPACES).json["workspaces"]]
    assert names[0] == "default"
    assert "a-new_one" in names
    mine = replace(server, workspace="a-new_one")
    mine.add("pay", ["money"], id="a")
    mine.add("fly")
    facts = server.get(f"{WORKSPACES}/a-new_one").json
    assert facts == {
        "name": "a-new_one",
        "loaded": True,
        "items": {"open": 1, "asked": 0, "filed": 0, "answered": 1},
        "labels": 1,
        "seq": 3,
    }
    assert server.get("items/a").status == 404  # of another workspace
    again = server.post(WORKSPACES, {"name": "a-new_one"})
    assert (again.status, again.kind) == (409, "conflict")
    assert server.delete(f"{WORKSPACES}/a-new_one").status == 204
    assert server.get(f"{WORKSPACES}/a-new_one").status == 404
    assert server.delete(f"{WORKSPACES}/a-new_one").status == 404
    assert server.post(WORKSPACES, {"name": "a-new_one"}).status == 201
    assert mine.get("items").json["items"] == []  # a new one, not the old one


def test_the_default_workspace_stays(server: Api):
    refused = server.delete(f"{WORKSPACES}/default")
    assert (refused.status, refused.kind) == (409, "conflict")
    assert refused.json["detail"] == "the default workspace cannot be removed"
    assert server.post(WORKSPACES, {"name": "default"}).status == 409
    assert server.get("items").status == 200


@pytest.mark.parametrize(
    "name", ["", "A", "-a", "_a", "a b", "../x", "a/b", "a.b", "é", "a" * 64, 7, None, "a\n"]
)
def test_names_of_workspaces(server: Api, name: object):
    refused = server.post(WORKSPACES, {"name": name})
    assert (refused.status, refused.json["place"]) == (422, "/name")
    assert "must be a" in refused.json["detail"]


def test_only_the_owner_makes_and_removes_workspaces(server: Api, api: Api):
    someone = replace(api, token=api.service.tokens.add(f"someone-{api.workspace}"))
    for refused in (
        someone.post(WORKSPACES, {"name": "mine"}),
        someone.delete(f"{WORKSPACES}/{api.workspace}"),
    ):
        assert (refused.status, refused.kind) == (403, "owner-only")
    assert someone.get("items").status == 200
    assert someone.post("items", {"text": "x"}).status == 201


def test_a_workspace_that_does_not_exist(server: Api):
    missing = replace(server, workspace="missing")
    for answer in (
        missing.get("items"),
        missing.post("items", {"text": "x"}),
        missing.get("events", headers={"Accept": "application/json"}),
        missing.get("events"),
        missing.get("model"),
        missing.get("report"),
        missing.get("export"),
        missing.get("jobs/1"),
        server.delete(f"{WORKSPACES}/missing"),
    ):
        assert (answer.status, answer.kind) == (404, "not-found"), answer
        assert "'missing'" in answer.json["detail"] or "job" in answer.json["detail"]
