"""Tests of `LabelRows`, which the native core validates on construction."""

import pickle
from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tagalong import _native as core
from tagalong.learning.labels import LabelRows

NONE = np.zeros(0, np.int32)


def test_arrays_are_not_copied() -> None:
    indptr, indices = np.array([0, 1, 3]), np.array([4, 0, 2], np.int32)
    rows = LabelRows(indptr, indices)
    assert isinstance(rows, core.LabelRows)
    assert rows.indptr is indptr
    assert rows.indices is indices


def test_row_slice() -> None:
    rows = LabelRows.from_lists([[1], [], [0, 2], [3]]).row_slice(1, 3)
    assert rows.indptr.tolist() == [1, 1, 3]
    assert rows.indices[rows.indptr[1] : rows.indptr[2]].tolist() == [0, 2]


def test_pickle_and_repr() -> None:
    rows = LabelRows.from_lists([[1], [0, 2]])
    copy = pickle.loads(pickle.dumps(rows))
    assert type(copy) is LabelRows
    assert repr(copy) == repr(rows)
    assert repr(rows) == (
        "LabelRows(indptr=array([0, 1, 3]), indices=array([1, 0, 2], dtype=int32))"
    )


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([], []),
        ([0, 2], [1]),
        ([-1, 1], [1]),
        ([0, 2, 1], [1, 2]),
    ],
    ids=["no ends", "too few labels", "negative", "not ascending"],
)
def test_inconsistent_arrays_are_refused(indptr: list[int], indices: list[int]) -> None:
    with pytest.raises(core.InputError, match=r"^indptr and indices of label rows do not fit"):
        LabelRows(np.array(indptr, np.int64), np.array(indices, np.int32))


@pytest.mark.parametrize("indices", [[1], None, np.zeros((1, 1), np.int32)])
def test_indices_must_be_a_vector(indices: Any) -> None:
    with pytest.raises(TypeError):
        core.LabelRows(np.array([0, 1]), indices)


def test_batch_needs_one_entry_per_row() -> None:
    ranker = LabelRanker().fit(np.eye(3), [0, 1, 2])
    native, matrix = ranker._native, core.Matrix.dense(np.eye(3))
    two, three = LabelRows.empty(2), LabelRows.empty(3)
    for given in ((two, three), (three, two)):
        with pytest.raises(core.InputError, match=r"^X has 3 rows but \w+ has 2$"):
            native.learn(matrix, *given)
    wrong: dict[str, Any] = {
        "weights": np.ones(2),
        "scores": np.empty((2, 3), np.float32),
        "cutoffs": np.empty(2),
    }
    for name, array in wrong.items():
        with pytest.raises(core.InputError, match=f"^X has 3 rows but {name} has 2$"):
            native.learn(matrix, three, three, **{name: array})
    assert ranker.certificate_.rounds == 3
