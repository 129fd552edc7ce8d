"""Invalid batches, each with the error message that it must raise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from tests.contract.stream import N_FEATURES, N_LABELS, make_stream

GOOD = make_stream(seed=21, rows=30)
ROWS = 6
BATCH = GOOD.part(slice(10, 10 + ROWS))


@dataclass(frozen=True)
class Bad:
    """The arguments of partial_fit, and a pattern that the message must match."""

    name: str
    words: str
    X: Any = field(default_factory=lambda: BATCH.X)
    Y: Any = field(default_factory=lambda: BATCH.Y)
    more: dict[str, Any] = field(default_factory=dict)


def dense_with(value: float, row: int = 2, column: int = 3) -> npt.NDArray[np.float64]:
    X = BATCH.X.toarray()
    X[row, column] = value
    return X


def csr_with(change: Callable[[sp.csr_array], None], index: type = np.int32) -> sp.csr_array:
    """A CSR matrix whose arrays were changed in place, which SciPy does not check."""
    X = BATCH.X.copy()
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    change(X)
    return X


def entry(column: int | None = None, value: float | None = None) -> Callable[[sp.csr_array], None]:
    """Change the first entry of row 2."""

    def change(X: sp.csr_array) -> None:
        at = X.indptr[2]
        if column is not None:
            X.indices[at] = column
        if value is not None:
            X.data[at] = value

    return change


def decreasing_indptr(X: sp.csr_array) -> None:
    X.indptr[3] = X.indptr[2] - 1


def too_large_indptr(X: sp.csr_array) -> None:
    X.indptr[3] = 10**6


def too_large_last_indptr(X: sp.csr_array) -> None:
    X.indptr[-1] = 10**6


def indicator_with(value: float) -> npt.NDArray[np.float64]:
    Y = BATCH.Y.astype(np.float64)
    Y[2, 3] = value
    return Y


def sparse_indicator_with(value: float) -> sp.csr_array:
    return sp.csr_array(indicator_with(value))


def doubled_indicator() -> sp.csr_array:
    """A duplicate entry, whose values sum to 2."""
    rows, columns = [2, 2], [3, 3]
    return sp.csr_array(sp.coo_array(([1, 1], (rows, columns)), shape=(ROWS, N_LABELS)))


def weights_with(value: float) -> npt.NDArray[np.float64]:
    weights = np.ones(ROWS)
    weights[2] = value
    return weights


def frame(columns: int = N_LABELS, prefix: str = "wrong") -> pd.DataFrame:
    return pd.DataFrame(BATCH.Y[:, :columns], columns=[f"{prefix}{i}" for i in range(columns)])


BAD_X = [
    Bad("nan", "row 2, column 3 is NaN", X=dense_with(np.nan)),
    Bad("infinity", "row 2, column 3 is infinity", X=dense_with(np.inf)),
    Bad("minus infinity", "row 2, column 3 is -infinity", X=dense_with(-np.inf)),
    Bad("nan, float32", "row 2, column 3 is NaN", X=dense_with(np.nan).astype(np.float32)),
    Bad("nan, sparse", "row 2, column 7 is NaN", X=csr_with(entry(column=7, value=np.nan))),
    Bad("infinity, sparse", "column 7 is infinity", X=csr_with(entry(column=7, value=np.inf))),
    Bad("too long", "row 2 is too long: the sum of its squares exceeds", X=dense_with(1e200)),
    Bad("too long, sparse", "row 2 is too long", X=csr_with(entry(value=-1e200))),
    Bad("negative column", f"column -1; .*0 to {N_FEATURES - 1}", X=csr_with(entry(-1))),
    Bad("column beyond", f"row 2 has column {N_FEATURES};", X=csr_with(entry(N_FEATURES))),
    Bad("column huge", "row 2 has column 2147483647;", X=csr_with(entry(2**31 - 1))),
    Bad("column past int32", f"row 2 has column {2**40};", X=csr_with(entry(2**40), np.int64)),
    Bad("least column", f"row 2 has column {-(2**63)};", X=csr_with(entry(-(2**63)), np.int64)),
    Bad(
        "indptr falls", "indptr must not decrease, but does at row 2", X=csr_with(decreasing_indptr)
    ),
    Bad(
        "indptr soars", "indptr must not decrease, but does at row 3", X=csr_with(too_large_indptr)
    ),
    Bad("indptr ends late", "indptr", X=csr_with(too_large_last_indptr)),
    Bad("no rows", "0 sample", X=np.empty((0, N_FEATURES)), Y=np.empty((0, N_LABELS))),
    Bad("no columns", "0 feature", X=np.empty((ROWS, 0))),
    Bad("one-dimensional", "2D array, got 1D array", X=np.ones(N_FEATURES)),
    Bad("a number", "2D array, got scalar", X=3.0),
    Bad("three-dimensional", "dim 3|3D|3 dimensions", X=np.ones((ROWS, N_FEATURES, 2))),
    Bad("words", "could not convert string to float", X=[["a"] * N_FEATURES] * ROWS),
    Bad("complex", "[Cc]omplex", X=BATCH.X.toarray().astype(complex)),
    Bad("ragged", "inhomogeneous", X=[[1.0] * N_FEATURES, [1.0]], Y=BATCH.Y[:2]),
    Bad("narrow", f"{N_FEATURES - 1} (features|columns)", X=BATCH.X[:, 1:]),
    Bad("wide", f"{2 * N_FEATURES} (features|columns)", X=sp.hstack([BATCH.X, BATCH.X])),
]

BAD_Y = [
    Bad("none", "y is None|None", Y=None),
    Bad("too few rows", f"X has {ROWS} rows but Y has {ROWS - 1}", Y=BATCH.Y[1:]),
    Bad("too many rows", f"X has {ROWS} rows but Y has {2 * ROWS}", Y=np.vstack([BATCH.Y] * 2)),
    Bad("narrow indicator", f"{N_LABELS - 1} columns but there are {N_LABELS}", Y=BATCH.Y[:, 1:]),
    Bad("narrow sparse indicator", f"{N_LABELS - 1} columns", Y=sp.csr_array(BATCH.Y[:, 1:])),
    Bad("three-dimensional labels", r"dimensions, got shape \(6, 20, 1\)", Y=BATCH.Y[:, :, None]),
    Bad("two", "Y: row 2, column 3 is 2; .*0, 1 and NaN", Y=indicator_with(2)),
    Bad("minus one", "Y: row 2, column 3 is -1", Y=indicator_with(-1)),
    Bad("a half", "Y: row 2, column 3 is 0.5", Y=indicator_with(0.5)),
    Bad("infinite", "Y: row 2, column 3 is inf", Y=indicator_with(np.inf)),
    Bad("words for 0 and 1", "Y must be an indicator matrix", Y=np.full((ROWS, N_LABELS), "yes")),
    Bad("sparse two", "Y: row 2, column 3 is 2; .*only 0 and 1", Y=sparse_indicator_with(2)),
    Bad("sparse minus one", "Y: row 2, column 3 is -1", Y=sparse_indicator_with(-1)),
    Bad("sparse nan", "Y: row 2, column 3 is nan", Y=sparse_indicator_with(np.nan)),
    Bad("sparse duplicates", "Y: row 2, column 3 is 2", Y=doubled_indicator()),
    Bad("sparse matrix", "row 2, column 3 is 2", Y=sp.coo_matrix(sparse_indicator_with(2))),
    Bad("strange columns", "columns of Y are .*'wrong0'.* but classes_ is", Y=frame()),
    Bad("unknown label", "Y: row 2: label 99 is not in classes_", Y=[[1], [0, 3], [4, 99]] * 2),
    Bad("unknown word", "Y: row 1: label 'money' is not in", Y=[[1], ["money"], [3]] * 2),
    Bad("label none", "Y: row 1: .*None", Y=[[1], [None], [3]] * 2),
    Bad("label nan", "Y: row 1: .*nan", Y=[[1], [np.nan], [3]] * 2),
    Bad("unhashable label", r"Y: row 1: label \{'a': 1\} is not hashable", Y=[[1], [{"a": 1}]] * 3),
    Bad("nested label", r"Y: row 1: label \[3\] is not hashable", Y=[[1], [[3]], [4]] * 2),
    Bad("rows of two kinds", "Y: row 1 is 7, but other rows are collections", Y=[[1], 7, [3]] * 2),
    Bad("ragged indicator", "Y", Y=[[0, 0, 1], [0, 1], [1]] * 2),
    Bad("single, unknown", "y: row 2: label 99 is not in classes_", Y=[1, 2, 99, 4, 5, 6]),
    Bad("single, nan", "y: row 2: label nan", Y=[1, 2, np.nan, 4, 5, 6]),
    Bad("single, none", "y: row 2: label None", Y=np.array([1, 2, None, 4, 5, 6], dtype=object)),
]

BAD_MORE = [
    Bad("negative weight", "sample_weight: row 2 is -1", more={"sample_weight": weights_with(-1)}),
    Bad("nan weight", "sample_weight.*NaN", more={"sample_weight": weights_with(np.nan)}),
    Bad("infinite weight", "sample_weight.*infinity", more={"sample_weight": weights_with(np.inf)}),
    Bad(
        "too few weights",
        "sample_weight must have shape",
        more={"sample_weight": np.ones(ROWS - 1)},
    ),
    Bad(
        "flat weights", "sample_weight must have shape", more={"sample_weight": np.ones((ROWS, 2))}
    ),
    Bad("other classes", "classes is .*'a', 'b'", more={"classes": ["a", "b"]}),
    Bad("classes twice", "label 1 already exists", more={"classes": [1, 2, 1]}),
    Bad("classes misspelt", "'growing'", more={"classes": "growing"}),
]

# These are invalid only after another batch was learnt; all others are always invalid.
NEED_A_PAST = {
    "narrow",
    "wide",
    "narrow indicator",
    "narrow sparse indicator",
    "strange columns",
    "other classes",
}
BAD_FIRST = [bad for bad in BAD_X + BAD_Y + BAD_MORE if bad.name not in NEED_A_PAST]
