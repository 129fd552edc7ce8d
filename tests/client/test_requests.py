"""The requests that a client sends, and the results that it makes of the answers."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tagalong import Item
from tagalong.client import Accepted, Added, Client, Conflict, Refused
from tagalong.tagger import Suggestion
from tests.client.fake_server import TOKEN, FakeServer, Received, Reply, W, problem

SEQ = Reply(200, {"seq": 7})
TAGS: dict[str, Any] = {"tags": {"b", "a"}}


def replying(reply: Reply) -> Callable[[Received], Reply]:
    return lambda request: reply


@pytest.mark.parametrize(
    "item, sent",
    [
        ("rent", {"text": "rent"}),
        (Item("a", "rent"), {"id": "a", "text": "rent"}),
        (Item("a" * 513, "rent"), {"text": "rent"}),
        (Item("\ud800", "rent"), {"text": "rent"}),
        ({"price": 3, "colour": "red", "gone": None}, {"values": {"price": 3.0, "colour": "red"}}),
        (Item(text={"subject": "a", "": "b"}), {"fields": {"subject": "a", "": "b"}}),
        (
            Item(text="rent", features=TAGS, labels=("x",), weight=2.0),
            {"text": "rent", "values": {"tags": ["a", "b"]}},
        ),
    ],
)
def test_suggest(client: Client, server: FakeServer, item: Any, sent: dict[str, Any]) -> None:
    found = client.suggest(item, k=3, min_precision=0.9)
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", f"{W}/suggest")
    assert request.json == {**sent, "k": 3, "min_precision": 0.9}
    assert request.key is None
    assert request.headers["content-type"] == "application/json"
    assert found == [Suggestion("money", 0.1 + 0.2, 0.75, chosen=True, sure=False)]
    assert (found.whole, found.known, found.in_runs, found.audited) == (0.5, 3, False, True)


def test_suggestions_come_in_the_order_of_the_items(client: Client, server: FakeServer) -> None:
    def by_length(request: Received) -> Reply:
        suggestion = {"probability": 0, "chosen": False, "sure": False, "label": "a"}
        return Reply(200, {"suggestions": [{**suggestion, "score": len(request.json["text"])}]})

    server.replies["/suggest"] = by_length
    found = client.suggest_many(["a" * size for size in range(1, 40)], k=1)
    assert [each[0].score for each in found] == list(range(1, 40))


def test_an_item_that_is_refused_ends_a_batch_of_suggestions(
    client: Client, server: FakeServer
) -> None:
    server.replies["/suggest"] = lambda request: (
        problem(422, "not-valid", "bad") if request.json["text"] == "bad" else SEQ
    )
    with pytest.raises(Refused):
        client.suggest_many(["bad"] * 20)


def test_add(client: Client, server: FakeServer) -> None:
    date = datetime(2026, 1, 31, 12, tzinfo=UTC)
    found = client.add("rent", ["home"], id="a", title="t", source="s", date=date, k=2)
    assert server.requests[0].json == {
        "text": "rent",
        "id": "a",
        "labels": ["home"],
        "title": "t",
        "source": "s",
        "date": "2026-01-31T12:00:00+00:00",
    }
    assert server.requests[0].query == {"k": "2"}
    assert (found.id, found.seq, found.is_new) == ("a", 1, True)
    assert found.suggestions[0].label == "money"
    again = client.add(Item("a", "rent", labels=("home",)))
    assert (again.id, again.seq, again.is_new) == ("a", 1, False)


def test_add_takes_everything_from_an_item(client: Client, server: FakeServer) -> None:
    date = datetime(2026, 1, 31, tzinfo=UTC)
    client.add(Item("a", "rent", {"n": 1}, ("x", "y"), weight=2.0, date=date))
    assert server.requests[0].json == {
        "id": "a",
        "text": "rent",
        "values": {"n": 1.0},
        "labels": ["x", "y"],
        "weight": 2.0,
        "date": "2026-01-31T00:00:00+00:00",
    }


def test_learn(client: Client, server: FakeServer) -> None:
    client.learn("rent", "home")
    client.learn(Item("b", "flight", labels=()))
    assert [each.json["labels"] for each in server.requests] == [["home"], []]
    with pytest.raises(ValueError, match="labels must be given"):
        client.learn("rent")


def test_add_many(client: Client, server: FakeServer) -> None:
    client.add("other content", id="b")
    items: list[Item | str] = [Item("a", "rent", labels=("home",)), Item("b", "flight"), "no id"]
    found = list(client.add_many(items, source="s"))
    request = server.requests[1]
    assert (request.path, request.headers["content-type"]) == (
        f"{W}/items:batch",
        "application/x-ndjson",
    )
    lines = [json.loads(line) for line in request.body.splitlines()]
    assert lines[0] == {"id": "a", "text": "rent", "labels": ["home"], "source": "s"}
    assert isinstance(found[0], Added)
    assert found[0].id == "a"
    assert isinstance(found[1], Conflict)
    assert isinstance(found[2], Added)
    assert request.query == {}
    assert server.items[found[2].id]["text"] == "no id"


def test_add_many_with_other_labels(client: Client, server: FakeServer) -> None:
    for label, outcome in (("x", "new"), ("x", "known"), ("y", "answered")):
        (found,) = client.add_many([Item("a", "rent", labels=(label,))], relabel=True)
        assert isinstance(found, Added)
        assert (found.outcome, found.is_new) == (outcome, outcome == "new")
        assert server.requests[-1].query == {"relabel": "true"}
    assert server.items["a"]["labels"] == ["y"]


def test_many_items_are_sent_in_batches(client: Client, server: FakeServer) -> None:
    assert len(list(client.add_many(f"text {number}" for number in range(600)))) == 600
    assert [len(each.body.splitlines()) for each in server.requests] == [256, 256, 88]
    server.requests.clear()
    assert len(list(client.add_many(["x" * 400_000] * 5))) == 5
    assert [len(each.body.splitlines()) for each in server.requests] == [2, 2, 1]


def test_items_before_one_that_cannot_be_sent_are_added(client: Client, server: FakeServer) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        list(client.add_many(["good", "b\ud800d", "never sent"]))
    assert [each["text"] for each in server.items.values()] == ["good"]


@pytest.mark.parametrize(
    "call, sent",
    [
        (lambda client: client.answer("a", "x"), {"labels": ["x"]}),
        (lambda client: client.answer("a", []), {"labels": []}),
        (
            lambda client: client.answer("a", ["x"], shown=("x", "y"), unknown=["z"], was=None),
            {"labels": ["x"], "shown": ["x", "y"], "unknown": ["z"], "was": None},
        ),
        (lambda client: client.correct("a", ["x"]), {"labels": ["x"]}),
        (lambda client: client.correct("a", ["x"], was="y"), {"labels": ["x"], "was": ["y"]}),
        (
            lambda client: client.feedback("a", shown=["x", "y"], accepted=["y"]),
            {"labels": ["y"], "shown": ["x", "y"]},
        ),
    ],
)
def test_answers(
    client: Client, server: FakeServer, call: Callable[[Client], int], sent: dict[str, Any]
) -> None:
    server.replies["/items/a/answer"] = replying(SEQ)
    assert call(client) == 7
    assert server.requests[0].json == sent
    assert server.requests[0].key


@pytest.mark.parametrize(
    "call, method, path, sent",
    [
        (lambda client: client.undo(3), "POST", "/undo", {"seq": 3}),
        (
            lambda client: client.undo(batch="b", cascade=True),
            "POST",
            "/undo",
            {"batch": "b", "cascade": True},
        ),
        (lambda client: client.forget("a/b"), "DELETE", "/items/a%2Fb", None),
        (lambda client: client.rename_label("a", "b"), "PATCH", "/labels/a", {"name": "b"}),
        (lambda client: client.forget_label("a b"), "DELETE", "/labels/a%20b", None),
        (
            lambda client: client.set_min_precision("a", "never"),
            "PATCH",
            "/labels/a",
            {"min_precision": "never"},
        ),
        (
            lambda client: client.set_min_precision("..", None),
            "PATCH",
            "/labels/%2E%2E",
            {"min_precision": None},
        ),
        (
            lambda client: client.change_settings(audit=0.1, paused=True),
            "PATCH",
            "/settings",
            {"audit": 0.1, "paused": True},
        ),
    ],
)
def test_changes(
    client: Client,
    server: FakeServer,
    call: Callable[[Client], int],
    method: str,
    path: str,
    sent: Any,
) -> None:
    server.replies[path] = replying(SEQ)
    assert call(client) == 7
    (request,) = server.requests
    assert (request.method, request.path, request.query) == (method, W + path, {})
    assert (request.json if request.body else None) == sent
    assert request.key


def test_undo_takes_an_event_or_a_batch(client: Client) -> None:
    for given in ({}, {"seq": 1, "batch": "b"}):
        with pytest.raises(ValueError, match="either an event or a batch"):
            client.undo(**given)  # type: ignore[arg-type]


def test_add_labels(client: Client, server: FakeServer) -> None:
    server.replies["/labels"] = replying(SEQ)
    assert client.add_labels(name for name in ("a", "b")) == [7, 7]
    assert [each.json for each in server.requests] == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize(
    "into, sent",
    [
        ("c", [("/labels/a", {"into": "c"}), ("/labels/b", {"into": "c"})]),
        ("new", [("/labels/a", {"name": "new"}), ("/labels/b", {"into": "new"})]),
        ("b", [("/labels/a", {"into": "b"})]),
    ],
)
def test_merge_labels(
    client: Client, server: FakeServer, into: str, sent: list[tuple[str, Any]]
) -> None:
    listed = Reply(200, {"labels": [{"name": name} for name in "abc"]})
    server.replies["/labels"] = replying(listed)
    for name in "ab":
        server.replies[f"/labels/{name}"] = replying(SEQ)
    assert client.merge_labels(["a", "b", "a"], into) == [7] * len(sent)
    changes = [each for each in server.requests if each.method == "PATCH"]
    assert [(each.path.removeprefix(W), each.json) for each in changes] == sent


def test_skip(client: Client, server: FakeServer) -> None:
    server.replies["/items/a/skip"] = replying(Reply(204))
    client.skip("a")
    assert server.requests[0].method == "POST"


def test_accept_sure(client: Client, server: FakeServer) -> None:
    found = {"batch": "b", "items": [{"id": "a", "labels": ["x"]}], "asked": ["c"], "limited": 2}
    server.replies["/accept-sure"] = replying(Reply(200, found))
    assert client.accept_sure(0.9) == Accepted("b", [("a", ["x"])], ["c"], 2)
    client.accept_sure(preview=True)
    assert [each.json for each in server.requests] == [{"min_precision": 0.9}, {"preview": True}]


def test_items_are_fetched_page_by_page(client: Client, server: FakeServer) -> None:
    def page(request: Received) -> Reply:
        first = int(request.query.get("after", "0"))
        items = [
            {"id": f"i{n}", "seq": n + 1, "state": "open", "labels": None, "date": None}
            for n in range(first, min(first + 2, 5))
        ]
        return Reply(200, {"items": items, "next": str(first + 2) if first < 4 else None})

    server.replies["/items"] = page
    found = list(client.items("open", "unsure", source="s", q="some words", page=2))
    assert [each.id for each in found] == ["i0", "i1", "i2", "i3", "i4"]
    assert (found[0].state, found[0].labels, found[0].date) == ("open", None, "")
    asked = {"state": "open", "order": "unsure", "source": "s", "q": "some words", "limit": "2"}
    assert [each.query for each in server.requests] == [
        asked,
        {**asked, "after": "2"},
        {**asked, "after": "4"},
    ]


def test_item_and_explanation(client: Client, server: FakeServer) -> None:
    client.add(Item("a", {"subject": "rent"}, {"n": 1}))
    parts = [{"name": "rent", "value": 0.5}, {"name": "n", "value": -0.25}]
    explanation = {"label": "home", "score": 0.5, "base": 0.25, "parts": parts}
    server.replies["/items/a"] = lambda request: Reply(
        200, {**server.items["a"], "suggestions": [], "explanation": explanation}
    )
    found = client.item("a", label="home")
    assert server.requests[-1].query == {"k": "5", "label": "home"}
    assert found.item == Item("a", {"subject": "rent"}, {"n": 1.0})
    assert client.explain("a").parts == (("rent", 0.5), ("n", -0.25))


@pytest.mark.parametrize("name", ["settings", "report", "model"])
def test_facts_are_returned_as_they_are(client: Client, server: FakeServer, name: str) -> None:
    server.replies[f"/{name}"] = replying(Reply(200, {"some": ["thing"]}))
    assert getattr(client, name)() == {"some": ["thing"]}


def test_another_workspace(server: FakeServer) -> None:
    server.reply = lambda request: Reply(200, {"path": request.raw_path})  # type: ignore[method-assign]
    with Client(server.url, TOKEN, "team-b") as client:
        assert client.report() == {"path": "/api/v1/workspaces/team-b/report"}


def test_a_path_in_front_of_the_api(server: FakeServer) -> None:
    server.reply = lambda request: Reply(200, {"path": request.raw_path})  # type: ignore[method-assign]
    with Client(server.url + "tagalong/", TOKEN) as client:
        assert client.url == server.url + "tagalong/"
        assert client.report() == {"path": "/tagalong/api/v1/workspaces/default/report"}


def test_workspaces(client: Client, server: FakeServer) -> None:
    found = [Reply(200, {"workspaces": [{"name": "a"}]}), Reply(201, {"name": "b"}), Reply(204)]
    server.reply = lambda request: found[len(server.requests) - 1]  # type: ignore[method-assign]
    assert client.workspaces() == ["a"]
    client.create_workspace("b")
    client.remove_workspace("b")
    assert [(each.method, each.path) for each in server.requests] == [
        ("GET", "/api/v1/workspaces"),
        ("POST", "/api/v1/workspaces"),
        ("DELETE", "/api/v1/workspaces/b"),
    ]


def test_from_environment(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGALONG_SERVER", raising=False)
    monkeypatch.setenv("TAGALONG_TOKEN", f"{TOKEN}\n")
    with pytest.raises(ValueError, match="TAGALONG_SERVER is not set"):
        Client.from_environment()
    monkeypatch.setenv("TAGALONG_SERVER", server.url)
    with Client.from_environment() as client:
        assert client.suggest("rent")
