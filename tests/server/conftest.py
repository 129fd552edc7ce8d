"""A server for the tests of a worker, and a workspace of its own for each test."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.server.api_server import Api, serving

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that the tests share: they use workspaces of their own."""
    with serving(tmp_path_factory.mktemp("server")) as api:
        yield api


@pytest.fixture
def api(server: Api) -> Api:
    """Requests for a new workspace."""
    name = f"w{next(_numbers)}"
    made = server.post("/api/v1/workspaces", {"name": name})
    assert made.status == 201, made
    return replace(server, workspace=name)


@pytest.fixture
def shared(server: Api) -> Api:
    """Requests for a workspace that several tests use, which saves making one."""
    return server
