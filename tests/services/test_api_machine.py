"""A server gives what its events give from scratch, whatever is requested in which order.

Hypothesis makes sequences of API calls to a workspace of a server process, which is stopped or
killed now and then. The naive workspace (tests/journal/naive.py) gets the same requests: both
answer the same or refuse for the same reason, and have the same model, items, labels, settings and
figures.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tagalong import Item
from tagalong.evaluate.json_values import for_json
from tests.journal.examples import START, naive_workspace, new_workspace
from tests.journal.naive import ANY, NaiveWorkspace
from tests.journal.test_state_machine import (
    IDS,
    LABELS,
    MOST_RECENT,
    PRESENT,
    SETTINGS,
    answers,
    contents,
    label_lists,
    labels,
    places,
    precisions,
    shown_labels,
)
from tests.server.answers import Answer
from tests.services.api_answers import expected_answer, item_json
from tests.services.calls import Calls
from tests.services.server_process import ServerProcess, serving

STEPS_BETWEEN_LOOKS = 4
ids = st.sampled_from((*IDS, *[None] * len(IDS)))
keys = st.sampled_from([None, None, "first", "second", "third"])


class ApiMachine(RuleBasedStateMachine):
    """Requests to a workspace of a server and to the naive one."""

    server: ClassVar[ServerProcess]
    number: ClassVar[int] = 0
    naive: NaiveWorkspace

    @initialize(
        start=st.sampled_from(sorted(START)),
        changes=st.sampled_from([{}, {"content": "features", "audit": 0.5}, {"one_label": True}]),
    )
    def create(self, start: str, changes: dict[str, Any]) -> None:
        ApiMachine.number += 1
        name = f"example-{ApiMachine.number}"
        new_workspace(self.server.folder / "workspaces" / name, start, changes).close()
        self.naive = naive_workspace(start, self._created_with(start, changes))
        self.calls = Calls(self.server.url, self.server.token, name)
        self.sent: list[tuple[str, str, Any, str, Answer]] = []
        self.used: set[tuple[str, str | None]] = set()
        self.steps = 0

    @staticmethod
    def _created_with(start: str, changes: dict[str, Any]) -> dict[str, Any]:
        """Settings that a new workspace takes from its tagger."""
        return {"audit": START[start]().audit, **changes}

    def _request(
        self, method: str, path: str, body: Any, naive: Any, key: str | None = None
    ) -> Answer:
        """Send a request; the answer is that of the naive workspace."""
        if (path, key) in self.used:
            key = None  # the same key again is a rule of its own
        self.steps += 1
        found = self.calls.send(method, path, body, key)
        expected = expected_answer(naive)
        assert expected.agrees_with(found), (method, path, body, found, expected)
        if key is not None and found.status < 300:
            self.used.add((path, key))
            self.sent.append((method, path, body, key, found))
        return found

    # Items.

    @rule(
        id=ids,
        item=contents,
        given=st.none() | label_lists,
        key=keys,
        again=st.sampled_from([0, 1]),
    )
    def add(
        self, id: str | None, item: Item, given: list[str] | None, key: str | None, again: bool
    ) -> None:
        if id is None:
            id = f"new-{self.steps}-{self.naive.tip}"
        body = item_json(replace(item, id=id), given)
        for _ in range(1 + again):  # the same item again changes nothing
            naive = partial(self.naive.add, replace(item, id=id), given)
            found = self._request("POST", "items", body, naive, key)
            if found.status < 300:
                assert found.json["id"] == id
                assert len(found.json["suggestions"]) <= 5

    @rule(item=contents, given=st.none() | label_lists)
    def add_without_an_id(self, item: Item, given: list[str] | None) -> None:
        """The server makes an id."""
        self.steps += 1
        found = self.calls.post("items", item_json(item, given))
        id = found.json["id"] if found.status == 201 else "new"
        assert self.naive.state().find(id) is None
        expected = expected_answer(partial(self.naive.add, replace(item, id=id), given))
        assert expected.agrees_with(found), (found, expected)

    @rule(
        lines=st.lists(st.tuples(st.sampled_from(IDS), contents, st.none() | label_lists)),
        relabel=st.booleans(),
    )
    def add_a_batch(self, lines: list[tuple[str, Item, list[str] | None]], relabel: bool) -> None:
        self.steps += 1
        texts = [json.dumps(item_json(replace(item, id=id), given)) for id, item, given in lines]
        sent = "\n".join([*texts, "{"]).encode()
        path = f"items:batch?relabel={str(relabel).lower()}"
        found = self.calls.send("POST", path, sent, media="application/x-ndjson")
        assert found.status == 200, found
        *answered, bad = map(json.loads, found.body.splitlines())
        assert (bad["line"], bad["problem"]["status"]) == (len(lines) + 1, 400)
        for (id, item, given), answer in zip(lines, answered, strict=True):
            naive = partial(self.naive.add, replace(item, id=id), given, relabel=relabel)
            expected = expected_answer(naive)
            assert expected.agrees_with_line(answer), (answer, expected)

    def _id(self, place: int) -> str:
        """The id of an item that is there, or an id that may have been there."""
        present = [item.id for item in self.naive.state().items.values()]
        if present and place <= MOST_RECENT:
            return present[-1 - place % len(present)]
        return IDS[place % len(IDS)]

    @rule(place=places)
    def skip(self, place: int) -> None:
        id = self._id(place)
        self._request("POST", f"items/{quote(id)}/skip", None, partial(self.naive.skip, id))

    @rule(place=places, key=keys)
    def forget(self, place: int, key: str | None) -> None:
        id = self._id(place)
        self._request("DELETE", f"items/{quote(id)}", None, partial(self.naive.forget, id), key)
        # The keys of requests about a forgotten item may be gone with it.
        self.sent = [
            each for each in self.sent if each[0] == "DELETE" or not each[1].startswith("items")
        ]

    # Answers.

    @rule(place=places, given=label_lists, shown=shown_labels, was=answers, key=keys)
    def answer(
        self, place: int, given: list[str], shown: list[str] | None, was: Any, key: str | None
    ) -> None:
        id, body = self._id(place), {"labels": given}
        item = self.naive.state().find(id)
        if shown is not None:
            body["shown"] = [label for label in shown if label in self.naive.state().labels]
        if was is PRESENT:
            was = None if item is None else item.labels
        if was is not ANY:
            body["was"] = was
        naive = partial(self.naive.answer, id, **body)
        self._request("POST", f"items/{quote(id)}/answer", body, naive, key)

    @rule(place=places, given=label_lists, unknown=label_lists)
    def answer_in_part(self, place: int, given: list[str], unknown: list[str]) -> None:
        id, body = self._id(place), {"labels": given, "unknown": unknown}
        naive = partial(self.naive.answer, id, **body)
        self._request("POST", f"items/{quote(id)}/answer", body, naive)

    @rule(precision=st.sampled_from([None, 0.5]), preview=st.booleans())
    def accept_sure(self, precision: float | None, preview: bool) -> None:
        self.steps += 1
        state = self.naive.state(with_model=True)
        assert state.tagger is not None
        assert self.calls.get("model").status == 200  # every event is in it
        body = {"preview": preview} | ({} if precision is None else {"min_precision": precision})
        found = self.calls.post("accept-sure", body)
        if state.settings.paused and not preview:
            assert found.status == 409
            return
        required = state.settings.min_precision if precision is None else precision
        filed: list[tuple[str, list[str]]] = []
        asked: list[tuple[str, list[str]]] = []
        for item in sorted(state.items.values(), key=lambda item: item.seq):
            suggested = state.tagger.suggest(item.content, None, required)
            sure = [str(each.label) for each in suggested if each.sure]
            if item.state == "open" and sure:
                (asked if suggested.audited else filed).append((item.id, sure))
        assert found.status == 200
        batch = found.json["batch"]
        assert found.json["items"] == [{"id": id, "labels": sure} for id, sure in filed]
        assert found.json["asked"] == [id for id, _ in asked]
        assert (batch is not None) == (bool(filed or asked) and not preview)
        if batch is not None:
            for id, sure in filed:
                self.naive.file(id, sure, batch=batch)
            for id, sure in asked:
                self.naive.file(id, sure, asked=True, batch=batch)

    # Undo.

    @rule(place=places, cascade=st.booleans(), key=keys)
    def undo(self, place: int, cascade: bool, key: str | None) -> None:
        counting = [event.seq for event in self.naive.counting()]
        is_sound = place <= MOST_RECENT
        self._undo(counting[-1 - place % len(counting)] if is_sound else place - 15, cascade, key)

    def _undo(self, seq: int, cascade: bool, key: str | None = None) -> None:
        naive = partial(self.naive.undo, seq, cascade=cascade)
        self._request("POST", "undo", {"seq": seq, "cascade": cascade}, naive, key)

    def _undos(self) -> list[int]:
        return [event.seq for event in self.naive.counting() if event.kind == "undo"]

    @precondition(lambda self: self._undos())
    @rule(place=st.integers(0, 3), cascade=st.booleans())
    def undo_an_undo(self, place: int, cascade: bool) -> None:
        undos = self._undos()
        self._undo(undos[-1 - place % len(undos)], cascade)

    @precondition(lambda self: any(not self.naive.counts(e.seq) for e in self.naive.events))
    @rule(place=st.integers(0, 3))
    def undo_twice(self, place: int) -> None:
        undone = [event.seq for event in self.naive.events if not self.naive.counts(event.seq)]
        found = self.calls.post("undo", {"seq": undone[-1 - place % len(undone)]})
        assert (found.status, found.kind) == (409, "conflict")

    @precondition(lambda self: any(event.batch for event in self.naive.events))
    @rule(place=st.integers(0, 3), cascade=st.booleans())
    def undo_batch(self, place: int, cascade: bool) -> None:
        batches = list(dict.fromkeys(event.batch for event in self.naive.events if event.batch))
        batch = [*batches, "missing"][place % (len(batches) + 1)]
        naive = partial(self.naive.undo_batch, batch, cascade=cascade)
        self._request("POST", "undo", {"batch": batch, "cascade": cascade}, naive)

    # Labels and settings.

    def _label(self, place: int) -> str:
        """A label that is there, or one that may not be there."""
        known = sorted(self.naive.state().labels)
        if known and place <= MOST_RECENT:
            return known[-1 - place % len(known)]
        return LABELS[place % len(LABELS)]

    @rule(
        kind=st.sampled_from(["add", "rename", "rename", "merge", "merge", "target", "forget"]),
        place=places,
        other=labels,
        precision=precisions,
        key=keys,
        preview=st.booleans(),
    )
    def change_label(
        self, kind: str, place: int, other: str, precision: Any, key: str | None, preview: bool
    ) -> None:
        name, operate = self._label(place), self.naive.operate
        path, body = f"labels/{quote(name)}", dict[str, Any]()
        match kind:
            case "add":
                method, path, body = "POST", "labels", {"name": name, "min_precision": precision}
                naive = partial(operate, "label-added", **body)
            case "rename":
                method, body = "PATCH", {"name": other}
                naive = partial(operate, "label-renamed", name=name, to=other)
            case "merge":
                method, body = "PATCH", {"into": other}
                naive = partial(operate, "label-merged", name=name, into=other)
            case "target":
                method, body = "PATCH", {"min_precision": precision}
                naive = partial(operate, "label-target", name=name, min_precision=precision)
            case _:
                method = "DELETE"
                naive = partial(operate, "label-forgotten", name=name)
        if preview:
            self._preview(method, path, body or None)
        count = 0 if kind == "add" else self.naive.items_with_label(name)
        found = self._request(method, path, body or None, naive, key)
        if preview:
            assert self.previewed.status == found.status
            if found.status == 200:
                assert self.previewed.json == {"items": count}

    def _preview(self, method: str, path: str, body: Any) -> None:
        """Ask for a preview, which changes nothing."""
        assert self.calls.get("model").status == 200  # every event is in it
        self.previewed = self.calls.send(method, f"{path}?preview=true", body)
        summary = self.calls.get(f"/api/v1/workspaces/{self.calls.workspace}").json
        assert summary["seq"] == self.naive.tip

    @rule(changes=st.sampled_from(SETTINGS))
    def change_settings(self, changes: dict[str, Any]) -> None:
        naive = partial(self.naive.change_settings, **changes)
        self._request("PATCH", "settings", changes, naive)

    # Tries, and ends of the server.

    @precondition(lambda self: self.sent)
    @rule(place=st.integers(0, 5), is_other=st.booleans())
    def send_again_with_its_key(self, place: int, is_other: bool) -> None:
        """The same request with its key has no further effect; another one is refused."""
        method, path, body, key, first = self.sent[-1 - place % len(self.sent)]
        if is_other:
            found = self.calls.send(method, path, _another(path, body), key)
            assert found.status == (422 if body else first.status), (path, body, found)
        else:
            found = self.calls.send(method, path, body, key)
            assert found.status in (first.status, 200), (path, body, first, found)
            assert found.json["seq"] == first.json["seq"]

    @rule(how=st.sampled_from(["stop", "kill", "", "", "", ""]))
    def end_and_start(self, how: str) -> None:
        if how == "stop":
            assert self.server.stop() == 0
        elif how == "kill":
            self.server.kill()
        else:
            return
        self.server.start()

    # Everything follows from the events.

    @invariant()
    @precondition(lambda self: hasattr(self, "naive") and self.steps % STEPS_BETWEEN_LOOKS == 0)
    def equals_the_naive_workspace(self) -> None:
        self._compare()

    def _compare(self) -> None:
        state = self.naive.state(with_model=True)
        assert state.tagger is not None
        model = self.calls.get("model").json
        assert (model["seq"], model["hash"]) == (self.naive.tip, state.hash)
        assert self.calls.get("settings").json == state.settings.to_json()
        found = [each["name"] for each in self.calls.get("labels").json["labels"]]
        assert found == [str(label) for label in state.tagger.labels]
        assert self.calls.get("report").json["report"] == json.loads(
            json.dumps(for_json(state.report))
        )
        for which in ("open", "answered", "asked", "filed", None):
            query = "" if which is None else f"&state={which}"
            items = self.calls.get(f"items?limit=500{query}").json["items"]
            assert [item["seq"] for item in items] == self.naive.newest(which)
            for item in items:
                naive = state.items[item["seq"]]
                expected = (naive.id, naive.state, naive.labels)
                assert (item["id"], item["state"], item["labels"]) == expected
        events = self.calls.get("events?limit=1000").json["events"]
        assert [event["kind"] for event in events] == [each.kind for each in self.naive.events]
        assert [event["seq"] for event in events if not event["undone"]] == [
            each.seq for each in self.naive.counting()
        ]

    def teardown(self) -> None:
        if hasattr(self, "naive"):
            self._compare()
            assert self.server.messages == ""
            gone = self.calls.send("DELETE", f"/api/v1/workspaces/{self.calls.workspace}")
            assert gone.status == 204, gone


def _another(path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    """Another request to the same place; None if it has no body."""
    if body is None:
        return None
    if path == "undo":
        return {"seq": 10**6}
    if path.startswith("items"):
        return {**body, "labels": ["another"]}
    return {"name": "another"}


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One server for all examples, each with a workspace of its own."""
    folder: Path = tmp_path_factory.mktemp("machine") / "w"
    with serving(folder) as ApiMachine.server:
        yield


IS_LONG = bool(os.environ.get("TAGALONG_NEW_EXAMPLES"))
ApiMachine.TestCase.settings = settings(
    max_examples=200 if IS_LONG else 25,
    stateful_step_count=50 if IS_LONG else 30,
    # Making a failing example smaller takes minutes with a real server.
    phases=set(Phase) if IS_LONG else set(Phase) - {Phase.shrink},
)
TestApi = ApiMachine.TestCase
