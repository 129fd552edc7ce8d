"""Batches, imports, exports, the model and the report over HTTP."""

import contextlib
import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import tagalong
from tagalong.cli.main import main
from tagalong.server.api.handlers import imports
from tests.server.api_server import Api
from tests.server.upload_forms import BOUNDARY, job_of, upload

NDJSON = "application/x-ndjson"
CSV = b"text,labels\npay the invoice,money\nbook the flight,travel\nbuy a ticket,travel\n"
MBOX = b"""From ann@example.org Thu Jan  1 00:00:00 2026
From: ann@example.org
Subject: invoice
Message-ID: <1@example.org>
X-Gmail-Labels: money

please pay

From bob@example.org Fri Jan  2 00:00:00 2026
From: bob@example.org
Subject: flight
Message-ID: <2@example.org>
X-Gmail-Labels: travel

to Rome

"""


def batch(api: Api, lines: list[Any], query: str = "") -> list[Any]:
    body = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    answer = api.post(f"items:batch{query}", body, media=NDJSON)
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == NDJSON
    return [json.loads(line) for line in answer.body.splitlines()]


def labels_of(api: Api) -> dict[str, int]:
    return {each["name"]: each["items"] for each in api.get("labels").json["labels"]}


def test_sound_lines_of_a_batch_are_kept(api: Api):
    api.add("there already", id="known")
    found = batch(
        api,
        [
            {"id": "a", "text": "pay", "labels": ["money"]},
            b"{not json",
            b"",
            {"id": "b", "txet": "typo"},
            {"id": "known", "text": "there already"},
            {"id": "known", "text": "other content"},
            b'{"text": "twice", "text": "twice"}',
            b'{"values": {"x": NaN}}',
            b'{"text": "\xff"}',
            {"text": "without an id"},
        ],
    )
    assert [line["line"] for line in found] == [1, 2, 4, 5, 6, 7, 8, 9, 10]
    by_line = {line["line"]: line for line in found}
    assert by_line[1] == {"line": 1, "id": "a", "seq": 3, "outcome": "new"}
    assert by_line[5] == {"line": 5, "id": "known", "seq": 2, "outcome": "known"}
    assert by_line[10]["seq"] == 4
    problems = {line: each["problem"] for line, each in by_line.items() if "problem" in each}
    assert {line: each["status"] for line, each in problems.items()} == {
        2: 400,
        4: 422,
        6: 409,
        7: 400,
        8: 400,
        9: 400,
    }
    assert problems[2]["detail"].startswith("line 2 is not JSON: ")
    assert problems[4]["detail"].startswith("/txet: there is no such member")
    assert "'text' twice" in problems[7]["detail"]
    assert "NaN" in problems[8]["detail"]
    assert "line 9 is not UTF-8" in problems[9]["detail"]
    assert len(api.get("items").json["items"]) == 3
    assert labels_of(api) == {"money": 1}


def test_a_large_batch(api: Api):
    lines = [{"id": f"{number}", "text": f"text {number}"} for number in range(1000)]
    found = batch(api, lines)
    assert [line["id"] for line in found] == [line["id"] for line in lines]
    again = batch(api, lines)
    assert {line["outcome"] for line in again} == {"known"}
    assert [line["seq"] for line in again] == [line["seq"] for line in found]


def test_a_batch_may_correct_labels(api: Api):
    batch(api, [{"id": "a", "text": "x", "labels": ["one"]}])
    other = [{"id": "a", "text": "x", "labels": ["two"]}]
    assert batch(api, other)[0]["problem"]["status"] == 409
    assert batch(api, other, "?relabel=true")[0]["outcome"] == "answered"
    assert api.get("items/a").json["labels"] == ["two"]


def test_a_batch_that_is_sent_again_with_its_key_is_added_once(api: Api):
    lines = b'{"text": "one"}\n{"text": "one"}\n{"id": "own", "text": "two"}\n'

    def sent(key: str, content: bytes = lines) -> list[Any]:
        headers = {"Idempotency-Key": key}
        answer = api.post("items:batch", content, media=NDJSON, headers=headers)
        return [json.loads(line) for line in answer.body.splitlines()]

    first, again = sent("k"), sent("k")
    assert [each["outcome"] for each in first] == ["new"] * 3
    assert [each["outcome"] for each in again] == ["known"] * 3
    assert [each["seq"] for each in again] == [each["seq"] for each in first]
    (other,) = sent("k", lines + b'{"text": "three"}')
    assert (other["status"], other["type"]) == (422, "urn:tagalong:problem:refused")
    assert "'k' was used for another request" in other["detail"]
    assert api.get("items").json["items"][0]["seq"] == first[-1]["seq"]  # nothing was added
    headers = {"Idempotency-Key": "k"}
    with_labels = api.post("items:batch?relabel=true", lines, media=NDJSON, headers=headers)
    assert with_labels.status == 422
    assert [each["outcome"] for each in sent("another")] == ["new", "new", "known"]


@pytest.mark.parametrize("media", ["application/ndjson", "application/jsonl; charset=utf-8"])
def test_other_names_of_json_lines(api: Api, media: str):
    found = api.post("items:batch", b'{"text": "one"}', media=media)
    assert (found.status, json.loads(found.body)["line"]) == (200, 1)


def test_an_empty_batch(api: Api):
    assert batch(api, []) == []


def test_a_long_line_of_a_batch(api: Api):
    limit = api.service.limits.item_bytes
    found = batch(api, [{"id": "a", "text": "x" * (3 * limit)}, {"id": "b", "text": "x"}])
    assert (found[0]["problem"]["status"], found[1]["id"]) == (413, "b")
    assert "line 1 is too long" in found[0]["problem"]["detail"]
    found = batch(api, [{"id": "c", "text": "x" * (limit + 1)}])
    assert found[0]["problem"]["detail"].startswith("the item has 1,000,001 bytes of text")


@pytest.mark.parametrize(
    ("content", "name", "fields"),
    [
        (CSV, "items.csv", {}),
        (CSV, "data.bin", {"format": "csv"}),
        (gzip.compress(CSV, mtime=0), "items.csv.gz", {}),
        (CSV.replace(b",", b"\t"), "items.tsv", {}),
        (CSV.replace(b"text,labels", b"body,kind"), "x.csv", {"text": "body", "labels": "kind"}),
        (
            b'{"text": "pay the invoice", "labels": ["money"]}\n'
            b'{"text": "book", "labels": ["travel"]}\n{"text": "buy", "labels": ["travel"]}\n',
            "items.jsonl",
            {},
        ),
    ],
)
def test_files_are_learnt(api: Api, content: bytes, name: str, fields: dict[str, str]):
    job = job_of(api, upload(api, content, name, **fields))
    assert (job["state"], job["done"], job["total"], job["skipped"]) == ("done", 3, 3, 0)
    assert labels_of(api) == {"money": 1, "travel": 2}


def test_a_mailbox_is_learnt(api: Api):
    job = job_of(api, upload(api, MBOX, "Mail.mbox"))
    assert (job["state"], job["done"]) == ("done", 2), job
    assert set(labels_of(api)) == {"money", "travel"}
    by_title = {item["title"]: item["labels"] for item in api.get("items").json["items"]}
    assert by_title == {"invoice": ["money"], "flight": ["travel"]}


def test_the_same_file_again_changes_nothing(api: Api):
    job_of(api, upload(api, CSV))
    before = api.get("model").json
    job = job_of(api, upload(api, CSV))
    assert (job["state"], job["done"]) == ("done", 3)
    assert api.get("model").json == before


def test_rows_that_cannot_be_read_are_counted(api: Api):
    content = b'{"text": "a", "labels": ["x"]}\n{"text": 5}\nnot json\n{"text": "b"}\n'
    job = job_of(api, upload(api, content, "items.jsonl"))
    assert (job["state"], job["done"], job["skipped"]) == ("done", 2, 2)
    assert len(job["errors"]) == 2
    assert all(error.startswith("items.jsonl:") for error in job["errors"]), job


@pytest.mark.parametrize(
    ("content", "name", "fields", "status", "message"),
    [
        (CSV, "items.csv", {"format": "docx"}, 422, "format must be "),
        (CSV, "items.xyz", {}, 422, "the field format"),
        (CSV, "items.csv", {"text": "nothing"}, 422, "nothing"),
        (CSV, "items.csv", {"colour": "red"}, 422, "there is no field 'colour'"),
        (CSV, "items.csv", {"xml": "/etc/passwd"}, 422, "there is no field 'xml'"),
        (b"", "items.csv", {}, 422, "the file"),
        (b"", "items.jsonl", {}, 422, "the file has no items"),
        (b"not gzip", "items.csv.gz", {}, 422, "items.csv.gz"),
        (b"\x00\xff\xfe", "items.jsonl", {}, 422, "items.jsonl:1"),
        (CSV, "items.csv", {"delimiter": "long"}, 422, "delimiter"),
    ],
)
def test_files_that_are_refused(
    shared: Api, content: bytes, name: str, fields: dict[str, str], status: int, message: str
):
    refused = upload(shared, content, name, **fields)
    assert refused.status == status, refused
    assert message in refused.json["detail"]
    assert "/tmp" not in refused.json["detail"]  # no path of the server
    assert "tagalong-" not in refused.json["detail"]


def test_a_file_whose_end_is_missing(api: Api):
    rows = "".join(f"words {number**7},label {number % 3}\n" for number in range(300))
    content = gzip.compress(f"text,labels\n{rows}".encode())[:-500]
    job = job_of(api, upload(api, content, "items.csv.gz"))
    assert job["state"] == "done"
    assert 0 < job["done"] < 300
    assert job["skipped"] == 1
    assert job["errors"][0].startswith("items.csv.gz")
    assert "/tmp" not in job["errors"][0]


def test_a_small_file_that_becomes_a_huge_one(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(imports, "MOST_EXPANSION", 1e-3)  # of 64 MB
    content = gzip.compress(b"text,labels\n" + b"word,label\n" * 2000)
    job = job_of(api, upload(api, content, "items.csv.gz"))
    assert (job["state"], job["done"]) == ("failed", 0)
    assert "has more than 64,000" in job["error"]
    assert api.get("items").json["items"] == []


def test_jobs_belong_to_their_workspace(api: Api, shared: Api):
    started = upload(api, CSV)
    job_of(api, started)
    other = shared.get(f"jobs/{started.json['job']}")
    assert (other.status, other.kind) == (404, "not-found")
    assert "hundred" in other.json["detail"]


def test_forms_without_a_file(shared: Api):
    field = 'Content-Disposition: form-data; name="file"'
    body = f"--{BOUNDARY}\r\n{field}\r\n\r\nx\r\n--{BOUNDARY}--\r\n"
    media = f"multipart/form-data; boundary={BOUNDARY}"
    refused = shared.post("import", body.encode(), media=media)
    assert (refused.status, refused.json["place"]) == (422, "file")
    assert refused.json["detail"] == "the field 'file' is missing, or has no name of a file"
    other = shared.post("import", {"file": "x"})
    assert (other.status, other.kind) == (415, "wrong-content-type")
    without = shared.post("import", b"x", media="multipart/form-data")
    assert (without.status, without.kind) == (400, "bad-form")
    assert "boundary" in without.json["detail"]


def test_forms_that_are_too_large(shared: Api):
    media = f"multipart/form-data; boundary={BOUNDARY}"
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="text"\r\n\r\n'
    end = f"--{BOUNDARY}--\r\n"
    for body in (f"{part}{'x' * 2_000_000}\r\n{end}", f"{part}x\r\n" * 60 + end):
        refused = shared.post("import", body.encode(), media=media)
        assert (refused.status, refused.kind) == (400, "bad-form")
        assert refused.json["detail"].startswith("the form cannot be read: ")


def test_the_model_and_its_file_are_the_same(api: Api, tmp_path: Path):
    api.add("pay the invoice", ["money"])
    api.add("book the flight", ["travel"], id="a")
    facts = api.get("model").json
    assert set(facts) == {"hash", "seq", "labels", "bytes", "exact"}
    assert (facts["seq"], facts["labels"], facts["exact"]) == (3, 2, True)
    file = api.get("model/file")
    assert file.headers["content-type"] == "application/octet-stream"
    disposition = file.headers["content-disposition"]
    assert disposition == f'attachment; filename="{api.workspace}.tagalong"'
    path = tmp_path / "model.tagalong"
    path.write_bytes(file.body)
    loaded = tagalong.load(path)
    assert tagalong.model_hash(loaded) == facts["hash"]
    mine = [each.label for each in loaded.suggest("pay")]
    assert mine == [
        each["label"] for each in api.post("suggest", {"text": "pay"}).json["suggestions"]
    ]


def test_the_model_waits_until_every_event_is_in_it(api: Api):
    """Undoing an early event takes a replay; the hash is that of the model after it."""
    first = api.add("pay the invoice", ["money"])["seq"]
    for number in range(50):
        api.add(f"text {number}", [f"label {number % 7}"])
    undone = api.post("undo", {"seq": first}).json["seq"]
    facts = api.get("model").json
    assert facts["seq"] == undone
    assert facts["labels"] == 7


def test_exports_have_the_items_with_their_present_labels(api: Api):
    api.add("pay the invoice", ["old"], id="a", values={"size": 2, "tags": ["x", "y"]})
    api.add('with "quotes", and\nlines', id="b")
    api.patch("labels/old", {"name": "new"})
    lines = api.get("export?format=jsonl")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert lines.headers["content-disposition"] == f'attachment; filename="{api.workspace}.jsonl"'
    first, second = (json.loads(line) for line in lines.body.splitlines())
    assert (first["id"], first["labels"]) == ("a", ["new"])
    assert first["features"] == {"size": 2, "tags=x": 1, "tags=y": 1}
    assert (second["id"], second["text"]) == ("b", 'with "quotes", and\nlines')
    assert "labels" not in second
    assert api.get("export").body == lines.body
    table = api.get("export?format=csv")
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.body.decode())))
    assert [row["id"] for row in rows] == ["a", "b"]
    assert rows[0]["labels"] == "new"
    assert api.get("export?format=xls").status == 422


def table_of(api: Api) -> list[dict[str, str]]:
    table = api.get("export?format=csv")
    assert table.status == 200, table
    return list(csv.DictReader(io.StringIO(table.body.decode(), newline="")))


def test_every_item_has_a_row_in_a_table(api: Api):
    api.add("text", ["a,b", "c"], id="1", title="a title", source="inbox")
    api.add("none of these", id="2", date="2026-01-31T12:00:00Z", weight=2)
    api.answer("2", [])
    api.add("still open", id="3")
    fields = {"text": "in a field", "labels": "not labels", "zip": "01234"}
    api.post("items", {"id": "4", "fields": fields, "values": {"zip": "5", "size": 3.5}})
    rows = table_of(api)
    assert [(row["id"], row["state"], row["labels"]) for row in rows] == [
        ("1", "answered", "a,b;c"),
        ("2", "answered", ""),
        ("3", "open", ""),
        ("4", "open", ""),
    ]
    assert (rows[0]["title"], rows[0]["source"], rows[0]["weight"]) == ("a title", "inbox", "")
    assert (rows[1]["date"], rows[1]["weight"]) == ("2026-01-31T12:00:00+00:00", "2.0")
    assert (rows[3]["field:text"], rows[3]["text"]) == ("in a field", "")
    assert (rows[3]["field:labels"], rows[3]["zip"]) == ("not labels", "01234")
    assert (rows[3]["value:zip"], rows[3]["size"]) == ("5", "3.5")


def test_labels_are_separated_by_what_no_label_has(api: Api):
    for labels in (["a,b", "c"], ["d;e"], ["f|g"]):
        api.add("text", labels)
    assert [row["labels"] for row in table_of(api)] == ["a,b\nc", "d;e", "f|g"]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_a_spreadsheet_computes_no_cell_of_a_table(api: Api, begin: str):
    hostile = f'{begin}HYPERLINK("http://evil.example")'
    api.post("items", {"id": "1", "text": hostile, "source": hostile})
    (row,) = table_of(api)
    assert (row["text"], row["source"]) == (f"'{hostile}", f"'{hostile}")


def test_an_export_is_an_import(api: Api, shared: Api):
    api.add("pay the invoice", ["money"], id="one")
    api.add("book the flight", ["travel"], id="two")
    content = api.get("export").body
    made = shared.post("/api/v1/workspaces", {"name": f"copy-of-{api.workspace}"})
    copy = type(api)(api.url, api.token, api.service, workspace=made.json["name"])
    job_of(copy, upload(copy, content, "items.jsonl"))
    assert copy.get("model").json["hash"] == api.get("model").json["hash"]
    assert copy.get("export").body == content


def test_the_report_has_the_form_of_the_command_line(api: Api, tmp_path: Path):
    texts = [("pay the invoice", "money"), ("book the flight", "travel")] * 20
    path = tmp_path / "items.jsonl"
    with path.open("w") as file:
        for number, (text, label) in enumerate(texts):
            api.add(f"{text} {number}", [label])
            line = {"text": f"{text} {number}", "labels": [label]}
            print(json.dumps(line), file=file)
    model = tmp_path / "model.tagalong"
    model.write_bytes(api.get("model/file").body)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["evaluate", str(path), "--model", str(model), "--json"]) == 0
    expected = json.loads(printed.getvalue())
    found = api.get("report").json
    assert set(found) == set(expected)
    assert set(found["report"]) == set(expected["report"])
    assert set(found["certificate"]) == set(expected["certificate"])
    assert found["model"] == api.workspace


def test_names_in_paths_of_files_are_quoted(shared: Api):
    assert shared.get(f"/api/v1/workspaces/{quote('a/../b', safe='')}/export").status == 404
