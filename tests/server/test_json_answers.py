"""Tests of answers with JSON values."""

import json

import pytest

from tagalong.server.api.calls import json_answer


@pytest.mark.parametrize("id", ["a", "ä\u2028", "a\udc80b", '\\"\udcff', "\U0001f600"])
def test_every_text_comes_through(id: str) -> None:
    """Names of files that are not valid Unicode have half characters, and can be ids of items."""
    assert json.loads(bytes(json_answer({"id": id}).body).decode()) == {"id": id}


def test_numbers_that_json_does_not_have_are_no_answer() -> None:
    with pytest.raises(ValueError):
        json_answer({"score": float("nan")})
