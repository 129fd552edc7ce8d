"""The page without JavaScript: everything is a link or a form."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.services.page.browser import Window
from tests.services.page.site import Site


@pytest.fixture
def window(new_window: Callable[..., Window]) -> Window:
    return new_window(java_script_enabled=False)


@pytest.fixture
def page(site: Site, window: Window) -> Page:
    window.page.goto(site.url())
    return window.page


def shown(page: Page) -> str:
    return page.locator("[data-item]").get_attribute("data-item") or ""


def checked(page: Page) -> list[str]:
    return [
        box.get_attribute("value") or ""
        for box in page.locator("[name=labels]").all()
        if box.is_checked()
    ]


def test_reading(site: Site, page: Page) -> None:
    assert shown(page) == site.open_ids()[0]
    rows = page.locator(".item-row a")
    rows.nth(3).click()
    assert shown(page) == site.open_ids()[3]
    page.locator(".chip-why").nth(1).click()
    label = page.locator("[name=labels]").nth(1).get_attribute("value")
    assert page.locator(".legend-label").inner_text() == label
    assert page.locator(".item-text mark").count() > 0
    page.locator("[data-reasons] summary").click()
    assert page.locator("[data-reasons] tbody tr").count() > 3
    assert page.locator(".with-script:visible").count() == 0
    assert page.locator("kbd:visible").count() == 0


def test_answering_and_undoing(site: Site, page: Page) -> None:
    id = shown(page)
    page.locator("[name=labels]").nth(2).check()
    page.get_by_label("Other labels").fill("brand new\n")
    labels = checked(page)
    page.get_by_role("button", name="File").first.click()
    assert sorted(site.labels_of(id) or []) == sorted([*labels, "brand new"])
    assert shown(page) != id
    notice = page.get_by_role("status").filter(has_text="brand new")
    notice.get_by_role("button", name="Undo").click()
    assert site.labels_of(id) is None


def test_correcting(site: Site, page: Page) -> None:
    page.goto(site.item_url("note-02"))
    before = checked(page)
    assert before == site.labels_of("note-02")
    for box in page.locator("[name=labels]").all()[:3]:
        box.check()
    labels = checked(page)
    assert labels != before
    page.get_by_role("button", name="Correct").click()
    assert sorted(site.labels_of("note-02") or []) == sorted(labels)


def test_a_conflict_is_told_and_overwrites_nothing(site: Site, window: Window, page: Page) -> None:
    window.notes.allow("status of 409")
    id = shown(page)
    site.calls.post(f"items/{id}/answer", {"labels": ["press"]})
    page.get_by_role("button", name="File").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Changed in the meantime")
    assert "press" in page.locator("main").inner_text()
    assert site.answers_to(id) == [["press"]]


def test_skipping(site: Site, page: Page) -> None:
    id = shown(page)
    page.get_by_role("button", name="Later").click()
    assert shown(page) != id
    assert site.open_ids()[-1] == id


def test_none_of_these(site: Site, page: Page) -> None:
    id = shown(page)
    page.get_by_role("button", name="None of these").click()
    assert site.labels_of(id) == []


def test_searching(site: Site, page: Page) -> None:
    word = page.locator(".item-title").inner_text().split()[0].lower()
    page.get_by_role("searchbox").fill(word)
    page.get_by_role("button", name="Show").click()
    assert 0 < page.locator(".item-row").count() < 30
    assert word in page.locator(".item-text").inner_text().lower()
    id = shown(page)
    page.get_by_role("button", name="File").first.click()
    assert f"q={word}" in page.url
    assert site.labels_of(id) is not None


def test_filing_all_that_is_sure(site: Site, page: Page) -> None:
    before = set(site.open_ids())
    page.get_by_role("link", name="File all that is sure").click()
    count = page.locator("tbody tr").count()
    assert count > 3
    page.get_by_role("button", name=f"File {count} items").click()
    assert len(before - set(site.open_ids())) == count
    page.get_by_role("button", name="Undo").first.click()
    assert set(site.open_ids()) == before


def test_a_form_twice_changes_once(site: Site, window: Window, page: Page) -> None:
    id = shown(page)
    form = page.locator("form.answer")
    fields = {
        name: form.locator(f"input[name={name}]").get_attribute("value") or ""
        for name in ("key", "was")
    }
    address = site.server.url.rstrip("/") + (form.get_attribute("action") or "")
    for _ in range(2):
        answer = window.context.request.post(
            address,
            form={**fields, "none": "true"},
            headers={"Origin": site.server.url.rstrip("/")},
            max_redirects=0,
        )
        assert answer.status == 303, answer.text()
    assert site.answers_to(id) == [[]]


def test_a_form_after_the_log_in_has_ended(site: Site, page: Page) -> None:
    id, address = shown(page), page.url
    page.context.clear_cookies()
    page.get_by_role("button", name="None of these").click()
    expect(page.get_by_role("alert")).to_contain_text("not made")
    assert site.labels_of(id) is None
    page.get_by_label("Token").fill(site.server.token)
    page.get_by_role("button", name="Log in").click()
    assert page.url == address
    assert shown(page) == id
