"""Svmlight: labels, queries, side files with names, errors."""

import io
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from tagalong.readers import Item, read, write
from tests.readers.in_memory import found, items, written

rows = st.lists(
    st.tuples(
        st.lists(st.integers(0, 5), unique=True, max_size=3),
        st.dictionaries(st.integers(1, 9), st.floats(allow_nan=False, allow_infinity=False)),
    ).filter(any),
    min_size=1,
    max_size=6,
)


def test_labels_features_and_comments() -> None:
    seen = items(b"1,5 3:0.5 7:1 # doc 7\n\n# nothing\nbug 1:-2e3\n", "svmlight")
    assert seen == [
        Item("doc 7", "", {"3": 0.5, "7": 1.0}, ("1", "5")),
        Item("", "", {"1": -2000.0}, ("bug",)),
    ]
    assert [item.place for item in seen] == ["f:1", "f:4"]


@pytest.mark.parametrize("unlabelled, wanted", [("empty", ()), ("unknown", None)])
@pytest.mark.parametrize("line", [" 1:2", "1:2", "\t1:2"])
def test_lines_without_labels(line: str, unlabelled: str, wanted: tuple[str, ...] | None) -> None:
    assert items(line, "svmlight", unlabelled=unlabelled) == [Item("", "", {"1": 2.0}, wanted)]


@pytest.mark.parametrize(
    "line, problem",
    [
        ("1 3:x", "must be a number, not 'x'"),
        ("1 3:inf", "inf"),
        ("1 3:nan", "nan"),
        ("1 3", "'3' must have the form feature:value"),
        ("1 3:1:2", "'3:1:2'"),
        ("1 :2", "':2'"),
        ("1 3:1 3:2", "feature 3 occurs twice"),
        ("1 3:1 qid:7", "before the features"),
        ("1 qid: 3:1", "must be followed by a query"),
        ("1, 3:1", "empty label"),
        (" word 1:2", "'word'"),
    ],
)
def test_error_names_the_line_and_reading_continues(line: str, problem: str) -> None:
    seen = found(f"1 1:1\n{line}\n2 1:1\n", "svmlight")
    assert [each.labels for each in seen if isinstance(each, Item)] == [("1",), ("2",)]
    assert str(seen[1]).startswith("f:2: ")
    assert problem in str(seen[1])


def test_finite_values_with_an_infinite_sum_are_valid() -> None:
    (item,) = items("1 1:1.7e308 2:1.7e308", "svmlight")
    assert item.features == {"1": 1.7e308, "2": 1.7e308}


@given(rows)
def test_agrees_with_scikit_learn(table: list[tuple[list[int], dict[int, float]]]) -> None:
    given_items = [
        Item("", "", {str(i): v for i, v in x.items()}, tuple(map(str, y))) for y, x in table
    ]
    data, side_files = written(given_items, "svmlight")
    assert set(side_files.values()) == {None}
    X, Y = load_svmlight_file(io.BytesIO(data), n_features=9, multilabel=True)
    seen = items(data, "svmlight")
    assert seen == given_items
    dense = np.zeros((len(seen), 9))
    for row, item in enumerate(seen):
        for name, value in item.features.items():
            dense[row, int(name) - 1] = value
    np.testing.assert_array_equal(sp.csr_matrix(X).toarray(), dense)
    assert [sorted(map(int, y)) for y in Y] == [
        sorted(map(int, item.labels or ())) for item in seen
    ]


def test_names_go_into_side_files(tmp_path: Path) -> None:
    given_items = [
        Item("a", "", {"size of it": 2.0, "1": 3.0}, ("Work, urgent", "x")),
        Item("b", "", {"colour": "red"}, ("y",)),
    ]
    path = tmp_path / "set.svm.gz"
    assert write(given_items, path) == 2
    assert (tmp_path / "set.svm.gz.features").read_text() == "size of it\n1\ncolour=red\n"
    assert (tmp_path / "set.svm.gz.labels").read_text() == "Work, urgent\nx\ny\n"
    assert list(read(path)) == [
        given_items[0],
        Item("b", "", {"colour=red": 1.0}, ("y",)),
    ]
    write([Item("", "", {"7": 1.0}, ("x",))], path)
    assert [file.name for file in tmp_path.iterdir()] == ["set.svm.gz"]
    assert list(read(path)) == [Item("", "", {"7": 1.0}, ("x",))]


def test_a_number_missing_in_the_side_file_raises(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("x 1:1\nx 2:1\nx y:1\n")
    (tmp_path / "a.svm.features").write_text("one\n")
    with read(tmp_path / "a.svm", on_error="skip") as stream:
        assert [item.features for item in stream] == [{"one": 1.0}]
    assert [message.split(": ")[1] for message in stream.errors] == [
        "'2' has no name",
        "'y' has no name",
    ]


@pytest.mark.parametrize(
    "item, problem",
    [
        (Item("i", "some text", {"1": 1.0}, ()), "numbers, not text"),
        (Item("i", "", {"1": 1.0}, (), 2.0), "weight"),
        (Item("i", "", {"1": 1.0}, None), "unlabelled='unknown'"),
        (Item("i", "", {}, ()), "neither labels nor features"),
    ],
)
def test_unwritable_items_raise(item: Item, problem: str) -> None:
    with pytest.raises(ValueError, match=f"item 1 .'i'.*{problem}"):
        written([item], "svmlight")


def test_names_cannot_go_to_standard_output() -> None:
    with pytest.raises(ValueError, match="a second file"):
        write([Item("", "", {"a": 1.0}, ("x",))], "-", "svmlight")


def test_round_trip_of_queries() -> None:
    text = b"2 qid:7 1:0.5 # doc 1\n0 qid:7 2:1.0\n1 qid:q-8 1:2.0\n"
    seen = items(text, "svmlight")
    assert [(item.query, item.labels) for item in seen] == [
        ("7", ("2",)),
        ("7", ("0",)),
        ("q-8", ("1",)),
    ]
    assert written(seen, "svmlight")[0] == text


def test_queries_agree_with_scikit_learn() -> None:
    given_items = [
        Item("", "", {"1": 0.5, "3": 2.0}, ("2",), query="4"),
        Item("", "", {"2": 1.0}, ("0",), query="5"),
    ]
    data, _ = written(given_items, "svmlight")
    _, y, queries = load_svmlight_file(io.BytesIO(data), query_id=True)
    assert y.tolist() == [2.0, 0.0]
    assert queries.tolist() == [4, 5]
    assert items(data, "svmlight") == given_items


def test_unwritable_queries_raise() -> None:
    with pytest.raises(ValueError, match="cannot store the query 'a b'"):
        written([Item("", "", {"1": 1.0}, ("1",), query="a b")], "svmlight")
    with pytest.raises(ValueError, match="only svmlight can store a query"):
        write([Item("", "x", labels=("1",), query="7")], "-", "jsonl")
