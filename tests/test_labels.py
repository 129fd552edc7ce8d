"""Tests of `Labels`: targets of any form give the same sets of label numbers."""

import os
import subprocess
import sys
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tagalong.learning.labels import LabelRows, Labels, Targets, label_array

NAMES = ["money", "travel", "work"]
INDICATOR = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]])
SETS = [[0], [1, 2], [], [0, 1, 2]]
NAMED = [[NAMES[y] for y in row] for row in SETS]


def rows(found: LabelRows) -> list[list[int]]:
    """The numbers of each row, sorted."""
    pairs = zip(found.indptr[:-1], found.indptr[1:], strict=True)
    return [sorted(found.indices[start:end].tolist()) for start, end in pairs]


def relevant(targets: Targets) -> list[list[int]]:
    assert targets.relevant.indptr.dtype == np.int64
    assert targets.relevant.indices.dtype == np.int32
    return rows(targets.relevant)


INDICATORS: dict[str, Any] = {
    "integers": INDICATOR,
    "floats": INDICATOR.astype(np.float32),
    "truth values": INDICATOR.astype(bool),
    "small integers": INDICATOR.astype(np.int8),
    "objects": INDICATOR.astype(object),
    "column-major": np.asfortranarray(INDICATOR),
    "nested lists": INDICATOR.tolist(),
    "nested lists of truth values": INDICATOR.astype(bool).tolist(),
    "list of arrays": list(INDICATOR),
    "frame": pd.DataFrame(INDICATOR, columns=NAMES),
    "frame with numbers for columns": pd.DataFrame(INDICATOR),
    "frame of truth values": pd.DataFrame(INDICATOR.astype(bool), columns=NAMES),
    "csr array": sp.csr_array(INDICATOR),
    "csr matrix": sp.csr_matrix(INDICATOR),
    "csc array": sp.csc_array(INDICATOR),
    "coo matrix": sp.coo_matrix(INDICATOR),
    "lil array": sp.lil_array(INDICATOR),
    "sparse truth values": sp.csr_array(INDICATOR.astype(bool)),
    "sparse floats": sp.csr_array(INDICATOR.astype(np.float64)),
}


@pytest.mark.parametrize("form", INDICATORS)
def test_indicator_in_any_form(form: str) -> None:
    targets = Labels(NAMES).encode(INDICATORS[form])
    assert targets.kind == "indicator"
    assert relevant(targets) == SETS
    assert rows(targets.unknown) == [[], [], [], []]
    assert targets.new == []
    assert len(targets) == 4


COLLECTIONS: dict[str, Any] = {
    "lists": NAMED,
    "tuples": [tuple(row) for row in NAMED],
    "sets": [set(row) for row in NAMED],
    "frozen sets": [frozenset(row) for row in NAMED],
    "arrays": [np.array(row, dtype=object) for row in NAMED],
    "a tuple of lists": tuple(NAMED),
    "an array of lists": pd.Series(NAMED).to_numpy(),
    "a series of lists": pd.Series(NAMED),
    "mixed types": [["money"], ("travel", "work"), set(), frozenset(NAMES)],
    "repeated labels": [["money", "money"], ["work", "travel"], [], NAMES],
}


@pytest.mark.parametrize("form", COLLECTIONS)
def test_collections_in_any_form(form: str) -> None:
    targets = Labels(NAMES).encode(COLLECTIONS[form])
    assert targets.kind == "sets"
    assert relevant(targets) == SETS
    assert targets.new == []


SINGLES: dict[str, Any] = {
    "list": ["work", "money", "work"],
    "tuple": ("work", "money", "work"),
    "array": np.array(["work", "money", "work"]),
    "array of objects": np.array(["work", "money", "work"], dtype=object),
    "series": pd.Series(["work", "money", "work"]),
    "series of objects": pd.Series(["work", "money", "work"], dtype=object),
    "categories": pd.Series(pd.Categorical(["work", "money", "work"])),
    "column": np.array([["work"], ["money"], ["work"]]),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("form", SINGLES)
def test_one_label_per_row_in_any_form(form: str) -> None:
    targets = Labels(NAMES).encode(SINGLES[form])
    assert targets.kind == "single"
    assert relevant(targets) == [[2], [0], [2]]


@pytest.mark.parametrize(
    "y",
    [[7, 3, 7], np.array([7, 3, 7]), np.array([7, 3, 7], dtype=np.uint8), [7.0, 3.0, 7.0]],
)
def test_number_labels_of_any_type(y: Any) -> None:
    assert relevant(Labels([3, 7]).encode(y)) == [[1], [0], [1]]
    assert relevant(Labels(np.array([3, 7])).encode(y)) == [[1], [0], [1]]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32"])
@given(seed=st.integers(0, 1000), rows=st.integers(1, 6), columns=st.integers(2, 5))
def test_indicator_of_any_dtype(dtype: str, seed: int, rows: int, columns: int) -> None:
    Y = np.random.default_rng(seed).integers(0, 2, (columns, rows)).astype(dtype).T
    targets = Labels(range(columns)).encode(Y)
    assert targets.kind == "indicator"
    found = [
        targets.relevant.indices[start:end].tolist()
        for start, end in pairwise(targets.relevant.indptr.tolist())
    ]
    assert found == [np.flatnonzero(row).tolist() for row in Y]
    assert targets.unknown.indptr.tolist() == [0] * (rows + 1)


@pytest.mark.parametrize(("dtype", "wrong"), [("int8", -1), ("int64", 2), ("uint8", 255)])
def test_integers_other_than_0_and_1_are_refused(dtype: str, wrong: int) -> None:
    Y = np.array([[0, 1, 0], [1, wrong, 0]], dtype=dtype)
    with pytest.raises(
        ValueError, match=f"Y: row 1, column 1 is {wrong}; an indicator has only 0, 1"
    ):
        Labels(["a", "b", "c"]).encode(Y)


@pytest.mark.parametrize("nan", [np.nan, None])
def test_nan_means_unknown(nan: Any) -> None:
    Y = INDICATOR.astype(object)
    Y[0, 1] = Y[3, 0] = Y[3, 2] = nan
    for form in (Y, Y.astype(np.float64), pd.DataFrame(Y.astype(np.float64), columns=NAMES)):
        targets = Labels(NAMES).encode(form)
        assert relevant(targets) == [[0], [1, 2], [], [1]]
        assert rows(targets.unknown) == [[1], [], [], [0, 2]]


def test_lists_of_equal_length_without_repetition_are_collections() -> None:
    """As documented: no row shows that an indicator is meant."""
    targets = Labels([0, 1]).encode([[0, 1], [1, 0]])
    assert targets.kind == "sets"
    assert relevant(targets) == [[0, 1], [0, 1]]


def test_lists_of_other_numbers_are_collections() -> None:
    assert relevant(Labels(range(9)).encode([[0, 8, 1], [3, 4, 5]])) == [[0, 1, 8], [3, 4, 5]]


def test_repeated_label_in_lists_of_different_length() -> None:
    with pytest.raises(ValueError, match="Y"):
        Labels(range(3)).encode([[0, 0, 1], [0, 1]])


def test_tuples_may_be_labels() -> None:
    labels = Labels([("a", 1), ("a", 2), "b"])
    mixed: list[list[Hashable]] = [[("a", 2)], ["b", ("a", 1)]]
    assert relevant(labels.encode(mixed)) == [[1], [0, 2]]
    assert labels.encode_one([("a", 2)]) == ([1], [], [])


def test_new_labels_are_numbered_in_order_of_appearance() -> None:
    labels = Labels(["b"], grows=True)
    targets = labels.encode([["c"], ["b", "a"], ["c", "d"]])
    assert targets.new == ["c", "a", "d"]
    assert relevant(targets) == [[1], [0, 2], [1, 3]]
    assert labels.names == ["b"]
    assert labels.encode(["x", "b", "x"]).new == ["x"]


def test_order_of_new_labels_in_a_set_is_the_same_in_every_process() -> None:
    """The order of a set of strings depends on the hash seed of the process."""
    program = (
        "from tagalong.learning.labels import Labels\n"
        "names, labels = {'the', 'quick', 'brown', 'fox'}, Labels(grows=True)\n"
        "print(labels.encode([names]).new, labels.encode_one(names)[2])\n"
    )
    run, environment = [sys.executable, "-c", program], {**os.environ, "PYTHONHASHSEED": "1"}
    elsewhere = subprocess.check_output(run, env=environment, text=True)
    names, labels = {"the", "quick", "brown", "fox"}, Labels(grows=True)
    here = f"{labels.encode([names]).new} {labels.encode_one(names)[2]}\n"
    assert here == elsewhere


def test_columns_of_the_first_indicator_are_the_labels() -> None:
    assert Labels(grows=True).encode(INDICATOR).new == [0, 1, 2]
    assert Labels(grows=True).encode(sp.csr_array(INDICATOR)).new == [0, 1, 2]
    assert Labels(grows=True).encode(pd.DataFrame(INDICATOR, columns=NAMES)).new == NAMES


@pytest.mark.parametrize(
    "y", ["work", ["work"], ("work",), {"work"}, np.array(["work"]), {"work": 1}]
)
def test_one_example_with_a_label_or_a_collection(y: Any) -> None:
    assert Labels(NAMES).encode_one(y) == ([2], [], [])


def test_one_example_with_new_labels() -> None:
    labels = Labels(NAMES, grows=True)
    relevant, unknown, new = labels.encode_one(
        ["new", "work", "newer"], unknown=["newest", "money"]
    )
    assert sorted(relevant) == [2, 3, 4]
    assert sorted(unknown) == [0, 5]
    assert new == ["new", "newer", "newest"]
    assert labels.encode_one([]) == ([], [], [])
    assert labels.names == NAMES


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (["a", "bc"], "U"),
        ([1, 2], "i"),
        ([True, False], "b"),
        ([1.5, 2.0], "f"),
        (["a", 1], "O"),
        ([("a", 1), ("b", 2)], "O"),
        ([1, 2.5], "O"),
        ([], "O"),
    ],
)
def test_labels_as_an_array(names: list[Any], dtype: str) -> None:
    array = label_array(names)
    assert array.dtype.kind == dtype
    assert array.shape == (len(names),)
    assert array.tolist() == names
    assert [type(name) for name in array.tolist()] == [type(name) for name in names]


def test_extend_adds_all_labels_or_none() -> None:
    labels = Labels(["a"])
    for twice in (["b", "a"], ["b", "b"]):
        with pytest.raises(ValueError, match="already exists; labels must be distinct"):
            labels.extend(twice)
        assert labels.names == ["a"]
        assert labels.number == {"a": 0}


def test_withdraw() -> None:
    labels = Labels(["a", "b", "c"])
    labels.remove_last(2)
    assert labels.names == ["a"]
    assert labels.number == {"a": 0}


@pytest.mark.parametrize("rows", [3, 5])
def test_number_of_rows_is_checked(rows: int) -> None:
    with pytest.raises(ValueError, match=f"X has {rows} rows but Y has 4"):
        Labels(NAMES).encode(INDICATOR, rows)


@pytest.mark.parametrize("Y", list(INDICATORS.values())[:10] + list(COLLECTIONS.values()))
def test_encoding_changes_neither_labels_nor_targets(Y: Any) -> None:
    labels, before = Labels(NAMES, grows=True), repr(Y)
    labels.encode(Y)
    assert labels.names == NAMES
    assert repr(Y) == before


def test_sparse_indicator_with_stored_zeros_is_not_changed() -> None:
    Y = sp.csr_array(INDICATOR.astype(np.float64))
    Y.data[1] = 0
    data = Y.data.copy()
    assert relevant(Labels(NAMES).encode(Y)) == [[0], [2], [], [0, 1, 2]]
    assert np.array_equal(Y.data, data)
