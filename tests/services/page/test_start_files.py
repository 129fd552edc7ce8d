"""The start view in Chromium: files by choice and by drop, with and without script; accessible."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.services.page.axe import assert_accessible
from tests.services.page.browser import NARROW, SMALLEST, WIDE, Window
from tests.services.page.site import Site

ROWS = [f"the invoice number {n},money\nthe flight number {n},travel\n" for n in range(100)]
CSV = "subject,category\n" + "".join(ROWS) + "an invoice,\none,two,three\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tickets.csv"
    path.write_text(CSV)
    return path


def learn(page: Page) -> None:
    page.get_by_role("button", name="Learn these files").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("200 items learnt")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_file_is_learnt_and_undone(
    site: Site, new_window: Callable[..., Window], table: Path, script: bool
) -> None:
    page = new_window(java_script_enabled=script).page
    page.goto(site.url("/start"))
    page.get_by_label("Drop files here").set_input_files(table)
    learn(page)
    expect(page.get_by_text("tickets.csv:203: the row has 3 cells")).to_be_visible()
    before = len(site.open_ids())
    page.get_by_role("button", name="Undo this import").click()
    expect(page.get_by_role("button", name="Redo")).to_be_visible()
    assert len(site.open_ids()) == before - 1


def test_files_can_be_dropped_anywhere_in_the_area(site: Site, window: Window) -> None:
    """The area is the file input itself, which takes dropped files without a script."""
    page = window.page
    page.goto(site.url("/start"))
    area = page.locator(".drop").bounding_box()
    assert area is not None
    for across, down in ((0.05, 0.1), (0.5, 0.2), (0.5, 0.45), (0.95, 0.9)):
        x, y = area["x"] + across * area["width"], area["y"] + down * area["height"]
        assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).id", [x, y]) == "file"


def test_every_state_is_accessible_and_fits(
    site: Site, window: Window, table: Path, tmp_path: Path
) -> None:
    page = window.page
    window.notes.allow("status of 422")
    alien = tmp_path / "alien.csv"
    alien.write_text(CSV.replace("subject,category", "Betreff,Ablage"))

    def check() -> None:
        for size in (SMALLEST, NARROW, WIDE):
            window.resize(size)
            assert window.sideways() == []
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            assert_accessible(page)
        assert window.policy_violations() == []

    page.goto(site.url("/start"))
    check()
    page.get_by_label("Drop files here").set_input_files(alien)
    page.get_by_role("button", name="Learn these files").click()
    expect(page.get_by_role("alert")).to_contain_text("Betreff, Ablage")
    check()
    page.get_by_label("Drop files here").set_input_files(table)
    learn(page)
    check()
