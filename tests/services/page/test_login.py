"""The log-in in a browser."""

from collections.abc import Callable
from urllib.parse import quote, urlsplit

import pytest

from tests.services.page.axe import assert_accessible
from tests.services.page.browser import Window
from tests.services.page.other_site import other_site
from tests.services.page.site import Site

UNAUTHORIZED = "status of 401"


@pytest.fixture
def stranger(new_window: Callable[..., Window]) -> Window:
    """A browser of somebody who has not logged in."""
    return new_window(logged_in=False)


def test_the_keyboard_is_enough_to_log_in(site: Site, stranger: Window) -> None:
    page = stranger.page
    page.goto(f"{site.server.url}login")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "token":
            break
    page.keyboard.type(site.server.token)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/login" not in address)
    cookie = stranger.context.cookies()[0]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


def test_a_wrong_token_is_told(site: Site, stranger: Window) -> None:
    stranger.notes.allow(UNAUTHORIZED)
    page = stranger.page
    page.goto(f"{site.server.url}login")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    assert "no token of this service" in page.get_by_role("alert").inner_text()
    assert_accessible(page)
    assert stranger.context.cookies() == []


def test_the_log_in_leads_to_the_page_that_was_wanted(site: Site, stranger: Window) -> None:
    stranger.notes.allow(UNAUTHORIZED)
    page = stranger.page
    page.goto(site.url("/labels?q=inv%26"))
    for token in ("wrong", site.server.token):
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_load_state()
    assert page.url == site.url("/labels?q=inv%26")


def test_a_log_in_never_leads_to_another_host(site: Site, stranger: Window) -> None:
    page = stranger.page
    with other_site({"/": "elsewhere"}) as elsewhere:
        host = urlsplit(elsewhere).netloc
        for path in (elsewhere, f"//{host}/", f"/\\{host}/", f"/\t/{host}/", f"/%0a/{host}/"):
            page.goto(f"{site.server.url}login?next={quote(path, safe='/%')}")
            page.get_by_label("Token").fill(site.server.token)
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url(lambda address: "/login" not in address)
            assert page.url.startswith(site.server.url)
            stranger.context.clear_cookies()


def test_strangers_see_no_page(site: Site, stranger: Window) -> None:
    stranger.notes.allow(UNAUTHORIZED)
    for path in ("", "/trust", "/labels", "/history", "/settings", "/start", "/items/mail-0300"):
        found = stranger.page.goto(site.url(path))
        assert found is not None
        assert urlsplit(stranger.page.url).path == "/login", path
        assert "mail-0300" not in stranger.page.inner_text("body")
