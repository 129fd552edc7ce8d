"""Pages of others on the same machine: the browser sends the cookie, and nothing changes."""

import json
from collections.abc import Iterator
from html import escape
from urllib.parse import urlsplit

import pytest

from tests.services.page.browser import Window
from tests.services.page.other_site import other_site
from tests.services.page.site import Site

ID = "mail-0302"


@pytest.fixture
def pages() -> dict[str, str]:
    return {}


@pytest.fixture
def elsewhere(pages: dict[str, str]) -> Iterator[str]:
    """A server on another port of this host: browsers send it the same cookies."""
    with other_site(pages) as address:
        yield address


@pytest.fixture
def visitor(window: Window, elsewhere: str) -> Window:
    """A logged-in browser that opens pages of somebody else."""
    window.notes.host = urlsplit(elsewhere).netloc
    window.notes.errors = _Forgiving()
    window.notes.foreign = _Forgiving()
    return window


class _Forgiving(list[str]):
    """Requests to the service and their refusals are the point here."""

    def append(self, text: str) -> None:
        pass


def state(site: Site) -> tuple[object, ...]:
    model = site.calls.get("model").json
    settings = site.calls.get("settings").json
    return model["hash"], model["seq"], settings, site.open_ids(), site.labels_of(ID)


FORMS = [
    (f"/items/{ID}/answer", {"none": "true", "was": "null"}),
    (f"/items/{ID}/answer", {"labels": "press"}),
    (f"/items/{ID}/skip", {"key": "x"}),
    (f"/items/{ID}/forget", {"key": "x"}),
    ("/undo", {"seq": "340"}),
    ("/sure", {"min_precision": "0.9"}),
]


@pytest.mark.parametrize("path, fields", FORMS, ids=lambda each: str(each)[:30])
def test_forms(
    site: Site,
    visitor: Window,
    pages: dict[str, str],
    elsewhere: str,
    path: str,
    fields: dict[str, str],
) -> None:
    before = state(site)
    inputs = "".join(
        f'<input name="{escape(name)}" value="{escape(value)}">' for name, value in fields.items()
    )
    pages["/"] = (
        f'<form method="post" action="{site.url(path)}">{inputs}<button>Win</button></form>'
    )
    visitor.page.goto(elsewhere)
    with visitor.page.expect_response(lambda answer: site.url(path) in answer.url) as found:
        visitor.page.get_by_role("button").click()
    assert found.value.status == 403
    assert state(site) == before


API = [
    ("POST", f"items/{ID}/answer", '{"labels": ["press"]}'),
    ("POST", "items", '{"text": "x"}'),
    ("POST", "accept-sure", '{"min_precision": 0.9}'),
    ("POST", "undo", '{"seq": 340}'),
    ("PATCH", "settings", '{"paused": true}'),
    ("DELETE", f"items/{ID}", None),
]


@pytest.mark.parametrize("mode", ["cors", "no-cors"])
@pytest.mark.parametrize("method, path, body", API)
def test_calls_of_the_api(
    site: Site,
    visitor: Window,
    pages: dict[str, str],
    elsewhere: str,
    method: str,
    path: str,
    body: str | None,
    mode: str,
) -> None:
    before = state(site)
    pages["/"] = "<h1>Hello</h1>"
    visitor.page.goto(elsewhere)
    media = "application/json" if mode == "cors" else "text/plain"
    address = f"{site.server.url}api/v1/workspaces/{site.name}/{path}"
    options = {"method": method, "mode": mode, "credentials": "include", "body": body}
    options["headers"] = {"Content-Type": media}  # type: ignore[assignment]
    told = visitor.page.evaluate(
        f"fetch({json.dumps(address)}, {json.dumps(options)})"
        ".then(answer => answer.type + answer.status, error => 'refused')"
    )
    assert told in ("refused", "opaque0")
    assert state(site) == before


@pytest.mark.parametrize("path", ["", f"/items/{ID}", "/parts/list", f"/parts/items/{ID}"])
def test_reading(
    site: Site, visitor: Window, pages: dict[str, str], elsewhere: str, path: str
) -> None:
    address = site.url(path)
    pages["/"] = f'<iframe src="{address}"></iframe><script src="{address}"></script>'
    visitor.page.goto(elsewhere)
    frame = visitor.page.frames[1]
    assert frame.locator("[data-item], [data-id]").count() == 0
    told = visitor.page.evaluate(
        f"fetch({json.dumps(address)}, {{credentials: 'include'}})"
        ".then(answer => answer.text(), error => 'refused')"
    )
    assert told == "refused"


def test_logging_somebody_out(
    site: Site, visitor: Window, pages: dict[str, str], elsewhere: str
) -> None:
    pages["/"] = f'<form method="post" action="{site.server.url}logout"><button>Win</button></form>'
    visitor.page.goto(elsewhere)
    with visitor.page.expect_response("**/logout") as found:
        visitor.page.get_by_role("button").click()
    assert found.value.status == 403
    visitor.page.goto(site.url())
    assert visitor.page.url == site.url()


def test_a_link_to_a_page_is_followed(
    site: Site, visitor: Window, pages: dict[str, str], elsewhere: str
) -> None:
    pages["/"] = f'<a href="{site.item_url(ID)}">look</a>'
    visitor.page.goto(elsewhere)
    visitor.page.get_by_role("link").click()
    visitor.page.wait_for_url(site.item_url(ID))
    assert visitor.page.locator("[data-item]").get_attribute("data-item") == ID
