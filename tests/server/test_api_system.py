"""Health, metrics, methods, paths and problem documents over HTTP."""

from dataclasses import replace

import pytest

from tests.server.api_server import Api


def test_health_needs_no_token(server: Api):
    stranger = replace(server, token="wrong")
    assert stranger.get("/healthz").json == {"status": "ok"}
    for path in ("/metrics", "/openapi.json", "items"):
        assert (stranger.get(path).status, stranger.get(path).kind) == (401, "wrong-token")


def test_metrics_count_requests_answers_and_the_model(api: Api):
    api.add("pay the invoice", ["money"], id="a")
    api.get("items/none")
    found = api.get("/metrics")
    assert found.status == 200
    assert found.headers["content-type"].startswith("text/plain")
    text = found.body.decode()
    assert 'operation="addItem"' in text
    assert 'operation="getItem"' in text
    assert f'workspace="{api.workspace}"' in text
    for name in (
        "requests_total",
        "request_seconds_count",
        "answers",
        "recent_accuracy",
        "recent_sure_share",
        "journal_lag",
        "model_bytes",
    ):
        assert f"\ntagalong_{name}{{" in text, name
    refused = [line for line in text.splitlines() if 'operation="getItem"' in line]
    assert any('="404"' in line or '="4xx"' in line for line in refused), refused
    assert "pay the invoice" not in text
    assert "money" not in text


def test_a_head_is_a_get_without_its_body(api: Api):
    api.add("text", id="a")
    for path in ("items", "items/a", "labels", "model", "export", "/openapi.json", "/healthz"):
        got, head = api.get(path), api.send("HEAD", path)
        assert (head.status, head.body) == (got.status, b""), path
        assert head.headers["content-type"] == got.headers["content-type"], path
    assert api.send("HEAD", "items/none").status == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "items", "GET, POST"),
        ("DELETE", "items", "GET, POST"),
        ("GET", "undo", "POST"),
        ("GET", "items:batch", "POST"),
        ("POST", "items/a", "GET, DELETE"),
        ("POST", "labels/a", "PATCH, DELETE"),
        ("POST", "/healthz", ""),
        ("POST", "/openapi.json", "GET"),
        ("PATCH", "/api/v1/workspaces/default", "GET, DELETE"),
    ],
)
def test_methods_that_are_not_possible(shared: Api, method: str, path: str, allowed: str):
    refused = shared.send(method, path)
    assert (refused.status, refused.kind) == (405, "no-such-method")
    if allowed:
        assert set(refused.headers["allow"].split(", ")) - {"HEAD"} == set(allowed.split(", "))
        assert f"{method} is not possible here" in refused.json["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/v1",
        "/api/v2/workspaces",
        "/api/v1/workspaces/",
        "/api/v1/workspaces/default/",
        "/api/v1/workspaces/default/nothing",
        "/api/v1/workspaces/default/items/",
        "/api/v1/workspaces/default/items//answer",
        "/api/v1/workspaces/default/items/a/b",
        "/nothing",
        "//api/v1/workspaces",
    ],
)
def test_paths_that_do_not_exist(shared: Api, path: str):
    missing = shared.get(path)
    assert (missing.status, missing.kind) == (404, "no-such-path")
    assert "/openapi.json" in missing.json["detail"]


def test_a_path_that_is_not_unicode(shared: Api):
    refused = shared.get("items/%FF")
    assert (refused.status, refused.kind) == (400, "bad-path")


def test_a_path_that_is_too_long(shared: Api):
    refused = shared.get(f"items/{'x' * 5000}")
    assert (refused.status, refused.kind) == (414, "path-too-long")


def test_parameters_that_cannot_be_read(shared: Api):
    assert shared.get("items?q=%FF").kind == "bad-query"
    many = shared.get("items?" + "&".join(f"a{number}=1" for number in range(60)))
    assert (many.status, many.kind) == (400, "bad-query")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is not JSON: Expecting value (line 1, column 1)"),
        (b"{", "the body is not JSON: "),
        (b'{"text": "a",}', "the body is not JSON: "),
        (b"{'text': 'a'}", "the body is not JSON: "),
        (b'{"text": "\xe9"}', "the body is not UTF-8 (at byte 11)"),
        (b'{"text": "a", "text": "b"}', "the body has an object with the member 'text' twice"),
        (b'{"values": {"x": NaN}}', "the body has NaN, which is not a number of JSON"),
        (b'{"values": {"x": -Infinity}}', "the body has -Infinity, which is not a number of JSON"),
        (b'{"values": {"x": %s}}' % (b"9" * 5000), "the body has a number with too many digits"),
        (b"[" * 100_000, "the body has too many lists and objects within each other"),
        (b'{"a":' * 100_000, "the body has too many lists and objects within each other"),
    ],
)
def test_bodies_that_are_not_json(shared: Api, body: bytes, message: str):
    refused = shared.post("items", body)
    assert (refused.status, refused.kind) == (400, "not-json")
    assert refused.json["detail"].startswith(message)


def test_a_number_beyond_all_bounds(shared: Api):
    for number in (b"1e999", b"-1e999", b"9" * 400):
        refused = shared.post("items", b'{"values": {"x": %s}}' % number)
        assert refused.status == 422
        assert refused.json["place"] == "/values/x"


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_bodies_of_another_type(shared: Api, media: str):
    refused = shared.post("items", b'{"text": "x"}', headers={"Content-Type": media})
    assert (refused.status, refused.kind) == (415, "wrong-content-type")
    assert "application/json" in refused.json["detail"]
    assert shared.post("items", b"{}", media="Application/JSON; charset=utf-8").status == 422


def test_a_compressed_body(shared: Api):
    refused = shared.post("items", b"x", headers={"Content-Encoding": "gzip"})
    assert (refused.status, refused.kind) == (415, "compressed-body")


def test_a_body_that_is_too_large(shared: Api):
    size = shared.service.limits.body_bytes + 1
    refused = shared.post("items", b"", headers={"Content-Length": str(size)})
    assert (refused.status, refused.kind) == (413, "body-too-large")
    assert "64,000,001 bytes" in refused.json["detail"]


def test_problems_are_documents_with_headers_that_protect(shared: Api):
    found = shared.get("items/<script>")
    assert found.headers["content-type"] == "application/problem+json"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.json["title"] == "Not Found"
    assert found.json["type"].startswith("urn:tagalong:problem:")


def test_a_read_only_token_reads_and_suggests(api: Api):
    api.add("text", ["x"], id="a")
    reader = replace(api, token=api.service.tokens.add(f"reader-{api.workspace}", read_only=True))
    for path in ("items", "items/a", "labels", "settings", "model", "report", "export"):
        assert reader.get(path).status == 200, path
    assert reader.post("suggest", {"text": "x"}).status == 200
    for method, path, body in (
        ("POST", "items", {"text": "x"}),
        ("POST", "items:batch", b"{}"),
        ("POST", "items/a/answer", {"labels": []}),
        ("POST", "items/a/skip", None),
        ("POST", "items/a/viewing", None),
        ("POST", "undo", {"seq": 2}),
        ("POST", "labels", {"name": "x"}),
        ("PATCH", "labels/x", {"name": "y"}),
        ("DELETE", "labels/x", None),
        ("DELETE", "labels/x?preview=true", None),
        ("DELETE", "items/a", None),
        ("POST", "accept-sure", {"preview": True}),
        ("POST", "import", b""),
        ("PATCH", "settings", {"paused": True}),
        ("POST", "/api/v1/workspaces", {"name": "x"}),
        ("DELETE", f"/api/v1/workspaces/{api.workspace}", None),
    ):
        refused = reader.send(method, path, body)
        assert (refused.status, refused.kind) == (403, "read-only"), path


def test_who_did_it_is_in_the_events(api: Api):
    someone = replace(api, token=api.service.tokens.add(f"ann-{api.workspace}"))
    someone.add("text", id="a")
    events = api.get("events?after=1", headers={"Accept": "application/json"}).json["events"]
    assert [event["actor"] for event in events] == [f"ann-{api.workspace}"]


def test_a_removed_token_counts_no_more(api: Api):
    name = f"short-{api.workspace}"
    someone = replace(api, token=api.service.tokens.add(name))
    assert someone.get("items").status == 200
    api.service.tokens.remove(name)
    assert someone.get("items").kind == "wrong-token"
