"""The trust view: the figures are those of the workspace, whatever there is to measure."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest

from tagalong import Item
from tagalong.journal import Workspace
from tagalong.learning.certificates import Certificate
from tagalong.printable import printable
from tagalong.server.page.trust.headline import precision_text
from tests.server.api_server import Api
from tests.server.page.pages import Element, visit

WORDS = {
    "travel": "flight hotel train lisbon passport gate booking",
    "money": "invoice payment amount account tax refund bank",
    "press": "journalist quote article statement deadline photo release",
}
HOSTILE = "<img src=x onerror=alert(1)>\u202e \x1b[31m \"q\" 'a' & ../x?y#z"


def mails(count: int, seed: int = 0) -> list[Item]:
    """Short texts with one label each, some of them hard."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        label = rng.choice(list(WORDS))
        words = (" ".join(WORDS.values()) if rng.random() < 0.2 else WORDS[label]).split()
        text = " ".join(rng.choices(words, k=5))
        found.append(Item(id=f"mail {seed} {number}", text=text, labels=(label,)))
    return found


def taught(workspace: Workspace, count: int, seed: int = 0) -> None:
    workspace.add_many(mails(count, seed), source="archive", actor="owner")
    workspace.settle(60)


@pytest.fixture
def open_workspace(api: Api) -> Callable[[], Workspace]:
    """The workspace of the test, as the server has it open."""

    def found() -> Workspace:
        api.get("model")
        return api.service.workspaces.loaded[api.workspace]

    return found


@pytest.fixture(scope="module")
def many(server: Api) -> tuple[Api, Workspace]:
    """A workspace with enough answers for all figures."""
    made = server.post("/api/v1/workspaces", {"name": "many"})
    assert made.status == 201, made
    api = replace(server, workspace="many")
    api.patch("settings", {"one_label": True})
    workspace = server.service.workspaces.loaded["many"]
    taught(workspace, 700)
    return api, workspace


def part(page: Element, name: str) -> Element:
    return page.one("section", aria_labelledby=name)


def percent(share: float) -> str:
    """A share as the page shows it; only exactly all is 100 %."""
    rounded = round(100 * share)
    return ">99 %" if rounded == 100 and share < 1 else f"{rounded} %"


def table(within: Element) -> list[list[str]]:
    return [[cell.text for cell in row.all("td")] for row in within.one("tbody").all("tr")]


def lead(page: Element) -> str:
    return page.one("p", class_="trust-lead").text


def test_without_answers_the_page_says_what_will_be_measured(api: Api):
    page = visit(api, "/trust")
    assert "Nothing to measure yet" in page.text
    assert "After 50 answers" in page.text
    assert not page.all("svg", role="img")


def test_with_few_answers_the_page_says_how_many_are_missing(api: Api, open_workspace: Any):
    taught(open_workspace(), 12)
    first = open_workspace().report().coverage.overall
    page = visit(api, "/trust")
    missing = 50 - first.suggested
    assert lead(page) == f"Not yet: {missing} more answers until there is enough to measure."
    assert f"the first suggestion was right {first.right} times" in page.text
    assert f"{missing} answers more" in part(page, "accuracy").text
    assert f"{100 - first.judged} answers more" in part(page, "calibration").text
    assert not page.all("svg", role="img")


def test_the_first_sentence_has_the_share_and_its_evidence(many: tuple[Api, Workspace]):
    api, workspace = many
    at = workspace.report().coverage.recent.at(0.95)
    assert at.sure > 50
    page = visit(api, "/trust")
    assert lead(page) == (
        f"Tagalong can file {percent(at.share)} of what comes in by itself if {percent(0.95)} of "
        "that must be right."
    )
    evidence = page.one("p", class_="trust-evidence").text
    assert f"last 700 answers: {at.sure} were sure" in evidence
    assert f"and {at.right} of these were right, {percent(at.precision)}" in evidence


def test_shares_at_three_targets_are_those_of_the_report(many: tuple[Api, Workspace]):
    api, workspace = many
    recent = workspace.report().coverage.recent
    shown = part(visit(api, "/trust"), "alone").one("ul", class_="targets plain-list")
    for target, entry in zip((0.9, 0.95, 0.99), shown.all("li"), strict=True):
        at = recent.at(target)
        assert f"if {percent(target)} must be right" in entry.text
        assert ("your setting" in entry.text) == (target == 0.95)
        if at.sure:
            assert f"{percent(at.share)} of the items" in entry.text
            assert f"{at.right} of {at.sure} were right: {percent(at.precision)}" in entry.text


def test_accuracy_and_start_are_those_of_the_report(many: tuple[Api, Workspace]):
    api, workspace = many
    report = workspace.report()
    shown = part(visit(api, "/trust"), "accuracy")
    assert f"{percent(report.coverage.recent.accuracy)} right at the first place" in shown.text
    start = report.coverage.starts[1].first_item
    assert f"item {start}: would have started to file alone, at 95 %" in shown.text
    assert table(shown)[-1] == [f"{100 * report.coverage.overall.accuracy:.1f} %"]


def test_calibration_is_that_of_the_report(many: tuple[Api, Workspace]):
    api, workspace = many
    found = workspace.report().calibration
    shown = part(visit(api, "/trust"), "calibration")
    assert f"off by {100 * found.first.error:.1f} points" in shown.text
    rows = table(shown)
    assert sum(int(row[0]) for row in rows) == found.first.counts.sum() == 200
    bins = [i for i in range(15) if found.first.counts[i]]
    expected = [f"{100 * found.first.right[i] / found.first.counts[i]:.1f} %" for i in bins]
    assert [row[2] for row in rows] == expected
    assert "from item 501 on" in shown.text


def test_weakest_labels_lead_to_items_with_them(many: tuple[Api, Workspace]):
    api, workspace = many
    report = workspace.report()
    weakest = min(report.per_label(), key=lambda one: one.found_first)
    entry = part(visit(api, "/trust"), "weak").one("ol").all("li", class_="weak-label")[0]
    assert entry.one("h3").text == weakest.label
    assert f"found {weakest.suggested_right} of {weakest.answered} times" in entry.text
    pair = next(one for one in report.answers.confusion if one.label == weakest.label)
    assert f"{pair.suggested} {pair.items} times" in entry.text
    links = [link.attributes["href"] for link in entry.all("a")]
    assert links
    for link in links:
        start, _, id = link.rpartition("/")
        assert start == "/w/many/items"
        assert workspace.item(unquote(id)).labels == [weakest.label]


def test_every_chart_has_a_name_a_description_and_a_table(many: tuple[Api, Workspace]):
    page = visit(many[0], "/trust")
    figures = page.all("figure")
    assert len(figures) == 3
    for figure in figures:
        charts = figure.all("svg", role="img")
        assert charts
        for chart in charts:
            ids = chart.attributes["aria-labelledby"].split()
            names = [page.one(id=id) for id in ids]
            assert [each.tag for each in names] == ["title", "desc"]
            assert all(each.text for each in names)
        assert len(figure.one("table").one("tbody").all("tr")) > 3
    ids = [each.attributes["id"] for each in page.all(id=None)]
    assert len(ids) == len(set(ids))


def test_nothing_needs_a_style_or_a_script(many: tuple[Api, Workspace]):
    page = visit(many[0], "/trust")
    assert not page.all(style=None)
    assert not page.all("style")
    assert [each.attributes["type"] for each in page.all("script")] == ["module"]
    assert not any(name.startswith("on") for each in page.all() for name in each.attributes)


def test_the_certificate_is_that_of_the_learner(many: tuple[Api, Workspace]):
    api, workspace = many
    found = workspace.report().certificate
    assert isinstance(found, Certificate)
    shown = part(visit(api, "/trust"), "certificate").text
    assert f"all {found.rounds:,} answers known, would cost at least {found.dual:,.1f}" in shown


def test_sorted_items_are_reported_and_no_figure_is_shown(api: Api, open_workspace: Any):
    sorted_mails = sorted(mails(300), key=lambda mail: mail.labels or ())
    open_workspace().add_many(sorted_mails, source="archive", actor="owner")
    open_workspace().settle(60)
    assert open_workspace().report().order == "sorted"
    page = visit(api, "/trust")
    assert lead(page) == "Do not rely on these figures: the items came sorted by label."
    assert page.one("section", aria_label="Warnings").one("h2").text == (
        "The items came sorted by label"
    )
    for name in ("alone", "calibration", "weak"):
        assert "Left out" in part(page, name).text


def test_spot_checks_and_filed_items_are_counted(api: Api, open_workspace: Any):
    workspace = open_workspace()
    workspace.change_settings(one_label=True, actor="owner")
    taught(workspace, 150)
    open_mails = [replace(mail, labels=None) for mail in mails(6, seed=1)]
    workspace.add_many(open_mails, source="inbox", actor="owner")
    ids = [str(mail.id) for mail in open_mails]
    workspace.file(ids[0], ["travel"], actor="owner")
    for id in ids[1:5]:
        workspace.file(id, ["travel"], asked=True, actor="owner")
    for id in ids[1:3]:
        workspace.answer(id, ["travel"], actor="ana")
    workspace.answer(ids[3], ["money"], actor="ana")
    page = visit(api, "/trust")
    shown = part(page, "checks")
    assert f"2 of 3 would have been filed rightly: {percent(2 / 3)}. 1 waits" in shown.text
    assert [link.text for link in shown.all("a")] == [ids[3]]
    assert "as travel; answered: money" in shown.text
    assert "1 item was filed without asking" in part(page, "alone").text


def test_several_labels_are_measured_by_labels(api: Api, open_workspace: Any):
    items = [
        replace(mail, labels=(*(mail.labels or ()), "all")) if number % 3 else mail
        for number, mail in enumerate(mails(300))
    ]
    open_workspace().add_many(items, source="archive", actor="owner")
    open_workspace().settle(60)
    report = open_workspace().report()
    at = report.coverage.recent.at(0.9)
    assert at.marked
    page = visit(api, "/trust")
    assert f"{percent(at.found)} of the right labels" in part(page, "alone").text
    assert len(part(page, "calibration").all("figure")) == 2


def test_hard_labels_name_what_was_suggested_if_items_have_several_labels(
    api: Api, open_workspace: Any
):
    items = [replace(mail, labels=(*(mail.labels or ()), "all")) for mail in mails(300)]
    open_workspace().add_many(items, source="archive", actor="owner")
    open_workspace().settle(60)
    report = open_workspace().report()
    assert not len(report.answers.confusion_counts)  # as no item has one label
    answers = open_workspace().first_answers(len(report.answers.recent_first))
    firsts = report.answers.recent_first[::-1, 1].tolist()
    weak = part(visit(api, "/trust"), "weak")
    named = 0
    for entry in weak.one("ol").all("li", class_="weak-label"):
        label = entry.one("h3").text
        for confused in entry.all("li", class_="confused"):
            other = confused.one("bdi").text
            wrong = [
                answer.id
                for answer, first in zip(answers, firsts, strict=True)
                if label in answer.labels and other == report.labels[first] != label
                if other not in answer.labels
            ]
            count = {1: "once", 2: "twice"}.get(len(wrong), f"{len(wrong)} times")
            assert f"{other} {count}" in confused.text
            links = [unquote(link.attributes["href"]) for link in confused.all("a")]
            assert [link.rpartition("/")[2] for link in links] == wrong[:2]
            named += 1
    assert named


def test_hostile_labels_and_ids_are_only_text(api: Api, open_workspace: Any):
    items = [
        replace(mail, id=f"{mail.id} {HOSTILE[:30]}", labels=(HOSTILE,))
        if mail.labels == ("travel",)
        else mail
        for mail in mails(120)
    ]
    items = [replace(item, id=str(item.id).replace("\u202e", "")) for item in items]
    open_workspace().add_many(items, source="archive", actor="owner")
    open_workspace().settle(60)
    page = visit(api, "/trust")
    assert not page.all("img")
    weak = part(page, "weak")
    names = [each.text for each in weak.all("h3")]
    assert " ".join(printable(HOSTILE).split()) in names
    for link in weak.all("a"):
        assert "<" not in link.attributes["href"]


@pytest.mark.parametrize(
    ("right", "marked", "text"),
    [
        (0, 0, "–"),
        (95, 100, "95 %"),
        (500, 1000, "50 %, less than 95 %"),
        (18, 20, "90 %, less than 95 %; with so few, that can be chance"),
        (476, 503, "94.6 %, less than 95 %; that can be chance"),
        (94_999, 100_000, "94.9 %, less than 95 %; that can be chance"),
    ],
)
def test_a_precision_that_is_too_low_differs_from_the_required_one(
    right: int, marked: int, text: str
):
    found = precision_text(right, marked, 0.95)
    assert found.replace("\N{NARROW NO-BREAK SPACE}", " ") == text
