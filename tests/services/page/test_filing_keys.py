"""Filing with the keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.services.page.browser import Window
from tests.services.page.content import OPEN
from tests.services.page.filing_page import FilingPage
from tests.services.page.site import Site


@pytest.fixture
def filing(site: Site, window: Window) -> FilingPage:
    return FilingPage(site, window)


def test_enter_files_and_the_next_item_is_there(filing: FilingPage) -> None:
    first, second = filing.rows[:2]
    assert filing.id == first
    labels = filing.chosen
    assert labels
    filing.press("Enter")
    filing.expect_shown(second)
    assert filing.page.url == filing.site.item_url(second)
    filing.expect_answer(first, labels)
    expect(filing.page.locator("[data-open-count]")).to_have_text(str(OPEN - 1))
    assert first not in filing.rows


def test_digits_choose_labels_and_take_them_back(filing: FilingPage) -> None:
    id, labels = filing.id, filing.labels
    before = filing.chosen
    filing.press("2")
    assert set(filing.chosen) == set(before) ^ {labels[1]}
    filing.press("2")
    assert filing.chosen == before
    filing.press("1", "2", "3")
    wanted = [each for each in labels if (each in labels[:3]) != (each in before)]
    assert filing.chosen == wanted
    filing.press("Enter")
    filing.expect_answer(id, wanted)


def test_without_a_label_nothing_is_filed(filing: FilingPage) -> None:
    id = filing.id
    for label in filing.chosen:
        filing.press(str(filing.labels.index(label) + 1))
    filing.press("Enter")
    expect(filing.page.locator("[data-form-problem]")).to_contain_text("Choose a label")
    assert filing.id == id
    assert filing.site.labels_of(id) is None


def test_a_label_is_found_despite_a_typing_error(filing: FilingPage) -> None:
    id = filing.id
    wanted = "newsletters"
    assert wanted not in filing.chosen
    before = filing.chosen
    filing.press("/")
    filing.page.keyboard.type("newsleters")
    expect(filing.page.get_by_role("option").first).to_contain_text(wanted)
    filing.press("Enter")
    expect(filing.page.locator("[data-chips] :checked")).to_have_count(len(before) + 1)
    assert set(filing.chosen) == {*before, wanted}
    filing.press("Enter")
    filing.expect_answer(id, [*before, wanted])


def test_options_are_walked_with_arrows_and_left_with_escape(filing: FilingPage) -> None:
    page, before = filing.page, filing.chosen
    box = page.get_by_role("combobox", name="Search for a label")
    filing.press("/")
    expect(box).to_be_focused()
    page.keyboard.type("e")
    expect(page.get_by_role("option").nth(2)).to_be_visible()
    filing.press("ArrowDown", "ArrowDown", "ArrowUp")
    active = box.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    assert page.locator("[role=option][aria-selected=true]").count() == 1
    filing.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    filing.press("Escape")
    expect(box).not_to_be_focused()
    assert filing.chosen == before


def test_a_new_label_is_made(filing: FilingPage) -> None:
    id, before = filing.id, filing.chosen
    name = "Büro & <b>Küche</b>"
    filing.press("n")
    filing.page.keyboard.type(name)
    expect(filing.page.get_by_role("option", name="Make the label")).to_contain_text(name)
    filing.press("Enter")
    expect(filing.page.locator("[data-chips] :checked")).to_have_count(len(before) + 1)
    filing.press("Enter")
    filing.expect_answer(id, [*before, name])
    known = [each["name"] for each in filing.site.calls.get("labels").json["labels"]]
    assert name in known


def test_u_undoes_the_last_answers_one_by_one(filing: FilingPage) -> None:
    first, second, third = filing.rows[:3]
    for place in (second, third):
        filing.press("Enter")
        filing.expect_shown(place)
    filing.press("u")
    filing.expect_shown(second)
    filing.expect_answer(second, None)
    filing.press("u")
    filing.expect_shown(first)
    filing.expect_answer(first, None)
    filing.press("u")
    expect(filing.messages).to_contain_text("Nothing was changed here")
    filing.wait_until(lambda: {first, second} <= set(filing.rows), True)


def test_s_puts_an_item_off(filing: FilingPage) -> None:
    first, second = filing.rows[:2]
    filing.press("s")
    filing.expect_shown(second)
    filing.wait_until(lambda: filing.site.open_ids()[-1], first)
    assert filing.site.labels_of(first) is None
    filing.wait_until(lambda: filing.rows[-1], first)


def test_0_says_none_of_these(filing: FilingPage) -> None:
    first, second = filing.rows[:2]
    filing.press("0")
    filing.expect_shown(second)
    filing.expect_answer(first, [])


def test_j_and_k_walk_and_the_browser_goes_back(filing: FilingPage) -> None:
    rows = filing.rows
    filing.press("j")
    filing.expect_shown(rows[1])
    filing.press("j")
    filing.expect_shown(rows[2])
    filing.press("k")
    filing.expect_shown(rows[1])
    expect(filing.page.locator(".item-row a[aria-current]")).to_have_count(1)
    filing.page.go_back()
    filing.expect_shown(rows[2])
    filing.page.go_back()
    filing.expect_shown(rows[1])
    assert filing.rows == rows


def test_w_shows_the_reasons_for_one_label_after_another(filing: FilingPage) -> None:
    page = filing.page
    reasons = page.locator("[data-reasons]")
    filing.press("w")
    expect(reasons).to_have_attribute("open", "")
    first, second = filing.labels[:2]
    expect(reasons.locator("summary")).to_contain_text(first)
    filing.press("w")
    expect(reasons.locator("summary")).to_contain_text(second)
    expect(reasons).to_have_attribute("open", "")
    expect(page.locator(".legend-label")).to_have_text(second)
    expect(page.locator(".item-text mark").first).to_have_attribute("title")


def test_f_files_all_that_is_sure_with_a_preview_and_one_undo(filing: FilingPage) -> None:
    page, site = filing.page, filing.site
    before = set(site.open_ids())
    filing.press("f")
    page.wait_for_url("**/sure")
    told = page.get_by_role("button", name="File")
    count = page.locator("tbody tr").count()
    assert count > 3
    assert set(site.open_ids()) == before
    expect(told).to_have_text(f"File {count} items")
    for _ in range(30):
        if told.evaluate("button => button === document.activeElement"):
            break
        filing.press("Tab")
    filing.press("Enter")
    page.wait_for_url(lambda address: "/sure" not in address)
    expect(page.get_by_role("status").filter(has_text="filed without asking")).to_be_visible()
    assert len(before - set(site.open_ids())) == count
    for _ in range(40):
        if page.evaluate("document.activeElement.textContent.trim()") == "Undo":
            break
        filing.press("Tab")
    filing.press("Enter")
    filing.wait_until(lambda: set(site.open_ids()), before)


def test_u_undoes_what_the_notice_tells_about_before_older_answers(filing: FilingPage) -> None:
    page, site = filing.page, filing.site
    answered = filing.id
    filing.press("Enter")
    filing.wait_until(lambda: site.labels_of(answered) is not None, True)
    before = set(site.open_ids())
    filing.press("f")
    page.wait_for_url("**/sure")
    page.get_by_role("button", name="File").click()
    page.wait_for_url(lambda address: "/sure" not in address)
    assert len(before - set(site.open_ids())) > 3
    filing.press("u")
    expect(page.get_by_role("status").filter(has_text="Undone: ")).to_be_visible()
    assert set(site.open_ids()) == before
    assert site.labels_of(answered) is not None
    page.wait_for_load_state()  # the notice is shown before the script has been loaded
    filing.press("u")
    filing.expect_answer(answered, None)


def test_u_undoes_a_change_of_another_view_before_older_answers(filing: FilingPage) -> None:
    page, site = filing.page, filing.site
    answered = filing.id
    filing.press("Enter")
    filing.wait_until(lambda: site.labels_of(answered) is not None, True)
    filing.expect_steady()  # the page knows it too: otherwise it would ask before it is left
    page.goto(site.url("/labels"))
    page.get_by_label("New label").fill("brand new")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("status").filter(has_text="was made")).to_be_visible()
    page.get_by_role("link", name="Filing").click()
    page.wait_for_url(site.url())  # and for its script
    filing.press("u")
    expect(filing.messages).to_contain_text("Undone: Label “brand new” was made")
    names = [each["name"] for each in site.calls.get("labels").json["labels"]]
    assert "brand new" not in names
    assert site.labels_of(answered) is not None


def test_u_goes_back_to_an_item_that_was_put_off(filing: FilingPage) -> None:
    first, second, third = filing.rows[:3]
    filing.press("Enter")
    filing.expect_shown(second)
    filing.wait_until(lambda: filing.site.labels_of(first) is not None, True)
    filing.press("s")
    filing.expect_shown(third)
    filing.press("u")
    filing.expect_shown(second)
    filing.expect_steady()
    assert filing.site.labels_of(first) is not None
    assert not filing.site.events("undo")[1:]  # one is in the workspace from the beginning
    filing.press("u")
    filing.expect_answer(first, None)


def test_help_lists_the_keys_which_can_be_switched_off(filing: FilingPage) -> None:
    page, id = filing.page, filing.id
    filing.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for key in ("Enter", "/", "n", "0", "s", "u", "w", "j", "k", "f", "?", "Esc"):
        assert dialog.locator("kbd", has_text=key).count() >= 1, key
    filing.press("s", "0")
    box = dialog.get_by_role("checkbox")
    box.focus()
    filing.press("Space", "Escape")
    expect(dialog).to_be_hidden()
    filing.press("0", "s", "j")
    page.reload()
    filing.press("0", "s", "j")
    filing.expect_steady()
    assert filing.id == id
    assert filing.site.labels_of(id) is None
    page.get_by_role("button", name="Keys").click()
    dialog.get_by_role("checkbox").check()
    filing.press("Escape", "j")
    filing.expect_shown(filing.rows[1])


def test_letters_in_a_field_are_text(filing: FilingPage) -> None:
    id = filing.id
    filing.page.get_by_role("searchbox").focus()
    filing.page.keyboard.type("suj0?/")
    expect(filing.page.get_by_role("searchbox")).to_have_value("suj0?/")
    assert filing.id == id
    assert filing.site.labels_of(id) is None


def test_keys_of_the_browser_are_left_alone(filing: FilingPage) -> None:
    id = filing.id
    filing.press("Control+j", "Alt+0", "Control+Enter")
    filing.expect_steady()
    assert filing.id == id
    assert filing.site.labels_of(id) is None


def test_one_label(new_site: Callable[..., Site], open_window: Callable[..., Window]) -> None:
    site = new_site("one-label")
    filing = FilingPage(site, open_window(site))
    id, labels = filing.id, filing.labels
    filing.press("3")
    assert filing.chosen == [labels[2]]
    filing.press("2")
    assert filing.chosen == [labels[1]]
    filing.press("Enter")
    filing.expect_answer(id, [labels[1]])


def test_everything_is_filed_with_enter(filing: FilingPage) -> None:
    first = set(filing.rows)
    for left in range(OPEN, 0, -1):
        expect(filing.page.locator("[data-item]")).to_have_count(1)
        id = filing.id
        if not filing.chosen:
            filing.press("1")
        filing.press("Enter")
        if left > 1:
            expect(filing.page.locator("[data-item]")).not_to_have_attribute("data-item", id)
    expect(filing.page.get_by_role("heading", name="All done")).to_be_visible()
    filing.wait_until(filing.site.open_ids, [])
    assert all(len(filing.site.answers_to(id)) == 1 for id in first)
