"""Tests of the layers of a request together."""

from pathlib import Path

import pytest

from tests.server.api_server import serving


def test_unexpected_errors_have_the_headers_of_all_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as api:

        def fail() -> list[str]:
            raise RuntimeError("secret")

        monkeypatch.setattr(api.service.workspaces, "names", fail)
        found = api.get("/api/v1/workspaces")
        assert (found.status, found.kind) == (500, "internal-error")
        assert b"secret" not in found.body
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "content-security-policy" in found.headers
        assert found.headers["cache-control"] == "no-store"
