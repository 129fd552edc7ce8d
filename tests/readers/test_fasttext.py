"""fastText lines: labels, prefix, errors, writing."""

import pytest

from tagalong.readers import Item, OptionError
from tests.readers.in_memory import error, found, items, written


def test_labels_are_at_the_start_of_a_line() -> None:
    lines = "__label__a __label__b\tsome  text __label__c\n\nno label\n__label__x\n  __label__y z\n"
    seen = items(lines, "fasttext")
    assert [(item.labels, item.text, item.place) for item in seen] == [
        (("a", "b"), "some  text __label__c", "f:1"),
        (None, "no label", "f:3"),
        (("x",), "", "f:4"),
        (("y",), "z", "f:5"),
    ]
    assert items(lines, "fasttext", unlabelled="empty")[1].labels == ()


def test_custom_prefix() -> None:
    assert items("#a #b text", "fasttext", prefix="#") == [Item("", "text", {}, ("a", "b"))]
    with pytest.raises(OptionError, match="prefix"):
        found("a", "fasttext", prefix="a b")


def test_a_prefix_without_a_label() -> None:
    assert error("ok\n__label__ a\n", "fasttext").startswith(
        "f:2: the prefix __label__ must be followed"
    )


def test_many_labels_are_fast() -> None:
    (item,) = items("__label__a " * 200_000 + "end", "fasttext")
    assert (item.labels, item.text) == (("a",), "end")


def test_fields_and_lines_are_joined() -> None:
    data, _ = written([Item("i", {"s": "a\nb", "": " c "}, {}, ("x",))], "fasttext")
    assert data == b"__label__x a b c\n"


@pytest.mark.parametrize(
    "item, problem",
    [
        (Item("i", "t", labels=("a b",)), "'a b'"),
        (Item("i", "t", labels=("",)), "''"),
        (Item("i", "t", {"x": 1.0}), "'x'"),
        (Item("i", "t", weight=2.0), "weight"),
        (Item("i", " ", labels=()), "neither labels nor text"),
        (Item("i", "t", labels=()), "unlabelled='empty'"),
        (Item("i", "__label__t", labels=("a",)), "read as a label"),
    ],
)
def test_unwritable_items_raise(item: Item, problem: str) -> None:
    with pytest.raises(ValueError, match=f"item 1 .'i'.*{problem}"):
        written([item], "fasttext")
