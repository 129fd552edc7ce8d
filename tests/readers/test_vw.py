"""Vowpal Wabbit's text format: namespaces, tags, numbered labels, errors."""

from pathlib import Path

import pytest

from tagalong.readers import Item, read, write
from tests.readers.in_memory import found, items, written


@pytest.mark.parametrize(
    "line, wanted",
    [
        ("a,b | x y:2", Item("", "", {"x": 1.0, "y": 2.0}, ("a", "b"))),
        (
            "1 2.5 'tag |ns:2 x y:3 |t z",
            Item("tag", "", {"ns^x": 2, "ns^y": 6, "t^z": 1}, ("1",), 2.5),
        ),
        ("1 2 0.5 tag| x", Item("tag", "", {"x": 1.0}, ("1",), 2.0)),
        ("| x", Item("", "", {"x": 1.0}, None)),
        ("tag|ns x x:2", Item("tag", "", {"ns^x": 3.0}, None)),
        ("-1 |", Item("", "", {}, ("-1",))),
        ("1 |ns", Item("", "", {}, ("1",))),
    ],
)
def test_lines(line: str, wanted: Item) -> None:
    assert items(line + "\n", "vw") == [wanted]


def test_a_missing_label_can_mean_no_labels() -> None:
    assert items("| x", "vw", unlabelled="empty")[0].labels == ()


@pytest.mark.parametrize(
    "line, problem",
    [
        ("1 x y", "must contain a '|'"),
        ("1:2.0 2:1.0 | x", "costs"),
        ("a,, | x", "empty label"),
        ("1 heavy | x", "weight"),
        ("1 -1 | x", "-1"),
        ("1 2 3 4 | x", "weight, base and tag"),
        ("1 | x:y", "'x'"),
        ("1 | x:inf", "x:inf"),
        ("1 | :2", "':2'"),
        ("1 |n:x y", "namespace 'n'"),
        ("1 | x:1e308 x:1e308", "x:1e308"),
    ],
)
def test_error_names_the_line_and_reading_continues(line: str, problem: str) -> None:
    seen = found(f"1 | a\n{line}\n2 | a\n", "vw")
    assert [each.labels for each in seen if isinstance(each, Item)] == [("1",), ("2",)]
    assert str(seen[1]).startswith("f:2: ")
    assert problem in str(seen[1])


def test_text_is_written_as_words() -> None:
    given = [
        Item("no 1", "one two\ntwo: a|b", {"n^x": 0.5, "y": 1.0, "c": "red"}, ("l",), 2.0),
        Item("", {"": "plain", "sub ject": "hi"}, {}, None),
    ]
    data, _ = written(given, "vw")
    assert data.decode().splitlines() == [
        "l 2.0 'no_1 |text one two two_ a_b |n x:0.5 | y c=red ",
        "|text plain |sub_ject hi ",
    ]
    assert items(data, "vw")[0].features == {
        "text^one": 1.0,
        "text^two": 1.0,
        "text^two_": 1.0,
        "text^a_b": 1.0,
        "n^x": 0.5,
        "y": 1.0,
        "c=red": 1.0,
    }


@pytest.mark.parametrize(
    "item, problem",
    [
        (Item("i", labels=("a b",)), "'a b'"),
        (Item("i", labels=("a,b",)), "'a,b'"),
        (Item("i", labels=("'a",)), "apostrophe"),
        (Item("i", labels=()), "unlabelled='empty'"),
        (Item("i", weight=2.0), "weight"),
        (Item("i", features={"a b": 1.0}), "'a b'"),
        (Item("i", features={"^b": 1.0}), r"'\^b'"),
        (Item("i", features={"a": "b c"}), "'b c'"),
    ],
)
def test_unwritable_items_raise(item: Item, problem: str) -> None:
    with pytest.raises(ValueError, match=f"item 1 .'i'.*{problem}"):
        written([item], "vw")


def test_label_numbers_are_ascending(tmp_path: Path) -> None:
    """Vowpal Wabbit's --multilabel_oaa ignores a label after a higher one."""
    many = tuple(f"label {place}" for place in range(12))
    items = [Item("1", labels=many), Item("2", labels=(many[10], many[2], many[0]))]
    path = tmp_path / "numbered.vw"
    write(items, path, number_labels=True)
    assert path.read_text().splitlines()[1].startswith("0,2,10 ")


def test_labels_are_written_as_numbers(tmp_path: Path) -> None:
    items = [
        Item("1", features={"x": 1.0}, labels=("role::program", "two words")),
        Item("2", features={"x": 1.0}, labels=("two words", "7")),
        Item("3", features={"x": 1.0}),
    ]
    path = tmp_path / "numbered.vw"
    with pytest.raises(ValueError, match="number_labels writes labels as numbers"):
        write(items, path)
    assert write(items, path, number_labels=True) == 3
    assert path.read_text().splitlines() == ["0,1 '1 | x ", "1,2 '2 | x ", "'3 | x "]
    assert (tmp_path / "numbered.vw.labels").read_text() == "role::program\ntwo words\n7\n"
    assert [item.labels for item in read(path)] == [item.labels for item in items]
    write(items[2:], path)
    assert not (tmp_path / "numbered.vw.labels").exists()
