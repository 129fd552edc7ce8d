"""Tests of the conversion of examples for the native core."""

import numbers
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tagalong.learning.examples import FeatureNames, as_matrix, as_pairs, has_named_features


@pytest.mark.parametrize(
    "x",
    [
        ([3, 1], [0.5, 2.0]),
        ((3, 1), (0.5, 2)),
        [[3, 1], [0.5, 2.0]],
        {3: 0.5, 1: 2},
        {np.int64(3): np.float32(0.5), np.int32(1): 2.0},
        (np.array([3, 1], np.int32), np.array([0.5, 2.0], np.float32)),
        (np.array([3, 1], np.uint8), np.array([0.5, 2.0], np.float16)),
        (np.array([3, 1], np.uint64), [0.5, 2]),
        (pd.Series([3, 1]), pd.Series([0.5, 2.0])),
        (range(3, 0, -2), [0.5, 2.0]),
    ],
)
def test_pairs_in_any_form(x: Any) -> None:
    indices, values = as_pairs(x)
    assert indices.dtype in (np.int32, np.int64)
    assert values.dtype in (np.float32, np.float64)
    assert indices.tolist() == [3, 1]
    assert values.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("x", [{}, ([], []), ((), ()), (np.array([]), np.array([]))])
def test_no_pairs(x: Any) -> None:
    indices, values = as_pairs(x)
    assert indices.dtype == np.int64
    assert indices.shape == values.shape == (0,)


def test_arrays_of_the_right_types_are_not_copied() -> None:
    indices, values = np.array([3, 1]), np.array([0.5, 2.0])
    found = as_pairs((indices, values))
    assert found[0] is indices
    assert found[1] is values


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ((["a"], [1.0]), r"the indices of x must be a sequence of integers, got \['a'\]"),
        (([1.5], [1.0]), r"the indices of x must be a sequence of integers, got \[1.5\]"),
        (([True], [1.0]), "the indices of x must be a sequence of integers"),
        (([1], ["1"]), r"the values of x must be a sequence of numbers, got \['1'\]"),
        (([1], [None]), r"the values of x must be a sequence of numbers, got \[None\]"),
        (([1], [1j]), "the values of x must be a sequence of numbers"),
        ((1, 2.0), "the indices of x must be a sequence of integers, got 1"),
        (([[1]], [[1.0]]), "the indices of x must be a sequence of integers"),
        (([2**63], [1.0]), "below 2[*][*]31, got 9223372036854775808"),
        ("x", r"x must be \(indices, values\) or a mapping .* got str"),
        (([1],), r"x must be \(indices, values\) or a mapping .* got tuple"),
        (7, r"x must be \(indices, values\) or a mapping .* got int"),
    ],
)
def test_invalid_pairs(x: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        as_pairs(x)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_shapes_of_matrices(index: Any, number: Any) -> None:
    X = sp.csr_array(np.eye(3, 5, dtype=number))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    assert as_matrix(X).shape == (3, 5)
    assert as_matrix(X.toarray()).shape == (3, 5)


def test_index_arrays_of_different_types() -> None:
    X = sp.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int64)
    assert as_matrix(X).shape == (3, 3)


@pytest.mark.parametrize("array", [np.eye(3, dtype=np.float16), np.eye(3, dtype=bool), np.ones(3)])
def test_dense_matrix_must_have_two_dimensions_and_floats(array: Any) -> None:
    with pytest.raises(ValueError, match="X must be"):
        as_matrix(array)


def test_names_are_numbered_in_order_of_appearance() -> None:
    names = FeatureNames()
    (indices, values), new = names.translate({"red": 1.0, "round": 0.5}, learning=True)
    assert indices.tolist() == [0, 1]
    assert values.tolist() == [1.0, 0.5]
    assert new == ["red", "round"]
    assert names.number == {}
    names.extend(new)
    (indices, _), new = names.translate({"sweet": 1.0, "red": 2.0}, learning=True)
    assert indices.tolist() == [2, 0]
    assert new == ["sweet"]


def test_prediction_ignores_unknown_names() -> None:
    names = FeatureNames(["red"])
    (indices, values), new = names.translate({"sweet": 3.0, "red": 2.0}, learning=False)
    assert indices.tolist() == [0]
    assert values.tolist() == [2.0]
    assert new == []


def reference_numbers(
    names: FeatureNames, x: dict[str, Any], learning: bool
) -> tuple[dict[int, float], Any]:
    """Reference implementation of `FeatureNames.translate`."""
    found: dict[int, float] = {}
    new: list[str] = []
    for name, value in x.items():
        if not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
            raise ValueError(name)
        if name in names.number:
            found[names.number[name]] = float(value)
        elif learning:
            found[len(names.number) + len(new)] = float(value)
            new.append(name)
    return found, new


@given(
    st.sets(st.sampled_from("abcdefgh")),
    st.dictionaries(
        st.sampled_from("abcdefgh"),
        st.integers(-5, 5)
        | st.floats(width=32)
        | st.booleans()
        | st.floats(width=32).map(np.float32)
        | st.sampled_from(["1", None]),
    ),
    st.booleans(),
)
def test_translate_agrees_with_the_reference(
    known: set[str], x: dict[str, Any], learning: bool
) -> None:
    names = FeatureNames(sorted(known))
    try:
        expected, expected_new = reference_numbers(names, x, learning)
    except ValueError as error:
        with pytest.raises(ValueError, match=f"x: feature '{error}' is .*; values must be finite"):
            names.translate(x, learning)
        return
    (indices, values), new = names.translate(x, learning)
    assert dict(zip(indices.tolist(), values.tolist(), strict=True)) == expected
    assert new == expected_new
    assert len(names.number) == len(known)


@pytest.mark.parametrize("learning", [True, False])
@pytest.mark.parametrize("known", [["red"], ["red", "round"]])
def test_invalid_name_is_refused(known: list[str], learning: bool) -> None:
    x: dict[Any, float] = {"red": 1.0, 7: 1.0}
    with pytest.raises(ValueError, match="x: feature 7 is not a string"):
        FeatureNames(known).translate(x, learning)


def test_unknown_name_is_refused_if_names_are_fixed() -> None:
    names = FeatureNames(["red"], grows=False)
    with pytest.raises(ValueError, match="x: feature 'sweet' is not among the feature names"):
        names.translate({"sweet": 3.0}, learning=True)
    assert names.number == {"red": 0}


@pytest.mark.parametrize(
    ("x", "by_name"),
    [
        ({"a": 1}, True),
        ({np.str_("a"): 1}, True),
        ({1: 1}, False),
        ({}, False),
        (([1], [1]), False),
    ],
)
def test_has_named_features(x: Any, by_name: bool) -> None:
    assert has_named_features(x) is by_name
