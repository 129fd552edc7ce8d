"""The settings view: what is changed, what is refused and where that is said."""

import pytest

from tests.server.api_server import Api
from tests.server.page.pages import Element, submit, visit


def form(page: Element) -> Element:
    return page.one("main").one("form", class_="stack")


def test_settings_are_changed_and_undone(api: Api) -> None:
    page = visit(api, "/settings")
    changes: dict[str, str | list[str]] = {
        "min_precision": "99,5",
        "one_label": "one",
        "paused": "yes",
    }
    _, page = submit(api, form(page), changes)
    settings = api.get("settings").json
    assert (settings["min_precision"], settings["one_label"]) == (0.995, True)
    assert settings["paused"] is True
    notice = page.one(class_="notice")
    assert "99.5 % have to be right" in notice.text
    assert "one label per item" in notice.text
    assert page.one(id="min_precision").attributes["value"] == "99.5"
    submit(api, notice.one("form"), {})
    assert api.get("settings").json["min_precision"] == 0.95


def test_saving_without_changes_is_no_event(api: Api) -> None:
    page = visit(api, "/settings")
    tip = api.get("/api/v1/workspaces/" + api.workspace).json["seq"]
    path, _ = submit(api, form(page), {})
    assert path == f"/w/{api.workspace}/settings"
    assert api.get("/api/v1/workspaces/" + api.workspace).json["seq"] == tip


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("min_precision", "0", "This must be a number above 0 and at most 100; got “0”."),
        ("min_precision", "", "This must be a number above 0 and at most 100; it is empty."),
        ("min_precision", "<b>", "This must be a number above 0 and at most 100; got “<b>”."),
        ("audit", "0.05", "This must be 0, or a number from 0.1 to 100; got “0.05”."),
        ("labels", "other", "Choose one of these."),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(
    api: Api, field: str, value: str, error: str
) -> None:
    sent: dict[str, str | list[str]] = {field: value, "paused": "yes"}
    _, page = submit(api, form(visit(api, "/settings")), sent, 422)
    assert page.one(id=f"{field}-error").text == error
    assert "Nothing was changed" in page.one(role="alert").text
    assert page.one("input", name="paused", value="yes").attributes.get("checked") is not None
    assert api.get("settings").json["paused"] is False
