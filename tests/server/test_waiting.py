"""A request that takes long holds up no other one."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tagalong.journal import Workspace
from tagalong.server.api import suggesting
from tagalong.server.api.dispatch import OTHER_BYTES
from tests.server.api_server import Api
from tests.server.test_api_events import stream
from tests.server.upload_forms import job_of, upload
from tests.timeouts import TIMEOUT

CSV = b"text,labels\npay the invoice,money\n"


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads that make suggestions."""
    found: list[str] = []
    for name in ("suggest", "suggest_at_once"):
        made = getattr(Workspace, name)

        def noted(self: Workspace, *args: Any, made: Any = made) -> Any:
            found.append(threading.current_thread().name)
            return made(self, *args)

        monkeypatch.setattr(Workspace, name, noted)
    return found


def requests(api: Api, text: str) -> None:
    """Ask for suggestions in every way."""
    assert api.post("suggest", {"text": text}).json["suggestions"]
    assert api.post("suggest", {"fields": {"a": text}}).json["suggestions"]
    assert api.post("items", {"text": text, "id": "x"}).json["suggestions"]
    assert api.get("items/x").json["suggestions"]


def test_suggestions_for_short_texts_are_made_at_once(api: Api, threads: list[str]) -> None:
    api.add("pay the invoice", ["money"])
    threads.clear()
    requests(api, "the invoice")
    assert len(threads) == 4
    assert not any(name.startswith("tagalong serve") for name in threads)


def test_suggestions_for_long_texts_are_made_in_other_threads(api: Api, threads: list[str]) -> None:
    api.add("pay the invoice", ["money"])
    threads.clear()
    requests(api, "x" * (suggesting.CHARACTERS_AT_ONCE + 1))
    assert len(threads) == 4
    assert all(name.startswith("tagalong serve") for name in threads)


def test_only_a_request_for_a_model_that_is_in_use_waits(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.add("pay the invoice", ["money"])
    waits = threading.Event()
    suggest = Workspace.suggest

    def noted(self: Workspace, *args: Any) -> Any:
        waits.set()
        return suggest(self, *args)

    monkeypatch.setattr(Workspace, "suggest", noted)
    tagger = api.service.workspaces.loaded[api.workspace].tagger
    with ThreadPoolExecutor() as pool, tagger._lock:
        asked = pool.submit(api.post, "suggest", {"text": "invoice"})
        assert waits.wait(TIMEOUT)
        assert api.get("/healthz").status == 200
        assert api.get("items").status == 200
        assert not asked.done()
        tagger._lock.release()
        try:
            assert asked.result(TIMEOUT).status == 200
        finally:
            tagger._lock.acquire()


def test_imports_that_wait_hold_up_no_request(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    add_many = Workspace.add_many

    def slow(self: Workspace, *args: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(TIMEOUT)
        return add_many(self, *args, **options)

    monkeypatch.setattr(Workspace, "add_many", slow)
    answers = [upload(api, CSV)]
    assert begun.wait(TIMEOUT)
    try:
        while (last := upload(api, CSV)).status == 202:
            answers.append(last)
        assert (last.status, last.kind, last.headers["retry-after"]) == (429, "too-many-jobs", "10")
        assert len(answers) == 32  # as many as the threads that requests have
        assert api.get("items").status == 200
        assert api.get("/metrics").status == 200
        api.add("book the flight", id="a")
        api.answer("a", ["travel"])
    finally:
        go_on.set()
    assert {job_of(api, each)["state"] for each in answers} == {"done"}


def test_a_body_of_json_has_the_size_that_an_item_needs(shared: Api) -> None:
    limits = shared.service.limits
    largest = {"text": "я" * (limits.item_bytes // 2)}
    assert shared.post("suggest", largest).status == 200  # written with escapes
    most = 3 * limits.item_bytes + OTHER_BYTES
    refused = shared.post("suggest", b'{"text": "' + b"x" * most)
    assert (refused.status, refused.kind) == (413, "body-too-large")
    assert f"{most:,} are allowed" in refused.json["detail"]
    # Other bodies are read piece by piece.
    lines = b'{"text": "x"}\n' + b" " * most
    assert shared.post("items:batch", lines, media="application/x-ndjson").status == 200


def test_the_end_of_the_journal_is_read_in_another_thread(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    tip: Any = Workspace.tip

    def noted(self: Workspace) -> int:
        names.append(threading.current_thread().name)
        return int(tip.fget(self))

    monkeypatch.setattr(Workspace, "tip", property(noted))
    with stream(api):
        pass
    assert names
    assert all(name.startswith("tagalong serve") for name in names)
