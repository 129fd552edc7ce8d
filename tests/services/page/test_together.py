"""Several people at once: they see each other, and nobody overwrites an answer unawares."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.services.page.browser import Window
from tests.services.page.filing_page import FilingPage
from tests.services.page.site import Site

_names = iter(range(1, 1_000_000))


@pytest.fixture
def colleague(site: Site) -> Site:
    return site.colleague(f"ben-{next(_names)}")


@pytest.fixture
def two(
    site: Site, colleague: Site, open_window: Callable[..., Window]
) -> tuple[FilingPage, FilingPage]:
    """The views of the owner and of a colleague, at the same item."""
    return FilingPage(site, open_window(site)), FilingPage(colleague, open_window(colleague))


Two = tuple[FilingPage, FilingPage]


def test_items_being_looked_at_are_marked(two: Two) -> None:
    ours, theirs = two
    expect(ours.page.locator("[data-viewers]")).to_contain_text("ben-")
    expect(theirs.page.locator("[data-viewers]")).to_contain_text("owner")
    theirs.press("j")
    row = ours.page.locator(".item-row").nth(1)
    expect(row.locator("[data-row-viewers]")).to_contain_text("ben-")
    assert "owner" not in ours.page.locator("[data-rows]").inner_text()


def test_answers_of_others_appear(two: Two) -> None:
    ours, theirs = two
    second, third = ours.rows[1:3]
    theirs.press("j")
    theirs.expect_shown(second)
    theirs.press("Enter")
    expect(ours.page.locator(f'.item-row[data-id="{second}"]')).to_have_count(0)
    count = ours.page.locator("[data-open-count]")
    expect(count).to_have_text("29")
    ours.press("Enter")
    ours.expect_shown(third)
    theirs.press("u")
    theirs.expect_answer(second, None)
    expect(ours.page.locator(f'.item-row[data-id="{second}"]')).to_have_count(1)


def test_new_items_appear(two: Two) -> None:
    ours, _ = two
    ours.site.calls.post("items", {"id": "brand-new", "text": "a flight to lisbon"})
    expect(ours.page.locator('.item-row[data-id="brand-new"]')).to_have_count(1)
    expect(ours.page.locator("[data-open-count]")).to_have_text("31")


def test_somebody_files_what_is_shown(two: Two) -> None:
    ours, theirs = two
    id = ours.id
    assert theirs.id == id
    theirs.choose_only("press")
    theirs.press("Enter")
    offer = ours.page.locator("[data-offer]")
    expect(offer).to_contain_text("has filed this: press")
    assert ours.id == id
    offer.get_by_role("button", name="Show").click()
    expect(ours.page.locator(".present")).to_contain_text("ben-")
    assert ours.chosen == ["press"]


def test_a_conflict_is_shown_and_nothing_is_overwritten(two: Two) -> None:
    ours, theirs = two
    ours.window.notes.allow("status of 409")
    id = ours.id
    title = ours.title
    ours.choose_only("travel")
    theirs.choose_only("press")
    theirs.press("Enter")
    theirs.expect_answer(id, ["press"])
    ours.press("Enter")
    message = ours.messages.locator(".notice.error")
    expect(message).to_contain_text(f"{title} was not saved")
    expect(message).to_contain_text("press")
    assert ours.site.answers_to(id) == [["press"]]
    message.get_by_role("button", name="Change it to travel").click()
    ours.expect_answer(id, ["travel"])
    assert ours.site.answers_to(id) == [["press"], ["travel"]]


def test_a_conflict_after_being_offline(two: Two) -> None:
    ours, theirs = two
    ours.window.notes.allow("ERR_INTERNET_DISCONNECTED")
    ours.window.notes.allow("status of 409")
    id = ours.id
    ours.choose_only("travel")
    theirs.choose_only("press")
    ours.window.context.set_offline(True)
    ours.press("Enter")
    theirs.press("Enter")
    theirs.expect_answer(id, ["press"])
    ours.window.context.set_offline(False)
    message = ours.messages.locator(".notice.error")
    expect(message).to_contain_text("was not saved")
    assert ours.site.answers_to(id) == [["press"]]
    message.get_by_role("button", name="Open it").click()
    ours.expect_shown(id)
    assert ours.chosen == ["press"]


def test_a_correction_of_an_answer_that_has_changed(
    site: Site, colleague: Site, open_window: Callable[..., Window]
) -> None:
    ours = FilingPage(site, open_window(site), "/items/note-03")
    theirs = FilingPage(colleague, open_window(colleague), "/items/note-03")
    ours.window.notes.allow("status of 409")
    before = len(site.answers_to("note-03"))
    ours.choose_only("travel")
    theirs.choose_only("hiring")
    theirs.press("Enter")
    theirs.expect_answer("note-03", ["hiring"])
    ours.press("Enter")
    expect(ours.messages.locator(".notice.error")).to_contain_text("was not saved")
    assert site.labels_of("note-03") == ["hiring"]
    assert len(site.answers_to("note-03")) == before + 1


def test_the_same_answer_by_two_at_once(two: Two) -> None:
    ours, theirs = two
    for each in two:
        each.window.notes.allow("status of 409")
    id = ours.id
    ours.choose_only("travel")
    theirs.choose_only("travel")
    ours.press("Enter")
    theirs.press("Enter")
    ours.expect_answer(id, ["travel"])
    ours.expect_steady()
    theirs.expect_steady()
    assert ours.site.labels_of(id) == ["travel"]


def test_somebody_who_may_only_read(site: Site, open_window: Callable[..., Window]) -> None:
    reader = site.colleague(f"eve-{next(_names)}", "--read-only")
    filing = FilingPage(reader, open_window(reader))
    id = filing.id
    assert filing.page.locator("main form[method=post] button").count() == 0
    filing.press("1", "Enter", "0", "s", "n", "/", "u")
    filing.expect_steady()
    assert site.labels_of(id) is None
    filing.press("j")
    filing.expect_shown(filing.rows[1])
