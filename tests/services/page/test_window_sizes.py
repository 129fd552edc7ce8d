"""Very narrow windows, where a bar with the buttons stays at the bottom, and very wide ones."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.services.page.browser import LARGEST, NARROW, Window
from tests.services.page.filing_page import FilingPage
from tests.services.page.site import Site


@pytest.fixture
def filing(site: Site, new_window: Callable[..., Window]) -> FilingPage:
    return FilingPage(site, new_window(size=NARROW))


_IS_ABOVE = """() => {
  const [notice, bar] = ["[data-toasts] .notice", ".answer-buttons"].map(
    each => document.querySelector(each)?.getBoundingClientRect());
  return Boolean(notice?.height && bar?.height) && notice.bottom <= bar.top;
}"""


def box(found: Locator) -> Any:
    return found.evaluate("each => each.getBoundingClientRect().toJSON()")


def test_messages_leave_the_buttons_free(filing: FilingPage) -> None:
    first = filing.id
    filing.press("Enter")
    expect(filing.messages).to_be_visible()
    expect(filing.page.locator("[data-item]")).not_to_have_attribute("data-item", first)
    filing.page.evaluate("scrollTo(0, 0)")
    filing.wait_until(lambda: filing.page.evaluate(_IS_ABOVE), True)  # the next item moves in
    filing.button("Later").click()
    expect(filing.messages).to_contain_text("comes later")


def test_the_bar_does_not_hide_what_has_the_focus(filing: FilingPage) -> None:
    page = filing.page
    filing.expect_steady()
    bar = page.locator(".answer-buttons")
    for _ in range(40):
        filing.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and focused.evaluate("each => !!each.closest('fieldset')"):
            assert box(focused)["bottom"] <= box(bar)["top"] + 1
        if focused.count() and focused.evaluate("each => !!each.closest('.answer-buttons')"):
            break
    else:
        pytest.fail("the buttons were not reached")


def test_labels_stay_near_the_text_in_a_very_wide_window(
    site: Site, new_window: Callable[..., Window]
) -> None:
    filing = FilingPage(site, new_window(size=LARGEST))
    text, labels = (box(filing.page.locator(each)) for each in (".item-text", ".item-labels"))
    assert labels["left"] - text["right"] < 500


def test_sure_items_are_stacked(site: Site, new_window: Callable[..., Window]) -> None:
    page = new_window(size=NARROW).page
    page.goto(site.url("/sure"))
    title, labels = (page.locator("tbody tr").first.locator("td").nth(place) for place in (0, 1))
    assert box(title)["bottom"] <= box(labels)["top"] + 1


def test_no_choice_of_the_list_is_cut_off(site: Site, new_window: Callable[..., Window]) -> None:
    page = new_window().page
    page.goto(site.url())
    choice = page.get_by_label("Which items")
    room = choice.evaluate("each => each.clientWidth")
    needed = choice.evaluate(
        """each => {
          each.closest(".filter-row").style.display = "block";
          each.style.width = "max-content";
          return each.offsetWidth;
        }"""
    )
    assert needed <= room + 2
