"""Filing with the mouse alone."""

import pytest
from playwright.sync_api import expect

from tests.services.page.browser import Window
from tests.services.page.filing_page import FilingPage
from tests.services.page.site import Site


@pytest.fixture
def filing(site: Site, window: Window) -> FilingPage:
    return FilingPage(site, window)


def test_chips_and_the_button_file_an_item(filing: FilingPage) -> None:
    first, second = filing.rows[:2]
    before, added = filing.chosen, filing.labels[3]
    filing.page.locator(".chip-choice").nth(3).click()
    assert set(filing.chosen) == {*before, added}
    filing.button("File").first.click()
    filing.expect_shown(second)
    filing.expect_answer(first, [*before, added])


def test_a_message_offers_to_undo(filing: FilingPage) -> None:
    first, second = filing.rows[:2]
    filing.button("None of these").click()
    filing.expect_shown(second)
    filing.expect_answer(first, [])
    filing.messages.get_by_role("button", name="Undo").click()
    filing.expect_shown(first)
    filing.expect_answer(first, None)
    expect(filing.messages).to_contain_text("Undone")


def test_later(filing: FilingPage) -> None:
    first, second = filing.rows[:2]
    filing.button("Later").click()
    filing.expect_shown(second)
    filing.wait_until(lambda: filing.site.open_ids()[-1], first)


def test_rows_open_items_and_keep_the_list(filing: FilingPage) -> None:
    rows = filing.rows
    filing.page.locator(".item-row a").nth(4).click()
    filing.expect_shown(rows[4])
    assert filing.rows == rows
    filing.page.reload()
    filing.expect_shown(rows[4])


def test_an_answer_is_corrected(filing: FilingPage) -> None:
    page, site = filing.page, filing.site
    page.get_by_label("Which items").select_option("answered")
    page.wait_for_url("**state=answered**")
    page.locator(".item-row", has_text="note-").or_(
        page.locator('[data-id="note-05"]')
    ).first.click()
    filing.expect_shown("note-05")
    before = filing.chosen
    assert before == site.labels_of("note-05")
    other = next(place for place, each in enumerate(filing.labels) if each not in before)
    label = filing.labels[other]
    page.locator(".chip-choice").nth(other).click()
    filing.button("Correct").click()
    filing.expect_answer("note-05", [*before, label])
    expect(page.locator(f'[data-chips] input[value="{label}"]')).to_be_checked()
    filing.messages.get_by_role("button", name="Undo").click()
    filing.expect_answer("note-05", before)


def test_a_label_is_picked_from_the_search(filing: FilingPage) -> None:
    id, before = filing.id, filing.chosen
    label = next(each for each in filing.labels if each not in before)
    filing.page.get_by_role("combobox", name="Search for a label").fill(label)
    filing.page.get_by_role("option", name=label).first.click()
    expect(filing.page.locator("[data-chips] :checked")).to_have_count(len(before) + 1)
    filing.button("File").first.click()
    filing.expect_answer(id, [*before, label])


def test_reasons_of_a_label(filing: FilingPage) -> None:
    page, label = filing.page, filing.labels[2]
    page.get_by_role("link", name=f"Why {label}").click()
    expect(page.locator(".legend-label")).to_have_text(label)
    summary = page.locator("[data-reasons] summary")
    expect(summary).to_contain_text(label)
    summary.click()
    numbers = page.locator("[data-reasons] td.number").all_inner_texts()
    assert len(numbers) > 3
    # The parts add up to the score, as far as they are shown.
    values = [float(each.replace("−", "-")) for each in numbers]
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.01 * len(values))


def test_searching_items(filing: FilingPage) -> None:
    page = filing.page
    word = filing.title.split()[0].lower()
    page.get_by_role("searchbox").fill(word)
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url(f"**q={word}**")
    assert 0 < len(filing.rows) < 30
    assert word in page.locator(".item-text").inner_text().lower()
    page.get_by_role("searchbox").fill("nothing-has-this-word")
    page.get_by_role("searchbox").press("Enter")
    expect(page.get_by_role("heading", name="No item fits")).to_be_visible()


def test_items_of_one_source(filing: FilingPage) -> None:
    filing.page.get_by_label("Source").select_option("scanner")
    filing.page.wait_for_url("**source=scanner**")
    expected = filing.site.calls.get("items?state=open&source=scanner&limit=100").json["items"]
    assert filing.rows == [each["id"] for each in expected]
    first, second = filing.rows[:2]
    labels = filing.chosen
    filing.button("File").first.click()
    filing.expect_shown(second)
    filing.expect_answer(first, labels)
    assert "source=scanner" in filing.page.url


def test_the_least_certain_items_first(filing: FilingPage) -> None:
    filing.page.get_by_label("Order").select_option("unsure")
    filing.page.wait_for_url("**order=unsure**")
    expected = filing.site.calls.get("items?state=open&order=unsure&limit=100").json["items"]
    assert filing.rows == [each["id"] for each in expected]


def test_an_item_is_deleted_for_good(filing: FilingPage) -> None:
    id = filing.id
    filing.page.get_by_text("More", exact=True).click()
    filing.page.get_by_role("link", name="Delete for good").click()
    expect(filing.page.get_by_role("heading", level=1)).to_contain_text("for good?")
    assert id in filing.site.open_ids()
    filing.page.get_by_role("link", name="Cancel").click()
    filing.expect_shown(id)
    filing.page.get_by_text("More", exact=True).click()
    filing.page.get_by_role("link", name="Delete for good").click()
    filing.button("Delete for good").click()
    filing.page.wait_for_url(lambda address: "/forget" not in address)
    filing.wait_until(lambda: id in filing.site.open_ids(), False)


def test_file_all_that_is_sure(filing: FilingPage) -> None:
    page, site = filing.page, filing.site
    before = set(site.open_ids())
    page.get_by_role("link", name="File all that is sure").click()
    count = page.locator("tbody tr").count()
    page.get_by_role("link", name="Not now").click()
    assert set(site.open_ids()) == before
    page.get_by_role("link", name="File all that is sure").click()
    page.get_by_role("button", name="File").click()
    page.wait_for_url(lambda address: "/sure" not in address)
    assert len(before - set(site.open_ids())) == count
    page.get_by_role("button", name="Undo").first.click()
    filing.wait_until(lambda: set(site.open_ids()), before)
