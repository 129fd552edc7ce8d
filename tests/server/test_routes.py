"""Paths are divided before they are decoded."""

from typing import Any

import pytest

from tagalong.server.api.operations import Operation
from tagalong.server.api.routes import Routes
from tagalong.server.problems import Problem


async def handler(call: Any) -> Any:
    raise AssertionError


def operation(method: Any, path: str) -> Operation:
    return Operation(f"{method} {path}", method, path, "", handler)


ROUTES = Routes(
    [
        operation("GET", "/w/{name}"),
        operation("GET", "/w/{name}/items/{id}"),
        operation("DELETE", "/w/{name}/items/{id}"),
        operation("POST", "/w/{name}/items/{id}/answer"),
        operation("POST", "/w/{name}/items:batch"),
        operation("GET", "/w/fixed"),
        operation("GET", "/w/fixed/items/{id}"),
    ]
)


@pytest.mark.parametrize(
    ("method", "path", "found", "names"),
    [
        ("GET", b"/w/a", "GET /w/{name}", {"name": "a"}),
        ("HEAD", b"/w/a", "GET /w/{name}", {"name": "a"}),
        ("GET", b"/w/fixed", "GET /w/fixed", {}),
        ("GET", b"/w/%66ixed", "GET /w/fixed", {}),
        ("GET", b"/w/fixed/items/1", "GET /w/fixed/items/{id}", {"id": "1"}),
        ("GET", b"/w/a/items/b%2Fc", "GET /w/{name}/items/{id}", {"name": "a", "id": "b/c"}),
        ("GET", b"/w/a/items/%252F", "GET /w/{name}/items/{id}", {"name": "a", "id": "%2F"}),
        ("GET", b"/w/a/items/%2E%2E", "GET /w/{name}/items/{id}", {"name": "a", "id": ".."}),
        ("GET", b"/w/a/items/..", "GET /w/{name}/items/{id}", {"name": "a", "id": ".."}),
        ("GET", b"/w/a/items/%C3%A9", "GET /w/{name}/items/{id}", {"name": "a", "id": "é"}),
        ("GET", b"/w/a/items/100%", "GET /w/{name}/items/{id}", {"name": "a", "id": "100%"}),
        ("GET", b"/w/a/items/a+b", "GET /w/{name}/items/{id}", {"name": "a", "id": "a+b"}),
        ("POST", b"/w/a/items:batch", "POST /w/{name}/items:batch", {"name": "a"}),
        ("POST", b"/w/a/items%3Abatch", "POST /w/{name}/items:batch", {"name": "a"}),
    ],
)
def test_an_operation_is_found(method: str, path: bytes, found: str, names: dict[str, str]):
    operation, parameters = ROUTES.find(method, path)
    assert (operation.name, dict(parameters)) == (found, names)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", b"/", 404),
        ("GET", b"", 404),
        ("GET", b"/w/", 404),
        ("GET", b"/w", 404),
        ("GET", b"/w/a/items/", 404),
        ("GET", b"/w/a/items/1/", 404),
        ("GET", b"/w//items/1", 404),
        ("GET", b"/w%2Fa", 404),
        ("GET", b"w/a", 404),
        ("GET", b"/w/a/items/\xff", 400),
        ("GET", b"/w/a/items/%ff", 400),
        ("GET", b"/w/a/items/" + b"x" * 4096, 414),
        ("POST", b"/w/a/items/1", 405),
        ("HEAD", b"/w/a/items:batch", 405),
    ],
)
def test_other_paths_are_problems(method: str, path: bytes, status: int):
    with pytest.raises(Problem) as caught:
        ROUTES.find(method, path)
    assert caught.value.status == status


def test_the_methods_that_are_possible_are_named():
    with pytest.raises(Problem) as caught:
        ROUTES.find("PUT", b"/w/a/items/1")
    assert caught.value.headers["Allow"] == "GET, DELETE"
    assert caught.value.detail == "PUT is not possible here; possible: GET, DELETE"
