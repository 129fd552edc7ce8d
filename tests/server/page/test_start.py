"""The start view: files and texts come in, imports are followed, stopped and undone."""

import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from tagalong.journal import Workspace
from tagalong.server import import_jobs
from tests.server.answers import Answer
from tests.server.api_server import Api
from tests.server.page.pages import HTML, Element, parsed, submit, visit
from tests.server.upload_forms import MEDIA, ended_job, form, zipped
from tests.timeouts import TIMEOUT

ROWS = "".join(
    f"{text} {number},{label}\n"
    for number in range(10)
    for text, label in (("pay the invoice", "money"), ("book the flight", "travel"))
)
CSV = f"text,labels\n{ROWS}the hotel,\n".encode()


def send(api: Api, *files: tuple[str, bytes], **fields: str) -> Answer:
    """Send the form as a browser does, with the fields that were left empty."""
    given = {"text": "", "labels": "", "format": "", **fields}
    path = visit(api, "/start").one("form", enctype="multipart/form-data").attributes["action"]
    return api.post(path, form(list(files), **given), media=MEDIA, headers=HTML)


def job_page(api: Api, sent: Answer) -> tuple[str, Element]:
    """Follow the job that a form has begun, and return its path and its page at the end."""
    assert sent.status == 303, sent
    path = sent.headers["location"].removeprefix(f"/w/{api.workspace}")
    ended_job(api, path.rpartition("/")[2])
    return path, visit(api, path)


def heading(page: Element) -> str:
    return page.one("h1").text


def test_an_empty_workspace_leads_to_the_start(api: Api) -> None:
    found = api.get(f"/w/{api.workspace}", headers=HTML)
    assert (found.status, found.headers["location"]) == (303, f"/w/{api.workspace}/start")
    page = visit(api, "/start")
    assert heading(page) == "Show Tagalong what is filed already"
    file = page.one("input", type="file")
    assert {"multiple", "required"} <= set(file.attributes)
    api.add("a text")
    assert heading(visit(api, "/start")) == "Bring in more items"
    assert heading(visit(api)) == "a text"


def test_files_are_learnt_and_undone(api: Api) -> None:
    sent = send(api, ("tickets.csv", CSV + b"one,two,three\n"))
    path, page = job_page(api, sent)
    assert heading(page) == "20 items learnt"
    text = page.one("main").text
    assert "1 item waits for an answer. 1 item could not be read." in text
    assert "tickets.csv:23: the row has 3 cells, but there are 2 columns" in text
    assert not page.all("progress")
    first = page.one("section", aria_labelledby="first-title").one("li")
    assert first.one("a").text == "the hotel"
    assert re.search(r"(travel|money) [<>]?\d+\s%", first.text)
    recognised = [each.text for each in page.all("dd")]
    assert recognised == ["Table (CSV)", "text, labels", "text", "labels"]

    undo = page.one("form", action=f"/w/{api.workspace}/undo")
    where, after = submit(api, undo, {})
    assert where.startswith(f"/w/{api.workspace}/start?seq=")
    assert "21 items" in after.one(class_="notices").text
    assert api.get("items").json["items"] == []
    page = visit(api, path)
    assert heading(page) == "This import was undone"
    assert not page.all("form", action=f"/w/{api.workspace}/undo")

    _, page = job_page(api, send(api, ("tickets.csv", CSV)))
    assert heading(page) == "20 items learnt"
    _, page = job_page(api, send(api, ("tickets.csv", CSV)))
    assert heading(page) == "Nothing new"
    assert "21 items were here already" in page.one("main").text


def test_an_import_with_answers_is_undone_after_a_question(api: Api) -> None:
    _, page = job_page(api, send(api, ("tickets.csv", CSV)))
    item = api.get("items?state=open").json["items"][0]["id"]
    api.answer(item, ["travel"])
    undo = page.one("form", action=f"/w/{api.workspace}/undo")
    _, question = submit(api, undo, {}, status=409)
    again = question.one("form", action=f"/w/{api.workspace}/undo")
    submit(api, again, {})
    assert api.get("items").json["items"] == []


def test_an_archive_and_another_file(api: Api) -> None:
    lines = b'{"text": "x", "labels": ["y"]}\n'
    sent = send(api, ("all.zip", zipped({"a.csv": CSV})), ("b.jsonl", lines))
    _, page = job_page(api, sent)
    assert heading(page) == "21 items learnt"
    assert "all.zip and 1 more" in page.one("main").text


def test_columns_that_are_not_recognised_can_be_named(api: Api) -> None:
    content = CSV.replace(b"text,labels", b"Betreff,<b>Ablage")
    refused = send(api, ("alien.csv", content))
    assert refused.status == 422
    page = parsed(refused)
    told = page.one(role="alert").text
    assert told.endswith("has the labels: Betreff, <b>Ablage.")
    assert told.count("Betreff") == 1
    assert "option" not in told
    assert "open" in page.one("details").attributes
    offered = page.one("datalist", id="columns").all("option")
    assert [each.attributes["value"] for each in offered] == ["Betreff", "<b>Ablage"]
    assert "/tmp" not in page.text
    _, page = job_page(api, send(api, ("a.csv", content), text="Betreff", labels="<b>Ablage"))
    assert heading(page) == "20 items learnt"
    assert [each.text for each in page.all("dd")][2:] == ["Betreff", "<b>Ablage"]


def test_a_table_without_labels_is_explained(api: Api) -> None:
    content = CSV.replace(b"text,labels", b"text,Ablage")
    _, page = job_page(api, send(api, ("a.csv", content)))
    assert heading(page) == "21 items brought in"
    assert "No column with labels was recognised" in page.one("main").text


@pytest.mark.parametrize(
    ("files", "fields", "message"),
    [
        ([("", b"")], {}, "the field 'file' is missing"),
        ([("photo.png", b"\x89PNG")], {}, "photo.png: the format cannot be detected"),
        ([("a.csv", b"")], {}, "the file"),
        ([("a.csv", CSV)], {"text": "nothing"}, "'nothing'"),
        ([("a.zip", b"PK")], {}, "a.zip: not a zip archive"),
        ([("<i>.csv", b"\n")], {}, "the file has no items"),
    ],
)
def test_files_that_are_refused(
    shared: Api, files: list[tuple[str, bytes]], fields: dict[str, str], message: str
) -> None:
    refused = send(shared, *files, **fields)
    assert refused.status == 422
    page = parsed(refused)
    assert message in page.one(role="alert").text
    assert page.one("form", enctype="multipart/form-data")


def test_a_form_that_is_too_large_is_refused(shared: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = replace(shared.service.limits, body_bytes=1000)
    monkeypatch.setattr(shared.service, "limits", limits)
    refused = send(shared, ("a.csv", b"x" * 2000))
    assert refused.status == 413
    assert "at most 1,000 are allowed" in parsed(refused).one(role="alert").text


def test_progress_is_shown_and_an_import_can_be_stopped(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_jobs, "ITEMS_AT_ONCE", 4)
    begun, go_on = threading.Event(), threading.Event()
    add_many = Workspace.add_many

    def slow(self: Workspace, *args: Any, **options: Any) -> Any:
        found = add_many(self, *args, **options)
        begun.set()
        assert go_on.wait(TIMEOUT)
        return found

    monkeypatch.setattr(Workspace, "add_many", slow)
    sent = send(api, ("tickets.csv", CSV))
    path = sent.headers["location"].removeprefix(f"/w/{api.workspace}")
    assert begun.wait(TIMEOUT)
    page = visit(api, path)
    assert heading(page) == "Learning…"
    progress = page.one("progress").attributes
    assert (progress["max"], progress["value"]) == ("21", "0")
    assert page.one("noscript").one("meta", http_equiv="refresh")
    part = visit(api, f"/parts{path}")
    assert part.one(data_active="").one("progress").attributes == progress
    where, page = submit(api, page.one("form", action=f"/w/{api.workspace}{path}/stop"), {})
    assert where == f"/w/{api.workspace}{path}"
    assert heading(page) == "Stopping…"
    go_on.set()
    ended_job(api, path.rpartition("/")[2])
    page = visit(api, path)
    assert heading(page) == "4 items learnt"
    assert "stopped it after 4 items of 21" in page.one("main").text
    assert not page.all("meta", http_equiv="refresh")
    assert not visit(api, f"/parts{path}").all(data_active=None)
    submit(api, page.one("form", action=f"/w/{api.workspace}/undo"), {})
    assert api.get("items").json["items"] == []


def test_many_bad_lines_are_listed_and_downloaded(api: Api) -> None:
    content = b'{"text": "x", "labels": ["<b>"]}\n' + b"\x07no\n" * 600
    path, page = job_page(api, send(api, ("bad.jsonl", content)))
    listed = page.one("ol").all("li")
    assert len(listed) == 50
    assert listed[0].text.startswith("bad.jsonl:2: ")
    link = page.one("a", download=None)
    assert link.text == "Download the first 500"
    found = api.get(link.attributes["href"], headers=HTML)
    assert found.headers["content-type"].startswith("text/plain")
    assert found.headers["content-disposition"].startswith("attachment")
    lines = found.body.decode().splitlines()
    assert len(lines) == 501
    assert lines[-1] == "and 100 more"
    assert "\x07" not in found.body.decode()
    assert visit(api, f"{path}0", status=404)


def test_a_text_with_labels_is_learnt(api: Api) -> None:
    form = visit(api, "/start").one("form", action=f"/w/{api.workspace}/start/text")
    changes = {"text": "pay the invoice", "labels": " money, now ,money"}
    path, page = submit(api, form, dict(changes))
    assert path.startswith(f"/w/{api.workspace}/start?seq=")
    assert "money, now" in page.one(class_="notices").text
    item = api.get("items").json["items"][0]
    assert (item["title"], item["labels"]) == ("pay the invoice", ["money", "now"])
    again, _ = submit(api, form, dict(changes))  # the same form sent twice
    assert again == path
    assert len(api.get("items").json["items"]) == 1


def test_a_text_without_labels_gets_suggestions(api: Api) -> None:
    api.add("pay the invoice", ["money"])
    api.add("book the flight", ["travel"])
    form = visit(api, "/start").one("form", action=f"/w/{api.workspace}/start/text")
    text = "the invoice\r\n\r\n<script>alert(1)</script>"
    path, page = submit(api, form, {"text": text, "labels": ""})
    assert re.fullmatch(f"/w/{api.workspace}/items/item-\\d+", path)
    assert "money" in page.one("main").text
    assert not [each for each in page.all("script") if each.text]
    item = api.get(path.replace("/w/", "/api/v1/workspaces/")).json
    assert item["labels"] is None


def test_labels_with_commas_where_items_have_one_label(api: Api) -> None:
    api.patch("settings", {"one_label": True})
    form = visit(api, "/start").one("form", action=f"/w/{api.workspace}/start/text")
    submit(api, form, {"text": "x", "labels": "Smith, Ann"})
    assert api.get("items").json["items"][0]["labels"] == ["Smith, Ann"]
    submit(api, form, {"text": " ", "labels": "y", "key": "other"}, status=422)


def test_who_may_only_read_has_no_forms(api: Api) -> None:
    token = api.service.tokens.add(f"reader-{api.workspace}", read_only=True)
    reader = replace(api, token=token)
    page = visit(reader, "/start")
    assert not page.one("main").all("form")
    assert "may only look" in page.one("main").text
    for path in ("/start", "/start/text", "/jobs/x/stop"):
        refused = reader.post(f"/w/{api.workspace}{path}", b"", media=MEDIA, headers=HTML)
        assert refused.status == 403, path
