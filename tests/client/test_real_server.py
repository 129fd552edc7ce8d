"""A client and the real server, over a loopback socket."""

import socket
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tagalong
from tagalong import Item, readers
from tagalong.client import Added, Client, Conflict, NotFound, Refused, Unauthorized
from tagalong.journal import WorkspaceView
from tagalong.server.http.listening import listen_at
from tests.server.api_server import Api, serving

IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=100)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    folder = tmp_path / "w"
    folder.mkdir()
    with serving(folder) as api:
        yield api


@pytest.fixture
def client(api: Api) -> Iterator[Client]:
    with Client(api.url, api.token) as client:
        yield client


def test_the_example_of_the_class(client: Client) -> None:
    """The example in the docstring of `Client`, with what it prints."""
    added = client.add("Your invoice is due on Friday")
    client.answer(added.id, ["money"])
    client.learn("Your flight to Lisbon", ["travel"])
    shown = [str(suggestion) for suggestion in client.suggest("The invoice for your flight")]
    assert sorted(line.split()[-1] for line in shown) == ["money", "travel"]
    undone = client.undo(client.answer(added.id, ["travel"]))
    assert (undone, client.summary()["seq"]) == (6, 6)
    assert client.item(added.id).labels == ["money"]


def test_an_item_from_beginning_to_end(client: Client) -> None:
    added = client.add(Item("a", {"subject": "rent"}, {"n": 1, "c": "x"}), title="t", source="s")
    assert (added.id, added.seq, added.outcome, added.suggestions) == ("a", 2, "new", [])
    assert client.add(Item("a", {"subject": "rent"}, {"n": 1, "c": "x"})).outcome == "known"
    with pytest.raises(Conflict, match="other content"):
        client.add("tax", id="a")
    assert client.answer("a", ["home"], was=None) == 3
    with pytest.raises(Conflict) as caught:
        client.answer("a", ["money"], was=None)
    assert caught.value.present == ["home"]
    assert client.correct("a", ["money"], was="home") == 4
    assert client.feedback("a", shown=["home", "money"], accepted=["home"]) == 5
    found = client.item("a")
    assert (found.state, found.labels, found.title, found.source) == (
        "answered",
        ["home"],
        "t",
        "s",
    )
    assert found.item == Item("a", {"subject": "rent"}, {"n": 1.0, "c": "x"}, ("home",))
    assert found.suggestions is not None
    assert {each.label for each in found.suggestions} == {"home", "money"}
    explained = client.explain("a", "home")
    assert explained.label == "home"
    assert explained.total == pytest.approx(explained.score)
    assert any("rent" in name for name, _ in explained.parts)
    assert [each.id for each in client.items("answered", q="rent")] == ["a"]
    assert list(client.items("open")) == []
    assert client.forget("a") == 6
    with pytest.raises(NotFound):
        client.item("a")


def test_open_items(client: Client) -> None:
    for number in range(7):
        client.add(f"text {number}", id=f"i{number}")
    client.skip("i3")
    found = [each.id for each in client.items("open", page=3)]
    assert sorted(found) == [f"i{number}" for number in range(7)]
    assert found[-1] == "i3"
    with pytest.raises(Refused):
        list(client.items("somewhere"))


def test_labels_and_settings(client: Client) -> None:
    client.learn("rent", ["home"])
    client.add_labels(["money", "travel"])
    client.rename_label("travel", "trips")
    client.merge_labels(["money", "trips"], into="other")
    client.set_min_precision("other", "never")
    assert {each["name"]: each["min_precision"] for each in client.labels()} == {
        "home": None,
        "other": "never",
    }
    with pytest.raises(Conflict, match="there is a label 'home' already"):
        client.add_labels(["home"])
    client.forget_label("other")
    assert [each["name"] for each in client.labels()] == ["home"]
    client.change_settings(labels="fixed", min_precision=0.9)
    assert client.settings()["min_precision"] == 0.9
    with pytest.raises(Refused, match="there is no label 'travel'"):
        client.learn("flight", ["travel"])
    with pytest.raises(Refused):
        client.change_settings(nothing=1)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(id=IDS, label=IDS)
def test_any_id_and_label(client: Client, id: str, label: str) -> None:
    client.add("rent", id=id)
    client.answer(id, [label])
    assert client.item(id).labels == [label]
    client.rename_label(label, f"{label}!")
    assert client.item(id).labels == [f"{label}!"]
    client.forget_label(f"{label}!")


def test_a_batch(client: Client) -> None:
    items = [Item(str(n), f"text {n}", labels=(f"l{n % 3}",), weight=0.5) for n in range(600)]
    found = list(client.add_many([*items, items[0], Item("1", "other")]))
    assert [each.outcome for each in found[:601] if isinstance(each, Added)] == [
        *["new"] * 600,
        "known",
    ]
    assert isinstance(found[601], Conflict)
    changed = Item("0", "text 0", labels=("l2",), weight=0.5)
    assert isinstance(next(client.add_many([changed])), Conflict)
    (answered,) = client.add_many([changed], relabel=True)
    assert isinstance(answered, Added)
    assert answered.outcome == "answered"
    assert client.summary()["items"]["answered"] == 600


def test_the_model_is_that_of_the_workspace(client: Client, api: Api, tmp_path: Path) -> None:
    items = [Item(str(n), f"word{n % 7} w{n % 3}", labels=(f"l{n % 3}",)) for n in range(50)]
    list(client.add_many(items))
    client.save(tmp_path / "m.tagalong")
    model = tagalong.load(tmp_path / "m.tagalong")
    assert client.model()["hash"] == tagalong.model_hash(model)
    texts = [Item(text=f"word{n} w{n % 2}", id="" if n % 2 else str(n)) for n in range(20)]
    for item, ours, theirs in zip(
        texts, model.suggest_many(texts), client.suggest_many(texts), strict=True
    ):
        assert theirs == ours, item
        for name in ("whole", "known", "in_runs", "audited"):
            assert getattr(theirs, name) == getattr(ours, name)
    assert client.report()["report"]["items"] == 50
    client.export(tmp_path / "items.jsonl")
    exported = list(readers.read(tmp_path / "items.jsonl"))
    assert [(each.id, each.labels) for each in exported] == [(e.id, e.labels) for e in items]


def test_import(client: Client, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,team\nprinter broken,it\nsalary,hr\n")
    done = client.wait_for(client.import_file(tmp_path / "t.csv", text="title", labels="team"))
    assert (done.state, done.done) == ("done", 2)
    assert {each["name"] for each in client.labels()} == {"it", "hr"}
    with pytest.raises(Refused):
        client.import_file(tmp_path / "t.csv", format="no-such-format")


def test_sure_items_are_accepted(client: Client) -> None:
    assert client.accept_sure(0.9, preview=True).items == []
    assert client.accept_sure().batch is None


def test_events(client: Client) -> None:
    client.add("rent", id="a")
    client.answer("a", ["home"])
    found = list(islice(client.events(after=1), 2))
    assert [(each.seq, each.kind, each.values["id"]) for each in found] == [
        (2, "item", "a"),
        (3, "answer", "a"),
    ]
    (answer,) = islice(client.events(after=0, kinds=["answer"]), 1)
    assert answer.values["labels"] == ["home"]


def test_workspaces(client: Client, api: Api) -> None:
    client.create_workspace("team-b")
    assert sorted(client.workspaces()) == ["default", "team-b"]
    with Client(api.url, api.token, "team-b") as other:
        other.learn("rent", ["home"])
        assert other.summary()["items"]["answered"] == 1
    assert client.summary()["items"]["answered"] == 0
    client.remove_workspace("team-b")
    with pytest.raises(NotFound):
        client.remove_workspace("team-b")


def test_answers_are_sent_at_once() -> None:
    """Only sockets that know their protocol get TCP_NODELAY; others wait 40 ms per answer."""
    for listening in listen_at("127.0.0.1", 0):
        with listening:
            assert listening.proto == socket.IPPROTO_TCP


def test_a_wrong_token(api: Api) -> None:
    with Client(api.url, "x" * 43) as client, pytest.raises(Unauthorized) as caught:
        client.suggest("rent")
    assert "x" * 43 not in str(caught.value)


def test_texts_with_surrogates_are_refused_by_the_server_too(api: Api) -> None:
    assert api.post("items", b'{"text": "\\ud800"}').status in (400, 422)


def test_everything_is_in_the_journal(tmp_path: Path) -> None:
    with serving(tmp_path) as api, Client(api.url, api.token) as client:
        for number in range(30):
            client.add(f"text {number}", ["x"], id=str(number))
    with WorkspaceView(tmp_path) as view:
        assert view.item_counts() == {"answered": 30}
