"""CSV and TSV: choice of columns, places, errors, writing."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.readers import Item, OptionError, ReadError
from tests.readers.in_memory import error, found, items, written

cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


def test_default_column_names() -> None:
    (item,) = items('ID,Subject,body,tags,price\n1,hello,there,"a, b,a",3\n', "csv")
    assert item == Item("1", {"Subject": "hello", "body": "there"}, {}, ("a", "b"))


def test_single_text_column_is_plain_and_single_label_column_is_not_split() -> None:
    (item,) = items('text,category\nhello,"Home, Garden"\n', "csv")
    assert item == Item("", "hello", {}, ("Home, Garden",))


def test_columns_can_be_chosen() -> None:
    table = "nr;say;more;l1;l2;w;n;c;e\n5;a;b;x|y;z;2.5;1e3;red;\n"
    (item,) = items(
        table,
        "csv",
        text=("say", "more"),
        labels=("l1", "l2"),
        id="nr",
        weight="w",
        features="*",
        separator="|",
    )
    assert item == Item(
        "5", {"say": "a", "more": "b"}, {"n": 1000.0, "c": "red"}, ("x", "y", "z"), 2.5
    )


def test_indicator_columns() -> None:
    table = "text,red,blue\na,1,0\nb,0,0\nc,,1\nd,TRUE,1.0\ne,2,0\n"
    seen = found(table, "csv", labels=["red", "blue"], indicators=True)
    assert [each.labels for each in seen[:4]] == [  # type: ignore[union-attr]
        ("red",),
        (),
        None,
        ("red", "blue"),
    ]
    assert str(seen[4]) == "f:6: column 'red' must hold 0 or 1 (option indicators), not '2'"


@pytest.mark.parametrize("unlabelled, wanted", [("unknown", None), ("empty", ())])
def test_an_empty_label_cell(unlabelled: str, wanted: tuple[str, ...] | None) -> None:
    assert items("text,labels\na,\n", "csv", unlabelled=unlabelled)[0].labels == wanted


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_guessed_from_the_header(delimiter: str) -> None:
    head = delimiter.join(["text", '"a,;;,\t"', "labels"])
    (item,) = items(f"{head}\n{delimiter.join(['x', 'y', 'z'])}\n", "csv")
    assert (item.text, item.labels) == ("x", ("z",))


def test_a_file_without_a_header() -> None:
    seen = items("a\tx\nb\ty\n", "tsv", columns=("text", "label"))
    assert [(item.text, item.labels, item.place) for item in seen] == [
        ("a", ("x",), "f:1"),
        ("b", ("y",), "f:2"),
    ]


def test_place_is_the_first_line_of_the_row() -> None:
    seen = items('\ntext,label\n"a\n\nb",x\n\nc,y\n"d\r\n",z', "csv")
    assert [item.place for item in seen] == ["f:3", "f:7", "f:8"]
    assert [item.text for item in seen] == ["a\n\nb", "c", "d\r\n"]


@pytest.mark.parametrize(
    "row, problem",
    [
        ("a", "the row has 1 cells, but there are 2 columns"),
        ("a,b,c", "3 cells"),
        ('"a"b,c', "expected after"),
        ("a\0,b", "NUL"),
        (b"\xff,b", "0xff"),
    ],
)
def test_error_names_the_row_and_reading_continues(row: str | bytes, problem: str) -> None:
    raw = row.encode() if isinstance(row, str) else row
    seen = found(b"text,label\nbefore,x\n" + raw + b"\nafter,y\n", "csv")
    assert [each.text for each in seen if isinstance(each, Item)] == ["before", "after"]
    assert str(seen[1]).startswith("f:3: ")
    assert problem in str(seen[1])


def test_an_unclosed_quote() -> None:
    assert error('text,label\n"a,b\nc,d\n', "csv").startswith("f:2: unexpected end of data")
    assert len(items('text,label\n"a,b\nc,d\n', "csv", quoting=False)) == 2


@pytest.mark.parametrize(
    "options, problem",
    [
        ({}, "the columns are 'one', 'two', 'two'"),
        ({"text": "three"}, "no column 'three'"),
        ({"text": "two"}, "several columns 'two'"),
        ({"text": "one", "labels": ["one", "x"]}, "no column 'x'"),
    ],
)
def test_missing_and_ambiguous_columns(options: dict[str, object], problem: str) -> None:
    message = error("one,two,two\n1,2,3\n", "csv", **options)
    assert message.startswith("f:1: ")
    assert problem in message


def test_invalid_feature_cells() -> None:
    table = "text,n\na,inf\nb,nan\nc,1_0\nd, 2 \ne,-\n"
    seen = found(table, "csv", features="n")
    assert [str(each)[:11] for each in seen if isinstance(each, ReadError)] == [
        "f:2: column",
        "f:3: column",
    ]
    assert [each.features for each in seen if isinstance(each, Item)] == [
        {"n": "1_0"},
        {"n": 2.0},
        {"n": "-"},
    ]


def test_cells_longer_than_the_default_limit_of_the_csv_module() -> None:
    long = "x" * 200_000
    assert items(f"text\n{long}\n", "csv")[0].text == long
    many_lines = "y\n" * 100_000
    assert items(f'text\n"{many_lines}"\n', "csv")[0].text == many_lines


def test_an_empty_file_has_no_items() -> None:
    assert items("", "csv") == items("\n\n", "csv") == items("text\n", "csv") == []


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_delimiter_must_be_a_single_character(delimiter: str) -> None:
    with pytest.raises(OptionError, match="single character"):
        found("text\na\n", "csv", delimiter=delimiter)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=5), st.sampled_from(",;\t"))
def test_agrees_with_the_csv_module(rows: list[list[str]], delimiter: str) -> None:
    table = io.StringIO(newline="")
    csv.writer(table, delimiter=delimiter).writerows([["text", "c"], *rows])
    naive = list(csv.reader(io.StringIO(table.getvalue(), newline=""), delimiter=delimiter))
    seen = items(table.getvalue(), "csv", labels="c", separator="", delimiter=delimiter)
    assert [item.text for item in seen] == [row[0] for row in naive[1:]]
    assert [item.labels for item in seen] == [
        (row[1].strip(),) if row[1].strip() else None for row in naive[1:]
    ]


@pytest.mark.parametrize(
    "item, problem",
    [
        (Item("i", "t", {}, ("a,b",)), "'a,b'"),
        (Item("i", "t", {}, (" a",)), "' a'"),
        (Item("i", "t", {}, ()), "unlabelled='empty'"),
        (Item("i", "t", {"c": "12"}), "'12'"),
        (Item("i", "t", {"c": ""}), "''"),
        (Item("i", "t", {"id": 1.0}), "the name 'id'"),
        (Item("i", {"text": "t"}), "'text'"),
    ],
)
def test_unwritable_items_raise(item: Item, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        written([item], "csv")


def test_custom_separator() -> None:
    data, _ = written([Item("", "t", {}, ("a,b", "c"))], "csv", separator="|")
    assert items(data, "csv", separator="|")[0].labels == ("a,b", "c")
