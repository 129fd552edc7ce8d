"""The OpenAPI document: it lists every operation, and real answers are as it says."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tagalong.server.api.table import OPERATIONS
from tests.server.api_server import Api, serving

CONTRACT = """
POST W/items                 addItem
POST W/items:batch           addItems
GET W/items                  listItems
GET W/items/{id}             getItem
DELETE W/items/{id}          forgetItem
POST W/items/{id}/answer     answerItem
POST W/items/{id}/skip       skipItem
POST W/items/{id}/viewing    viewItem
POST W/suggest               suggest
POST W/undo                  undo
GET W/labels                 listLabels
POST W/labels                addLabel
PATCH W/labels/{label}       changeLabel
DELETE W/labels/{label}      forgetLabel
POST W/accept-sure           acceptSure
POST W/import                startImport
GET W/jobs/{job}             getJob
POST W/jobs/{job}/cancel     cancelJob
GET W/settings               getSettings
PATCH W/settings             changeSettings
GET /api/v1/workspaces       listWorkspaces
POST /api/v1/workspaces      createWorkspace
GET W                        getWorkspace
DELETE W                     removeWorkspace
GET W/report                 getReport
GET W/model                  getModel
GET W/model/file             getModelFile
GET W/export                 exportItems
GET W/events                 getEvents
GET /healthz                 getHealth
GET /metrics                 getMetrics
GET /openapi.json            getOpenapi
"""


@pytest.fixture(scope="module")
def document(server: Api) -> dict[str, Any]:
    return server.get("/openapi.json").json


def test_every_operation_of_the_contract_is_there(document: dict[str, Any]):
    expected = set()
    for line in CONTRACT.strip().splitlines():
        method, path, name = line.split()
        full = re.sub("^W", "/api/v1/workspaces/{name}", path)
        expected.add((method.lower(), full, name))
    found = {
        (method, path, operation["operationId"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert found == expected


@pytest.mark.parametrize(("page_items", "most"), [(50, 50), (20_000, 10_000)])
def test_the_largest_page_is_that_of_the_server(tmp_path: Path, page_items: int, most: int):
    (tmp_path / "settings.toml").write_text(f"page_items = {page_items}\n")
    with serving(tmp_path) as api:
        found = api.get("/openapi.json").json["paths"]
        for name in ("items", "events"):
            parameters = found[f"/api/v1/workspaces/{{name}}/{name}"]["get"]["parameters"]
            (limit,) = [each["schema"] for each in parameters if each["name"] == "limit"]
            assert limit["maximum"] == most
            path = f"/api/v1/workspaces/default/{name}?limit="
            for asked, status in ((most, 200), (most + 1, 422)):
                page = api.get(f"{path}{asked}", headers={"Accept": "application/json"})
                assert page.status == status


def test_schemas_are_sound_and_used(document: dict[str, Any]):
    components = document["components"]["schemas"]
    for name, schema in components.items():
        Draft202012Validator.check_schema(schema)
        assert f'"#/components/schemas/{name}"' in repr(document).replace("'", '"'), name


def test_every_reference_has_its_schema(document: dict[str, Any]):
    names = set(re.findall(r"#/components/schemas/(\w+)", repr(document)))
    assert names == set(document["components"]["schemas"])


def test_all_need_a_token_but_health(document: dict[str, Any]):
    assert document["security"] == [{"token": []}]
    public = [
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if operation.get("security") == []
    ]
    assert public == ["getHealth"]


def test_every_parameter_in_a_path_is_described(document: dict[str, Any]):
    for path, methods in document["paths"].items():
        for operation in methods.values():
            given = {
                each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"
            }
            assert given == set(re.findall(r"{(\w+)}", path))


def test_every_problem_is_a_problem_document(document: dict[str, Any]):
    for methods in document["paths"].values():
        for operation in methods.values():
            statuses = {int(status) for status in operation["responses"]}
            assert {400, 401, 403, 404, 405, 413, 422, 429, 503} <= statuses
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert set(answer["content"]) == {"application/problem+json"}


def test_summaries_are_sentences():
    for operation in OPERATIONS:
        assert operation.summary.endswith("."), operation.name
        assert operation.summary[0].isupper()


def test_real_answers_are_as_the_document_says(api: Api, document: dict[str, Any]):
    api.add("pay the invoice", ["money", "bills"], id="a", values={"x": 1, "tags": ["t"]})
    api.add("pay another invoice", id="b", date="2026-01-31T12:00:00Z", title="Title")
    calls = [
        ("POST", "/items", "", {"text": "new", "fields": None}, 422),
        ("POST", "/items", "", {"fields": {"subject": "new"}}, 201),
        ("POST", "/items", "", {"id": "b", "text": "other content"}, 409),
        ("GET", "/items", "?k=2", None, 200),
        ("GET", "/items/{id}", "?label=bills", None, 200),
        ("POST", "/items/{id}/answer", "", {"labels": ["money"], "shown": ["money"]}, 200),
        ("POST", "/items/{id}/answer", "", {"labels": ["money"], "was": None}, 409),
        ("POST", "/suggest", "", {"text": "pay"}, 200),
        ("POST", "/accept-sure", "", {"preview": True}, 200),
        ("GET", "/labels", "", None, 200),
        ("POST", "/labels", "", {"name": "new", "min_precision": "never"}, 200),
        ("PATCH", "/labels/{label}", "?preview=true", {"name": "other"}, 200),
        ("PATCH", "/labels/{label}", "", {"min_precision": None}, 200),
        ("GET", "/settings", "", None, 200),
        ("PATCH", "/settings", "", {"audit": 0}, 200),
        ("GET", "", "", None, 200),
        ("GET", "/report", "", None, 200),
        ("GET", "/model", "", None, 200),
        ("GET", "/events", "", None, 200),
        ("POST", "/undo", "", {"seq": 2}, 409),
        ("GET", "/jobs/{job}", "", None, 404),
        ("DELETE", "/items/{id}", "", None, 202),
    ]
    for method, path, query, body, status in calls:
        filled = path.format(id="a", label="money", job="none")
        answer = api.send(
            method,
            f"/api/v1/workspaces/{api.workspace}{filled}{query}",
            body,
            headers={"Accept": "application/json"},
        )
        assert answer.status == status, (method, path, answer)
        operation = document["paths"][f"/api/v1/workspaces/{{name}}{path}"][method.lower()]
        content = operation["responses"][str(status)]["content"]
        schema = content[answer.headers["content-type"]]["schema"]
        whole = {**schema, "components": document["components"]}
        problems = [error.message for error in Draft202012Validator(whole).iter_errors(answer.json)]
        assert problems == [], (method, path)
