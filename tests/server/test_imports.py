"""Imports as one batch: archives, bombs, lines that cannot be read, stopping, undoing, again."""

import gzip
import threading
from pathlib import Path
from typing import Any

import pytest

from tagalong.journal import Workspace
from tagalong.server import import_jobs, uploads
from tagalong.server.api.handlers import imports
from tests.server.answers import Answer
from tests.server.api_server import Api
from tests.server.upload_forms import MEDIA, ended_job, form, job_of, upload, zipped
from tests.timeouts import TIMEOUT

CSV = b"text,labels\npay the invoice,money\nbook the flight,travel\nthe hotel,\n"
BOMB = b"text\nx\n" + b"\n" * 1_000_000
LINES = b'{"text": "pay", "labels": ["money"]}\n{"text": "what is this"}\n'


def items_of(api: Api) -> dict[str, Any]:
    return {item["title"]: item["labels"] for item in api.get("items").json["items"]}


def test_what_becomes_of_items_is_counted(api: Api) -> None:
    job = job_of(api, upload(api, CSV))
    assert (job["learnt"], job["open"], job["known"], job["skipped"]) == (2, 1, 0, 0)
    assert job["batch"] == job["job"]
    again = job_of(api, upload(api, CSV))
    assert (again["learnt"], again["open"], again["known"]) == (0, 0, 3)
    sources = {item["source"] for item in api.get("items").json["items"]}
    assert sources == {"items.csv"}


def test_an_archive_is_all_of_its_files(api: Api) -> None:
    content = zipped({"a.csv": CSV, "sub/b.jsonl": LINES, "readme.pdf": b"%PDF", "x/": b""})
    job = job_of(api, upload(api, content, "all.zip"))
    assert (job["state"], job["done"], job["skipped"]) == ("done", 5, 1)
    assert job["errors"][0].startswith("all.zip/readme.pdf: ")
    assert items_of(api)["pay"] == ["money"]


def test_several_files_are_one_batch(api: Api) -> None:
    body = form([("a.csv", CSV), ("b.jsonl", LINES + b"no\n")])
    job = job_of(api, api.post("import", body, media=MEDIA))
    assert (job["done"], job["skipped"]) == (5, 1)
    assert job["errors"][0].startswith("b.jsonl:3: ")
    api.post("undo", {"batch": job["batch"]})
    assert items_of(api) == {}


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.csv", "/etc/passwd.csv", "..\\\\x\\\\passwd.csv"]
)
def test_names_of_files_are_only_shown(api: Api, name: str) -> None:
    job = job_of(api, upload(api, CSV + b"one,two,three\n", name))
    assert job["errors"] == ["passwd.csv:5: the row has 3 cells, but there are 2 columns"]


def test_names_in_an_archive_are_only_shown(api: Api, tmp_path: Path) -> None:
    content = zipped({"../../../outside.csv": CSV + b"1,2,3\n", f"{tmp_path}/b.csv": CSV})
    job = job_of(api, upload(api, content, "a.zip"))
    assert job["done"] == 6
    assert job["errors"][0].startswith("a.zip/outside.csv:5: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (zipped({"a.csv": BOMB}), "a.zip"),
        (zipped({f"{n}.csv": BOMB[:100_000] for n in range(10)}), "a.zip"),
        (zipped({"a.csv.gz": gzip.compress(BOMB)}), "a.zip"),
        (gzip.compress(BOMB), "a.csv.gz"),
        (gzip.compress(b"text\n" + b"x\n" * 20_000), "a.csv.gz"),
    ],
    ids=["zip", "zip of many", "zip of gzip", "gzip", "many items"],
)
def test_bombs_do_not_go_off(
    api: Api, monkeypatch: pytest.MonkeyPatch, content: bytes, name: str
) -> None:
    monkeypatch.setattr(imports, "MOST_EXPANSION", 1 / 160)  # of 64 MB
    job = job_of(api, upload(api, content, name))
    assert (job["state"], job["done"]) == ("failed", 0)
    assert "has more than 400,000 bytes when it is unpacked" in job["error"]
    assert items_of(api) == {}


def test_an_archive_of_blank_lines_is_refused_at_once(
    shared: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "BYTES_BEFORE_FIRST", 1_000_000)
    refused = upload(shared, zipped({"a.jsonl": b"\n" * 2_000_000}), "a.zip")
    assert (refused.status, refused.kind) == (422, "not-readable")
    assert refused.json["detail"].startswith("there is no item before the end of the search: ")


def test_an_archive_with_too_many_files_is_refused(
    shared: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.readers.archives.MAX_MEMBERS", 2)
    refused = upload(shared, zipped({f"{n}.csv": CSV for n in range(3)}), "a.zip")
    assert refused.status == 422
    assert refused.json["detail"].startswith("a.zip: the archive has 3 files")


def test_plain_text_is_one_item_per_line(api: Api) -> None:
    content = b"__label__money pay the invoice\n\nwhat is this\n"
    job = job_of(api, upload(api, content, "notes.txt"))
    assert (job["learnt"], job["open"]) == (1, 1)
    assert items_of(api) == {"pay the invoice": ["money"], "what is this": None}


def test_columns_are_named_if_none_is_recognised(shared: Api) -> None:
    refused = upload(shared, b"Betreff,Ablage\nRechnung,Geld\n")
    assert refused.status == 422
    assert refused.json["columns"] == ["Betreff", "Ablage"]


def test_an_import_is_undone_as_one(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "ITEMS_AT_ONCE", 1)  # several commits
    api.add("there before", ["other"])
    before = api.get("model").json["hash"]
    job = job_of(api, upload(api, CSV))
    after = api.get("model").json["hash"]
    assert api.post("undo", {"batch": job["batch"]}).status == 200
    assert api.get("model").json["hash"] == before
    assert items_of(api) == {"there before": ["other"]}
    again = job_of(api, upload(api, CSV))
    assert (again["learnt"], again["open"], again["known"]) == (2, 1, 0)
    assert api.get("model").json["hash"] == after


def test_an_import_is_stopped(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "ITEMS_AT_ONCE", 1)
    begun, go_on = threading.Event(), threading.Event()
    add_many = Workspace.add_many

    def slow(self: Workspace, *args: Any, **options: Any) -> Any:
        found = add_many(self, *args, **options)
        begun.set()
        assert go_on.wait(TIMEOUT)
        return found

    monkeypatch.setattr(Workspace, "add_many", slow)
    first = upload(api, CSV).json["job"]
    assert begun.wait(TIMEOUT)
    second = upload(api, LINES, "b.jsonl").json["job"]  # waits for the first
    for id in (second, first):
        answer = api.post(f"jobs/{id}/cancel")
        assert (answer.status, answer.json["job"]) == (202, id)
    go_on.set()
    job = ended_job(api, first)
    assert (job["state"], job["done"], job["total"]) == ("cancelled", 1, 3)
    assert "kept, and can be undone" in job["error"]
    assert ended_job(api, second)["done"] == 0
    assert items_of(api) == {"pay the invoice": ["money"]}
    api.post("undo", {"batch": first})
    assert items_of(api) == {}


def keyed(api: Api, key: str, content: bytes = CSV, **fields: str) -> Answer:
    body = form([("items.csv", content)], **fields)
    return api.post("import", body, media=MEDIA, headers={"Idempotency-Key": key})


def test_an_import_that_is_sent_again_with_its_key_is_one(api: Api) -> None:
    first = keyed(api, "k")
    job = job_of(api, first)
    again = keyed(api, "k")
    assert (again.status, again.json) == (202, first.json)
    assert job_of(api, again) == job
    for other in (keyed(api, "k", CSV + b"x,y\n"), keyed(api, "k", format="csv")):
        assert (other.status, other.kind) == (422, "refused")
        assert "'k' was used for another request" in other.json["detail"]
    assert keyed(api, "another").json != first.json
    assert keyed(api, "a b").status == 422


def test_an_import_goes_on_after_a_restart_if_it_is_sent_again_with_its_key(api: Api) -> None:
    job = job_of(api, keyed(api, "k"))
    api.service.jobs._jobs.clear()  # as after a restart
    hotel = next(each for each in api.get("items").json["items"] if each["title"] == "the hotel")
    assert api.post("undo", {"seq": hotel["seq"]}).status == 200
    again = job_of(api, keyed(api, "k"))
    assert again["job"] == job["job"]
    assert (again["learnt"], again["open"], again["known"]) == (0, 0, 3)
    assert set(items_of(api)) == {"pay the invoice", "book the flight"}  # stays undone


def test_a_job_that_has_ended_is_not_stopped(api: Api) -> None:
    job = job_of(api, upload(api, CSV))
    assert api.post(f"jobs/{job['job']}/cancel").json["state"] == "done"
    assert api.get(f"jobs/{job['job']}").json["state"] == "done"
    assert api.post("jobs/none/cancel").status == 404


def test_no_file_stays_behind(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    job_of(api, upload(api, CSV))
    assert upload(api, b"", "a.csv").status == 422
    assert upload(api, CSV, delimiter="long").status == 422
    assert list(tmp_path.iterdir()) == []
