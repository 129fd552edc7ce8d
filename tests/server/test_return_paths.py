"""Tests of the way back after a log-in: pages of this service only."""

from urllib.parse import parse_qs, quote, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagalong.server.access.return_paths import MOST, login_path, return_path
from tests.server.access_calls import make_scope

HOST = "localhost:8420"
HERE = f"Host: {HOST}"
PAGES = (
    "/",
    "/?seq=4",
    "/workspaces",
    "/w/default",
    "/w/a/items/a%2Fb%20c?state=open&q=%C3%A9",
    "/w/a/items/..",
    "/w/a/items/x:y@z",
    "/loginx",
    "/w/a?q=https://evil.example/?x",
)
REFUSED = (
    None,
    "",
    "w/default",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/w//evil.example",
    "/w/\\evil.example",
    "https://evil.example/",
    "HTTPS:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    " /w/default",
    "/w/default\n",
    "/w/default\r\nSet-Cookie: a=b",
    "/w/a\x00",
    "/w/a\u2028b",
    "/w/é",
    "/w/a#part",
    "/w/a?q=#part",
    '/w/a"onclick="x',
    "/w/a?q=<b>",
    "/w/" + "a" * MOST,
    "/login",
    "/login/",
    "/login?next=/w/a",
    "/logout",
    "/static/a/tagalong.js",
    "/api",
    "/api/v1/workspaces",
    "/openapi.json",
    "/metrics",
    "/healthz",
)


@pytest.mark.parametrize("path", PAGES)
def test_pages_of_the_service_are_returned_to(path: str) -> None:
    assert return_path(path) == path


@pytest.mark.parametrize("text", REFUSED)
def test_other_texts_lead_home(text: str | None) -> None:
    assert return_path(text) == "/"


@given(st.text(st.sampled_from("/\\.:?#@%w a\t\r\n\x00evil\u3002\uff0f"), max_size=12))
@example("/.//evil")
@example("/..//evil")
def test_no_text_leads_to_another_host(text: str) -> None:
    found = return_path(text)
    # Browsers leave out tabs and line ends, and read a backslash as a slash.
    read = "".join(each for each in found if each not in "\t\r\n").replace("\\", "/")
    target = urlsplit(urljoin(f"http://{HOST}/login", read))
    assert (target.scheme, target.netloc) == ("http", HOST)
    assert not read.startswith("//")


@given(st.text(max_size=30))
def test_any_id_is_returned_to(id: str) -> None:
    try:
        path = f"/w/default/items/{quote(id, safe='')}" if id else "/w/default"
    except UnicodeEncodeError:
        return
    address = login_path(make_scope(f"GET {path}?label=a%2Bb", (HERE,)), HOST)
    (wanted,) = parse_qs(urlsplit(address).query)["next"]
    assert return_path(wanted) == wanted == f"{path}?label=a%2Bb"


@pytest.mark.parametrize(
    "request_, headers, address",
    [
        ("GET /", (), "/login"),
        ("GET /w/default?a=1&b=2", (), "/login?next=/w/default%3Fa%3D1%26b%3D2"),
        ("GET //evil.example/", (), "/login"),
        ("POST /w/a/undo", (), "/login?unsent=1"),
        ("POST /w/a/undo", (f"Referer: http://{HOST}/w/a",), "/login?next=/w/a&unsent=1"),
        ("POST /w/a/undo", ("Referer: http://evil.example/w/a",), "/login?unsent=1"),
        ("POST /w/a/undo", ("Referer: http://[",), "/login?unsent=1"),
        ("POST /w/a/undo", (f"Referer: http://{HOST}//evil.example",), "/login?unsent=1"),
    ],
)
def test_the_address_of_the_log_in(request_: str, headers: tuple[str, ...], address: str) -> None:
    assert login_path(make_scope(request_, (HERE, *headers)), HOST) == address
