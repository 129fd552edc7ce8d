"""Ids, labels and texts arrive as they were given, or are refused before anything is sent."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagalong import Item
from tagalong.client import Client
from tests.client.fake_server import TOKEN, FakeServer, running

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=100)
VALUES = st.dictionaries(
    NAMES, st.floats(allow_nan=False, allow_infinity=False) | TEXTS | st.lists(TEXTS)
)
MANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[FakeServer, Client]]:
    with running() as server, Client(server.url, TOKEN) as client:
        yield server, client


@MANY
@given(id=NAMES, labels=st.lists(NAMES))
def test_ids_and_labels(shared: tuple[FakeServer, Client], id: str, labels: list[str]) -> None:
    server, client = shared
    server.items.clear()
    server.answers.clear()
    assert client.add("rent", id=id).id == id
    client.answer(id, labels)
    assert server.answers == [(id, labels)]
    assert client.item(id).labels == labels
    assert server.requests[-1].raw_path.isascii()


@pytest.mark.parametrize(
    "id", ["..", ".", "a/b", "a/../b", "?", "#", "%2F", "ä", "a b", "/", "a;b"]
)
def test_ids_that_look_like_paths(shared: tuple[FakeServer, Client], id: str) -> None:
    server, client = shared
    server.items.clear()
    client.add("rent", id=id)
    assert client.item(id).id == id
    sent = server.requests[-1].path.rpartition("/")[2]
    assert "/" not in sent
    assert set(sent) - {"."}, "only dots would be a step to another folder"


@MANY
@given(text=TEXTS | st.dictionaries(TEXTS, TEXTS), values=VALUES)
def test_contents(
    shared: tuple[FakeServer, Client], text: object, values: dict[str, object]
) -> None:
    server, client = shared
    server.items.clear()
    given_item = Item("a", text, values)  # type: ignore[arg-type]
    client.add(given_item)
    found = client.item("a").item
    assert found.text == text
    expected = {
        name: sorted(set(value)) if isinstance(value, list) else value
        for name, value in values.items()
    }
    assert found.features == expected
    server.items.clear()
    list(client.add_many([given_item]))
    assert client.item("a").item == found


@pytest.mark.parametrize(
    "item, place",
    [
        ("a\ud800b", "the text is not valid Unicode: character 2"),
        (Item(text={"body": "\udfff"}), "field 'body' is not valid Unicode"),
        (Item(text={"\udfff": "body"}), "the name of a field is not valid Unicode"),
        (Item("\ud800", "text"), "the id of the item is not valid Unicode"),
        (Item("a", "text", labels=("\ud800",)), "the label '\\\\ud800' is not valid Unicode"),
        ({"colour": "\ud800"}, "feature 'colour' is not valid Unicode"),
        ({"colours": ["a", "\ud800"]}, "feature 'colours' is not valid Unicode"),
        ({"price": float("nan")}, "feature 'price' is nan; values must be finite"),
        ({"price": float("-inf")}, "feature 'price' is -inf; values must be finite"),
        ({"price": object()}, "feature 'price' must be a number, a text or a collection of texts"),
        ({3: "a"}, "the name of a feature must be a text, got 3"),
        (3, "an item must be a text, a mapping of feature names to values, or an Item, got int"),
    ],
)
def test_items_that_cannot_be_sent(
    shared: tuple[FakeServer, Client], item: object, place: str
) -> None:
    server, client = shared
    before = len(server.requests)
    with pytest.raises(ValueError, match=place):
        client.add(item)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=place):
        list(client.add_many([item]))  # type: ignore[list-item]
    assert len(server.requests) == before


@pytest.mark.parametrize("id", ["", None, 3, "\ud800"])
def test_ids_that_cannot_be_sent(shared: tuple[FakeServer, Client], id: str) -> None:
    server, client = shared
    before = len(server.requests)
    for call in (client.item, client.forget, client.skip, client.explain):
        with pytest.raises(ValueError, match="the id of an item"):
            call(id)
    with pytest.raises(ValueError, match="the id of an item"):
        client.answer(id, ["a"])
    assert len(server.requests) == before


@pytest.mark.parametrize("labels", [3, {"a": 1}, b"a", [3], ["a", None], "\ud800"])
def test_labels_that_cannot_be_sent(shared: tuple[FakeServer, Client], labels: object) -> None:
    server, client = shared
    before = len(server.requests)
    with pytest.raises(ValueError, match="label"):
        client.answer("a", labels)
    assert len(server.requests) == before
