"""Tests of the states of runs as JSON values."""

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong.evaluate import Progress, QueryProgress
from tagalong.learning.rounds import QueryRound
from tests.evaluate.confident import confident_rounds, some_of


def labels_run(rows: int = 80) -> Progress:
    progress = Progress(3, 30)
    progress.add_rounds(confident_rounds(1, rows, 5, width=5))
    return progress


def queries_run() -> QueryProgress:
    rng = np.random.default_rng(1)
    progress = QueryProgress(3, 10)
    for _ in range(25):
        progress.add(QueryRound(rng.random(4), rng.integers(0, 3, 4).astype(float)))
    return progress


RUNS: dict[str, Any] = {"labels": labels_run, "queries": queries_run}


@pytest.mark.parametrize("kind", RUNS)
def test_run_continues_from_json(kind: str) -> None:
    progress = RUNS[kind]()
    text = json.dumps(progress.to_json())
    again = type(progress).from_json(json.loads(text))
    assert json.dumps(again.to_json()) == text
    assert json.dumps(again.report().to_dict()) == json.dumps(progress.report().to_dict())
    if kind == "labels":
        more = some_of(confident_rounds(2, 50, 5, width=5), 1, 50)
        for each in (progress, again):
            each.add_rounds(more)
        assert again.to_json() == progress.to_json()


def test_layout_of_the_saved_arrays() -> None:
    """Model files of older versions have this layout."""
    saved = labels_run().to_json()
    assert saved["numbers"] == {"k": 3, "window": 30, "items": 80, "spacing": 1}
    packed = saved["arrays"]["per_label"]
    assert (packed["dtype"], packed["shape"]) == (np.dtype(np.int64).str, [5, 3])
    data = zlib.decompress(base64.b64decode(packed["data"]))
    assert (
        np.frombuffer(data, np.int64).reshape(5, 3).tolist()
        == labels_run().report().counts.tolist()
    )


def test_other_byte_order() -> None:
    saved = labels_run().to_json()
    for packed in saved["arrays"].values():
        data = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), packed["dtype"])
        swapped = data.astype(data.dtype.newbyteorder())
        packed["dtype"] = swapped.dtype.str
        packed["data"] = base64.b64encode(zlib.compress(swapped.tobytes())).decode()
    assert Progress.from_json(saved).to_json() == labels_run().to_json()


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda saved: None, "NoneType in place of an object"),
        (lambda saved: {}, "numbers must be an object"),
        (lambda saved: {**saved, "arrays": []}, "arrays must be an object"),
        (lambda saved: {**saved, "arrays": {}}, "KeyError"),
        (lambda saved: {**saved, "numbers": {}}, "KeyError"),
        (lambda saved: _with(saved, "totals", None), "array 'totals'"),
        (lambda saved: _with(saved, "totals", {}), "array 'totals'"),
        (lambda saved: _packed(saved, dtype="O"), "dtype must be one of"),
        (lambda saved: _packed(saved, dtype=None), "dtype must be one of"),
        (lambda saved: _packed(saved, shape=[-1]), "shape must be at least 0"),
        (lambda saved: _packed(saved, shape=7), "array 'totals'"),
        (lambda saved: _packed(saved, shape=[10**30]), "not enough data"),
        (lambda saved: _packed(saved, shape=[2]), "not that of shape"),
        (lambda saved: _packed(saved, data="?"), "no valid base64"),
        (lambda saved: _packed(saved, data="é"), "array 'totals'"),
        (lambda saved: _packed(saved, data=7), "array 'totals'"),
        (lambda saved: _packed(saved, data="AAAA"), "array 'totals'"),
        (lambda saved: _packed(saved, data=""), "not enough data"),
        (lambda saved: _bomb(saved), "not that of shape"),
    ],
)
def test_damaged_values_are_refused(kind: str, damage: Any, message: str) -> None:
    progress = RUNS[kind]()
    with pytest.raises(ValueError, match=message):
        type(progress).from_json(damage(progress.to_json()))


def _with(saved: dict[str, Any], name: str, packed: object) -> dict[str, Any]:
    return {**saved, "arrays": {**saved["arrays"], name: packed}}


def _packed(saved: dict[str, Any], **changes: object) -> dict[str, Any]:
    return _with(saved, "totals", {**saved["arrays"]["totals"], **changes})


def _bomb(saved: dict[str, Any]) -> dict[str, Any]:
    """Data that would take a hundred megabytes."""
    inflate = zlib.compressobj(9)
    data = b"".join(inflate.compress(bytes(10**6)) for _ in range(100)) + inflate.flush()
    return _packed(saved, data=base64.b64encode(data).decode())


def test_run_of_the_other_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid state of a run"):
        Progress.from_json(queries_run().to_json())
    with pytest.raises(ValueError, match="invalid state of a run"):
        QueryProgress.from_json(labels_run().to_json())


some_json: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 0, 1, 7, 2**31, 2**63, 10**400, 0.5, float("inf"), float("nan"), "x", [], {}]
)


@pytest.mark.parametrize("kind", RUNS)
@settings(max_examples=300)
@given(data=st.data())
def test_damage_raises_only_value_errors(kind: str, data: st.DataObject) -> None:
    progress = RUNS[kind]()
    saved = progress.to_json()
    for _ in range(data.draw(st.integers(1, 2))):
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(sorted(saved["numbers"])))
            saved["numbers"][name] = data.draw(some_json)
            continue
        name = data.draw(st.sampled_from(sorted(saved["arrays"])))
        if data.draw(st.booleans()):
            part = data.draw(st.sampled_from(["dtype", "shape", "data"]))
            saved["arrays"][name][part] = data.draw(some_json)
            continue
        saved["arrays"][name] = damaged_array(progress.state()["arrays"][name], data)
    try:
        restored = type(progress).from_json(saved)
    except ValueError:
        return
    restored.report()


def damaged_array(array: Any, data: st.DataObject) -> dict[str, Any]:
    damage = data.draw(st.sampled_from(["number", "rows", "columns", "type"]))
    if damage == "number" and array.size:
        worst = [-1, 10**9, 2**62] if array.dtype == np.int64 else [-1.0, 1e300, np.nan, np.inf]
        array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(st.sampled_from(worst))
    elif damage == "rows":
        array = array[:-1]
    elif damage == "columns":
        array = array[..., :-1]
    elif damage == "type":
        array = array.astype(np.float64 if array.dtype == np.int64 else np.int64, casting="unsafe")
    array = np.ascontiguousarray(array)
    packed = base64.b64encode(zlib.compress(array.tobytes())).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": packed}
