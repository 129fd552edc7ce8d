"""The connection lost and back, the server killed, the log-in ended: every answer arrives once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Route, expect

from tests.services.page.browser import Window
from tests.services.page.filing_page import FilingPage
from tests.services.page.site import Site

OFFLINE = "net::ERR_"


@pytest.fixture
def filing(site: Site, window: Window) -> FilingPage:
    return FilingPage(site, window)


def file_items(filing: FilingPage, count: int) -> dict[str, list[str]]:
    """File some items, each once it is shown, and return the answers."""
    given = {}
    for _ in range(count):
        id, labels = filing.id, filing.chosen
        if not labels:
            filing.press("1")
            labels = filing.chosen
        given[id] = labels
        filing.press("Enter")
        expect(filing.page.locator("[data-item]")).not_to_have_attribute("data-item", id)
    return given


def expect_once(filing: FilingPage, given: dict[str, list[str]]) -> None:
    for id, labels in given.items():
        filing.expect_answer(id, labels)
    filing.expect_steady()
    for id, labels in given.items():
        assert [sorted(each) for each in filing.site.answers_to(id)] == [sorted(labels)]


def test_answers_wait_for_the_connection(filing: FilingPage) -> None:
    filing.window.notes.allow(OFFLINE)
    filing.expect_steady()
    filing.window.context.set_offline(True)
    given = file_items(filing, 2)
    expect(filing.connection).to_contain_text("No connection")
    expect(filing.connection).to_contain_text("2 not saved yet")
    assert all(filing.site.labels_of(id) is None for id in given)
    filing.window.context.set_offline(False)
    expect(filing.messages).to_contain_text("Connected again")
    expect(filing.connection).to_be_empty()
    expect_once(filing, given)


def test_an_acknowledgement_that_is_lost(filing: FilingPage) -> None:
    filing.window.notes.allow(OFFLINE)
    lost: list[str] = []

    def lose(route: Route) -> None:
        if len(lost) < 2:
            lost.append(route.request.url)
            route.fetch()
            route.abort()
        else:
            route.continue_()

    filing.page.route("**/answer", lose)
    given = file_items(filing, 1)
    filing.wait_until(lambda: len(lost), 2)
    expect_once(filing, given)
    expect(filing.connection).to_be_empty()


def test_undo_waits_for_the_connection(filing: FilingPage) -> None:
    filing.window.notes.allow(OFFLINE)
    first = filing.id
    given = file_items(filing, 1)
    expect_once(filing, given)
    filing.window.context.set_offline(True)
    filing.press("u")
    expect(filing.connection).to_contain_text("1 not saved yet")
    filing.window.context.set_offline(False)
    filing.expect_answer(first, None)
    filing.expect_shown(first)
    assert len(filing.site.events("undo")) == 2  # with that of the workspace's making


def test_answers_survive_that_the_page_is_loaded_again(filing: FilingPage) -> None:
    filing.window.notes.allow(OFFLINE)
    filing.expect_steady()
    filing.page.route("**/answer", lambda route: route.abort())
    given = file_items(filing, 2)
    expect(filing.connection).to_contain_text("2 not saved yet")
    leaving: list[str] = []

    def leave(dialog: Dialog) -> None:
        leaving.append(dialog.type)
        dialog.accept()

    filing.page.remove_listener("dialog", filing.window.notes.dialog)
    filing.page.on("dialog", leave)
    filing.page.reload()
    assert leaving == ["beforeunload"]
    expect(filing.connection).to_contain_text("2 not saved yet")
    filing.page.unroute("**/answer")
    expect_once(filing, given)


def test_answers_are_sent_from_another_view(filing: FilingPage) -> None:
    filing.window.notes.allow(OFFLINE)
    filing.expect_steady()
    filing.page.route("**/answer", lambda route: route.abort())
    given = file_items(filing, 1)
    expect(filing.connection).to_contain_text("1 not saved yet")
    filing.page.unroute("**/answer")
    filing.page.get_by_role("link", name="Trust").click()
    expect_once(filing, given)


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_the_server_is_started_again(
    own_site: Site, open_window: Callable[..., Window], how: str
) -> None:
    window = open_window(own_site)
    window.notes.allow(OFFLINE)
    filing = FilingPage(own_site, window)
    filing.expect_steady()
    given = file_items(filing, 1)
    filing.expect_answer(*given.popitem())
    filing.expect_steady()
    (own_site.server.kill if how == "kill" else own_site.server.stop)()
    given = file_items(filing, 2)
    expect(filing.connection).to_contain_text("2 not saved yet")
    own_site.server.start()
    expect(filing.connection).to_be_empty()
    expect(filing.messages).to_contain_text("Connected again")
    expect_once(filing, given)
    given = file_items(filing, 2)
    expect_once(filing, given)


def test_the_server_is_killed_while_answers_are_on_their_way(
    own_site: Site, open_window: Callable[..., Window]
) -> None:
    window = open_window(own_site)
    window.notes.allow(OFFLINE)
    window.notes.allow("status of 503")
    filing = FilingPage(own_site, window)
    filing.expect_steady()
    given: dict[str, list[str]] = {}
    for _ in range(3):
        given |= file_items(filing, 2)
        own_site.server.kill()
        own_site.server.start()
    expect_once(filing, given)
    expect(filing.connection).to_be_empty()


def test_the_log_in_ends(filing: FilingPage) -> None:
    filing.window.notes.allow("status of 401")
    filing.window.notes.allow("ERR_ABORTED")
    filing.expect_steady()
    filing.window.context.clear_cookies()
    given = file_items(filing, 1)
    expect(filing.connection).to_contain_text("You are logged out")
    expect(filing.connection).to_contain_text("1 not saved yet")
    shown = filing.id
    filing.connection.get_by_role("link", name="Log in").click()
    filing.page.get_by_label("Token").fill(filing.site.server.token)
    filing.page.get_by_role("button", name="Log in").click()
    filing.expect_shown(shown)
    expect_once(filing, given)
    expect(filing.connection).to_be_empty()
