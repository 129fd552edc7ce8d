"""Labels, history and settings in Chromium, by mouse and by keyboard, each change undone again."""

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.services.page.browser import Window
from tests.services.page.hands import Hand, with_both_hands
from tests.services.page.site import Site

STATES = "items?state=answered&limit=1000"


@pytest.fixture
def page(window: Window) -> Page:
    return window.page


def label_counts(site: Site) -> dict[str, int]:
    """The labels, and how many items each has."""
    return {each["name"]: each["items"] for each in site.calls.get("labels").json["labels"]}


def answers(site: Site) -> dict[str, list[str]]:
    """The answers to all items, with labels in their order."""
    found: dict[str, list[str]] = {}
    after = ""
    while after is not None:
        part = site.calls.get(f"{STATES}{after and '&cursor=' + quote(after)}").json
        found |= {each["id"]: sorted(each["labels"]) for each in part["items"]}
        after = part.get("next")
    return found


def settings(site: Site) -> Any:
    return site.calls.get("settings").json


def open_label(hand: Hand, site: Site, page: Page, label: str) -> None:
    """Go from the filing view to a label."""
    page.goto(site.url())
    hand.press(page.get_by_role("navigation", name="Views").get_by_role("link", name="Labels"))
    hand.press(page.locator("table").get_by_role("link", name=label, exact=True))
    expect(page.get_by_role("heading", level=1)).to_have_text(label)


def effect(page: Page, title: str) -> str:
    """The effect of a change, as its preview tells."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    return page.locator(".effect").inner_text()


def notice(page: Page, text: str) -> Locator:
    found = page.get_by_role("status").filter(has_text=text)
    expect(found).to_be_visible()
    return found


def undo(hand: Hand, page: Page, text: str) -> None:
    """Undo the change that the notice tells about, and wait until the page says so."""
    hand.press(notice(page, text).get_by_role("button", name="Undo"))
    notice(page, f"Undone: {text}")


@with_both_hands
def test_a_label_is_renamed(site: Site, page: Page, hand: Hand) -> None:
    before, items = label_counts(site), answers(site)
    open_label(hand, site, page, "press")
    hand.write(page.get_by_label("New name"), "média & <b>")
    hand.press(page.get_by_role("button", name="Rename"))
    told = effect(page, "Rename press to média & <b>?")
    assert f"{before['press']} items show the new name" in told
    assert label_counts(site) == before
    hand.press(page.get_by_role("button", name="Rename"))
    expect(page.get_by_role("heading", level=1)).to_have_text("média & <b>")
    renamed = {"média & <b>" if name == "press" else name: n for name, n in before.items()}
    assert label_counts(site) == renamed
    undo(hand, page, "Label “press” was renamed to “média & <b>”")
    assert label_counts(site) == before
    assert answers(site) == items


@with_both_hands
def test_a_label_is_merged(site: Site, page: Page, hand: Hand) -> None:
    before, items = label_counts(site), answers(site)
    open_label(hand, site, page, "press")
    hand.pick(page.get_by_label("The label that stays"), "newsletters")
    hand.press(page.get_by_role("button", name="Merge"))
    told = effect(page, "Merge press into newsletters?")
    assert f"{before['press']} items get the label “newsletters”" in told
    assert f"which {before['newsletters']} items have already" in told
    assert label_counts(site) == before
    hand.press(page.get_by_role("button", name="Merge"))
    expect(page.get_by_role("heading", level=1)).to_have_text("newsletters")
    assert "press" not in label_counts(site)
    merged = {"press": "newsletters"}
    assert answers(site) == {
        id: sorted({merged.get(each, each) for each in labels}) for id, labels in items.items()
    }
    undo(hand, page, "Label “press” was merged into “newsletters”")
    assert label_counts(site) == before
    assert answers(site) == items


@with_both_hands
def test_a_label_is_forgotten(site: Site, page: Page, hand: Hand) -> None:
    before, items = label_counts(site), answers(site)
    alone = [id for id, labels in items.items() if labels == ["press"]]
    open_label(hand, site, page, "press")
    hand.press(page.get_by_role("link", name="Forget this label"))
    told = effect(page, "Forget press?")
    assert f"{before['press']} items lose this label" in told
    assert f"{len(alone)} items of these have no other label" in told
    hand.press(page.get_by_role("link", name="Cancel"))
    expect(page.get_by_role("heading", level=1)).to_have_text("press")
    assert label_counts(site) == before
    hand.press(page.get_by_role("link", name="Forget this label"))
    hand.press(page.get_by_role("button", name="Forget"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Labels")
    assert "press" not in label_counts(site)
    after = answers(site)
    assert after.keys() == items.keys()
    assert all(after[id] == [] for id in alone)
    undo(hand, page, "Label “press” was forgotten")
    assert label_counts(site) == before
    assert answers(site) == items


@with_both_hands
def test_a_label_is_never_filed_without_asking(site: Site, page: Page, hand: Hand) -> None:
    open_label(hand, site, page, "travel")
    hand.choose(page.get_by_label("Never: always ask"))
    hand.press(page.get_by_role("button", name="Save"))
    undoable = "“travel” is never filed without asking"
    notice(page, undoable)
    facts = site.calls.get("labels").json["labels"]
    assert [each["name"] for each in facts if each["min_precision"] == "never"] == ["travel"]
    page.goto(site.url("/sure"))
    assert "travel" not in page.locator("main").inner_text()
    page.go_back()
    undo(hand, page, undoable)
    facts = site.calls.get("labels").json["labels"]
    assert all(each["min_precision"] is None for each in facts)


@with_both_hands
def test_an_answer_is_undone_and_done_again_in_the_history(
    site: Site, page: Page, hand: Hand
) -> None:
    id = site.open_ids()[0]
    answered = f"“{site.item(id)['title']}”: support, travel"
    site.calls.post(f"items/{id}/answer", {"labels": ["support", "travel"]})
    page.goto(site.url())
    hand.press(page.get_by_role("link", name="History"))
    hand.pick(page.get_by_label("What"), "answers")
    hand.press(page.get_by_role("button", name="Show"))
    row = page.locator(".event-row").first
    expect(row).to_contain_text(answered)
    expect(row).to_contain_text("owner")
    undos = len(site.events("undo"))
    hand.press(row.get_by_role("button", name="Undo"))
    notice(page, f"Undone: {answered}")
    assert site.labels_of(id) is None
    assert len(site.events("undo")) == undos + 1
    expect(page.locator(".event-row.undone").first).to_contain_text(answered)
    hand.press(page.locator(".event-row").first.get_by_role("button", name="Redo"))
    notice(page, f"Done again: {answered}")
    assert sorted(site.labels_of(id) or []) == ["support", "travel"]


@with_both_hands
def test_undoing_what_others_depend_on_asks_first(
    site: Site, window: Window, page: Page, hand: Hand
) -> None:
    window.notes.allow("status of 409")
    before = label_counts(site)
    for name, to in (("press", "media"), ("media", "the press")):
        assert site.calls.send("PATCH", f"labels/{name}", {"name": to}).status == 200
    page.goto(site.url("/history?kind=labels"))
    row = page.locator(".event-row").filter(has_text="was renamed to “media”")
    for name in ("Keep everything", "Undo all of them"):
        hand.press(row.get_by_role("button", name="Undo"))
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "Other changes depend on this one"
        )
        expect(page.locator(".undo-list")).to_contain_text("“media” was renamed to “the press”")
        assert "the press" in label_counts(site)
        hand.press(page.get_by_role("link", name=name).or_(page.get_by_role("button", name=name)))
        page.wait_for_url("**/history**")
    notice(page, "Undone")
    assert label_counts(site) == before


@with_both_hands
def test_settings_change_the_filing_view(site: Site, page: Page, hand: Hand) -> None:
    page.goto(site.url())
    chips = page.locator("[data-chips] [name=labels]")
    expect(chips.first).to_have_attribute("type", "checkbox")
    hand.press(page.get_by_role("link", name="Settings"))
    hand.choose(page.get_by_label("Exactly one"))
    hand.write(page.get_by_label("How many have to be right"), "99.5")
    hand.press(page.get_by_role("button", name="Save"))
    changed = page.get_by_role("status").filter(has=page.get_by_role("button", name="Undo"))
    expect(changed).to_be_visible()
    found = settings(site)
    assert (found["one_label"], found["min_precision"]) == (True, 0.995)
    assert len(site.events("settings")) == 1
    hand.press(page.get_by_role("link", name="Filing"))
    expect(chips.first).to_have_attribute("type", "radio")
    hand.press(page.get_by_role("link", name="History"))
    hand.press(page.locator(".event-row").first.get_by_role("button", name="Undo"))
    notice(page, "Undone")
    hand.press(page.get_by_role("link", name="Filing"))
    expect(chips.first).to_have_attribute("type", "checkbox")
    found = settings(site)
    assert (found["one_label"], found["min_precision"]) == ("auto", 0.95)


@with_both_hands
def test_the_trust_view_has_its_numbers_as_tables(site: Site, page: Page, hand: Hand) -> None:
    page.goto(site.url())
    hand.press(page.get_by_role("link", name="Trust"))
    charts = page.locator("svg[role=img]:visible")
    expect(charts.first).to_be_visible()
    figures = page.locator("figure").filter(has=page.locator("svg[role=img]"))
    assert figures.count() >= 3
    assert page.locator("figure:has(svg[role=img]):not(:has(table))").count() == 0
    summaries = page.get_by_text("The numbers as a table")
    for place in range(summaries.count()):
        table = page.locator(".numbers table").nth(place)
        expect(table).to_be_hidden()
        hand.press(summaries.nth(place))
        expect(table).to_be_visible()
        assert table.locator("tbody tr").count() > 1
    rows = page.locator(".numbers table").first.locator("tbody tr").all_inner_texts()
    targets = site.calls.get("report").json["report"]["coverage"]["overall"]["targets"]
    assert [row.split("\t")[:2] for row in rows] == [
        [f"{100 * each['target']:.0f} %", str(each["marked"])] for each in targets
    ]
