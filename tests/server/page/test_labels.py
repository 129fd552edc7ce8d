"""The labels view: the list, the page of a label, and each change with its effect and undo."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.journal import LabelFacts
from tagalong.server.api.routes import Routes
from tagalong.server.page.label_rows import ROWS, label_list, label_of, label_path
from tests.server.api_server import Api
from tests.server.page.pages import Element, submit, visit

HOSTILE = (
    "<b onclick=x>bold</b>",
    "\u202eleveled\u202c",
    "a/b",
    "..",
    ".",
    "two\nlines",
    "\u2800",
    "%2e%2e",
    "quote\"'&amp;",
    "x" * 500,
)


def facts(name: str, items: int) -> LabelFacts:
    return LabelFacts(name, items, 1, None, None, 0.0)


def names(page: Element) -> list[str]:
    return [row.one("th", scope="row").text for row in page.one("tbody").all("tr")]


def form(page: Element, ending: str) -> Element:
    found = [
        each
        for each in page.one("main").all("form")
        if each.attributes["action"].endswith(ending) and not each.all(name="back")
    ]
    assert len(found) == 1, ending
    return found[0]


def notice(page: Element) -> Element:
    return page.one(class_="notice")


def labels_of(api: Api) -> dict[str, dict[str, object]]:
    return {each["name"]: each for each in api.get("labels").json["labels"]}


def test_labels_are_listed_and_found(api: Api) -> None:
    for number, labels in enumerate((["travel"], ["travel", "press"], ["Zoë/Garten"])):
        api.add(f"text {number}", labels)
    page = visit(api, "/labels")
    assert names(page)[0] == "travel"
    assert "67" in page.one("tbody").all("tr")[0].text
    assert names(visit(api, "/labels?order=name")) == ["press", "travel", "Zoë/Garten"]
    assert names(visit(api, "/labels?q=zoe")) == ["Zoë/Garten"]
    assert names(visit(api, "/labels?q=trvael")) == ["travel"]
    assert "No label has" in visit(api, "/labels?q=qqqqqqqq").text


def test_an_empty_workspace_has_no_labels(api: Api) -> None:
    page = visit(api, "/labels")
    assert "No labels yet" in page.text
    path, page = submit(api, form(page, "/labels"), {"name": " new one "})
    assert path.startswith(f"/w/{api.workspace}/labels/new%20one?seq=")
    assert page.one("h1").text == "new one"
    assert "was made" in notice(page).text


def test_ten_thousand_labels_are_in_pages() -> None:
    many = [facts(f"label {number}", number) for number in range(10_000)]
    found = label_list(many, "", "items", 1)
    assert [each.items for each in found.rows] == list(range(9_999, 9_999 - ROWS, -1))
    assert (found.pages, found.found) == (100, 10_000)
    last = label_list(many, "", "items", 10**6)
    assert last.rows[-1].name == "label 0"
    assert [each.name for each in label_list(many, "LABEL 1234", "name", 1).rows] == ["label 1234"]


@given(st.text(min_size=1).filter(str.strip))
def test_every_label_survives_its_path(name: str) -> None:
    path = label_path(name)
    assert path not in (".", "..")
    assert "/" not in path
    operation = type("Fake", (), {"method": "GET", "path": "/x/{label}"})()
    _, found = Routes([operation]).find("GET", f"/x/{path}".encode())
    assert label_of(found["label"]) == name


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_can_be_renamed_merged_and_forgotten(api: Api, name: str) -> None:
    assert api.post("labels", {"name": name}).status == 200
    api.post("labels", {"name": "other"})
    link = [
        each.attributes["href"]
        for each in visit(api, "/labels").one("tbody").all("a")
        if each.text != "other"
    ]
    start = f"/w/{api.workspace}"
    assert len(link) == 1
    page = visit(api, link[0].removeprefix(start))
    assert not page.all("b")
    preview = visit(api, f"/labels/{label_path(name)}/rename?name=plain")
    _, page = submit(api, form(preview, "/rename"), {})
    assert page.one("h1").text == "plain"
    _, page = submit(api, notice(page).one("form"), {})
    assert name in labels_of(api)
    preview = visit(api, f"/labels/{label_path(name)}/forget")
    path, page = submit(api, form(preview, "/forget"), {})
    assert urlsplit(path).path == f"{start}/labels"
    assert list(labels_of(api)) == ["other"]


def test_the_effect_is_shown_before(api: Api) -> None:
    api.add("one", ["travel"])
    api.add("two", ["travel", "press"])
    api.add("three", ["press"])
    text = visit(api, "/labels/travel/forget").one("main").text
    assert "2 items lose this label" in text
    assert "1 item of these has no other label" in text
    merge = visit(api, "/labels/travel/merge?into=press")
    assert "2 items get the label “press”, which 2 items have already" in merge.one("main").text
    _, page = submit(api, form(merge, "/merge"), {})
    assert page.one("h1").text == "press"
    assert "merged into" in notice(page).text
    assert list(labels_of(api)) == ["press"]
    submit(api, notice(page).one("form"), {})
    assert set(labels_of(api)) == {"travel", "press"}


def test_a_name_that_exists_is_offered_as_a_merge(api: Api) -> None:
    api.add("one", ["travel"])
    api.add("two", ["press & media"])
    preview = visit(api, "/labels/travel/rename?name=other")
    page = visit(api, "/labels/travel/rename?name=press%20%26%20media", 409)
    _, sent = submit(api, form(preview, "/rename"), {"name": "press & media"}, 409)
    for each in (page, sent):
        main = each.one("main")
        assert main.one("h1").text == "There is a label press & media already"
        assert each.one("nav").all("a", href=f"/w/{api.workspace}/labels")
        merge, back = main.all("a")
        assert back.attributes["href"] == f"/w/{api.workspace}/labels/travel"
        question = visit(api, merge.attributes["href"].removeprefix(f"/w/{api.workspace}"))
        assert question.one("h1").text == "Merge travel into press & media?"
    assert set(labels_of(api)) == {"travel", "press & media"}


def test_impossible_changes_are_refused(api: Api) -> None:
    api.post("labels", {"name": "travel"})
    api.post("labels", {"name": "press"})
    assert "already" in visit(api, "/labels/travel/rename?name=press", 409).text
    assert "itself" in visit(api, "/labels/travel/merge?into=travel", 422).text
    assert "no label 'none'" in visit(api, "/labels/travel/merge?into=none", 404).text
    visit(api, "/labels/none", 404)
    visit(api, "/labels/travel/rename?name=%20", 422)


@pytest.mark.parametrize(
    ("choice", "percent", "target", "shown"),
    [
        ("own", "99.5", 0.995, "at 99.5 %"),
        ("own", "99,5 %", 0.995, "at 99.5 %"),
        ("never", "", "never", "never"),
        ("workspace", "", None, "as the workspace"),
    ],
)
def test_a_label_has_its_own_target(
    api: Api, choice: str, percent: str, target: object, shown: str
) -> None:
    api.post("labels", {"name": "travel", "min_precision": 0.9})
    page = visit(api, "/labels/travel")
    _, page = submit(api, form(page, "/target"), {"target": choice, "percent": percent})
    assert labels_of(api)["travel"]["min_precision"] == target
    assert shown in page.one("dl").text
    assert shown in visit(api, "/labels").one("tbody").text


@pytest.mark.parametrize("percent", ["0", "101", "nan", "", "ninety"])
def test_a_wrong_target_says_what_is_right(api: Api, percent: str) -> None:
    api.post("labels", {"name": "travel"})
    page = visit(api, "/labels/travel")
    sent = {"target": "own", "percent": percent}
    _, page = submit(api, form(page, "/target"), sent, 422)  # type: ignore[arg-type]
    assert "must be a number above 0 and at most 100" in page.text


def test_readers_see_no_forms(api: Api) -> None:
    api.add("one", ["travel"], id="one")
    reader = Api(
        api.url,
        api.service.tokens.add("looks-on", read_only=True),
        api.service,
        workspace=api.workspace,
    )
    for path in ("/labels", "/labels/travel", "/history", "/settings"):
        main = visit(reader, path).one("main")
        assert not main.all("form", method="post"), path
    refused = reader.post(
        f"/w/{api.workspace}/labels/travel/forget",
        b"",
        media="application/x-www-form-urlencoded",
    )
    assert refused.status == 403
