"""Grades: ordered classes, of any sortable type."""

import datetime
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d

from tagalong.learning import model_files
from tagalong.learning.input_types import Classes

__all__ = [
    "as_grades",
    "checked_grades",
    "comparable_grades",
    "decoded_grades",
    "encoded_grades",
    "grade_numbers",
    "refuse_continuous",
    "require_same_grades",
    "sorted_grades",
]


def as_grades(grades: npt.ArrayLike | Iterable[Hashable], name: str) -> npt.NDArray[Any]:
    """Return grades as an array of a NumPy type or of objects."""
    array = np.asarray(grades)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} must be a sequence of grades, got {grades!r}")
    return array if array.dtype.kind in "biufUMmO" else array.astype(object)


def checked_grades(y: npt.ArrayLike, rows: int) -> npt.NDArray[Any]:
    """Validate the grades of a batch, one per row."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    if sp.issparse(y):
        raise ValueError("y must be a sequence of grades, got a sparse matrix")
    array = as_grades(column_or_1d(np.asarray(y), warn=True), "y")
    if len(array) != rows:
        raise ValueError(f"X has {rows} rows but y has {len(array)}")
    return array


def refuse_continuous(y: npt.NDArray[Any]) -> None:
    """Raise ValueError for fractions: they are measurements, and each would get a threshold."""
    if y.dtype.kind != "f":
        return
    wrong = ~((y == np.floor(y)) & np.isfinite(y))
    if wrong.any():
        row = int(np.argmax(wrong))
        shown = {"nan": "NaN", "inf": "infinity"}.get(str(y[row]), f"{y[row]:g}")
        raise ValueError(
            f"Unknown label type: continuous. y: row {row} is {shown}; fractions are grades only "
            "if grades declares them"
        )


def comparable_grades(grades: npt.NDArray[Any], place: str) -> list[Hashable]:
    """Return grades as Python objects that can be compared; ValueError for missing grades."""
    if grades.dtype.kind in "Mm":  # dates and durations in any unit
        grades = grades.astype(f"{grades.dtype.kind}8[us]")
    keys: list[Hashable] = grades.tolist()
    for row, key in enumerate(keys):
        if key is None or key != key:
            shown = "NaN" if key is not None else "missing"
            raise ValueError(f"{place}: row {row} is {shown}, which is not a grade")
    return keys


def sorted_grades(grades: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the distinct grades, lowest first."""
    comparable_grades(grades, "y")
    try:
        return np.unique(grades)
    except TypeError as error:
        raise ValueError(
            f"y cannot be sorted ({error}); declare the order with the parameter grades"
        ) from None


def grade_numbers(y: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the number of each grade of ``y`` in ``classes``."""
    number = {key: i for i, key in enumerate(comparable_grades(classes, "classes"))}
    out = np.empty(len(y), np.int64)
    for row, key in enumerate(comparable_grades(y, "y")):
        found = number.get(key)
        if found is None:
            raise ValueError(f"y: row {row} is {key!r}; the grades are {list(number)!r}")
        out[row] = found
    return out


def require_same_grades(classes: Classes, known: npt.NDArray[Any], name: str) -> None:
    """Raise ValueError if ``classes`` is given and differs from the known grades."""
    if classes is None:
        return
    given = as_grades(classes, "classes")
    if set(comparable_grades(given, "classes")) != set(comparable_grades(known, name)):
        raise ValueError(f"classes is {given.tolist()!r}, but {name} is {known.tolist()!r}")


def encoded_grades(grades: npt.NDArray[Any]) -> dict[str, Any]:
    """Return grades in a form that JSON can represent."""
    kind = grades.dtype.kind
    if kind in "Mm":
        values = grades.astype(np.int64).tolist()
    elif kind == "O":
        values = [_encoded_one(grade) for grade in grades]
    else:
        values = grades.tolist()
    return {"dtype": grades.dtype.str, "values": values}


def _encoded_one(grade: object) -> Any:
    if isinstance(grade, datetime.datetime) or not isinstance(grade, datetime.date):
        return model_files.encode_label(grade)
    return {"date": grade.isoformat()}


def decoded_grades(saved: dict[str, Any]) -> npt.NDArray[Any]:
    """Return the grades that `encoded_grades` encoded."""
    values = saved["values"]
    if not isinstance(values, list):
        raise ValueError(f"the grades must be a list, got {values!r}")
    if saved["dtype"] != "|O":
        return np.array(values).astype(saved["dtype"])
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        is_date = isinstance(value, dict) and "date" in value
        out[i] = (
            datetime.date.fromisoformat(value["date"])
            if is_date
            else model_files.decode_label(value)
        )
    return out
