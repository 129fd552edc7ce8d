"""Parquet: choice of columns, errors, writing, missing packages."""

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from tagalong.readers import Item, ReadError, read, write
from tests.readers.in_memory import error, found, items, written


def table(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream, row_group_size=2)
    return stream.getvalue()


def test_columns_and_lists_of_labels() -> None:
    data = table(
        id=[1, 2, 3],
        text=["a", None, "c"],
        labels=[["x", "y"], [], None],
        n=[1, None, 2],
        c=["red", "1", None],
        w=[2.0, 1.0, None],
    )
    assert items(data, "parquet", features="*", weight="w") == [
        Item("1", "a", {"n": 1.0, "c": "red"}, ("x", "y"), 2.0),
        Item("2", "", {"c": 1.0}, ()),
        Item("3", "c", {"n": 2.0}, None),
    ]
    assert [item.place for item in items(data, "parquet")] == ["f:1", "f:2", "f:3"]


def test_labels_as_texts_numbers_and_indicators() -> None:
    data = table(text=["a", "b"], tags=["x,y", ""], n=[3, None], red=[True, False])
    assert [i.labels for i in items(data, "parquet")] == [("x", "y"), None]
    assert [i.labels for i in items(data, "parquet", labels="n")] == [("3",), None]
    seen = items(data, "parquet", labels="red", indicators=True)
    assert [i.labels for i in seen] == [("red",), ()]


def test_error_names_the_row() -> None:
    data = table(text=["a", "b", "c"], labels=[["x"], [""], ["y"]])
    seen = found(data, "parquet")
    assert str(seen[1]) == "f:2: a label must not be empty"
    assert isinstance(seen[2], Item)
    nested = table(text=["a"], n=[{"x": 1}])
    assert "'n' must be a finite number" in error(nested, "parquet", features="n")
    assert "must hold text" in error(nested, "parquet", text="n")
    assert "the columns are 'z'" in error(table(z=[1]), "parquet")


def test_damaged_files() -> None:
    data = table(text=["a"])
    for broken in (b"", b"PAR1", data[:-5], data[:20] + b"\xff" * 8 + data[28:]):
        assert "f:1: not Parquet, or damaged" in error(broken, "parquet")


def test_plain_and_compressed_files(tmp_path: Path) -> None:
    given = [Item("a", {"": "t", "s": "u"}, {"n": 1.0, "c": "red"}, ("x",), 2.0)]
    for name in ("a.parquet", "a.parquet.gz"):
        write(given, tmp_path / name)
        options: dict[str, Any] = {
            "features": ["n", "c"],
            "weight": "weight",
            "text": ["text", "s"],
        }
        assert list(read(tmp_path / name, **options)) == given


def test_error_names_the_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'tagalong[parquet]'" in error(b"PAR1", "parquet")
    with pytest.raises(ValueError, match="pip install"):
        written([], "parquet")


def test_unwritable_items_raise() -> None:
    with pytest.raises(ValueError, match=r"item 2 .*'a'"):
        written([Item(features={"a": 1.0}), Item(features={"a": "x"})], "parquet")
    with pytest.raises(ValueError, match="the name 'id'"):
        written([Item(features={"id": 1.0})], "parquet")


def test_many_rows_keep_their_order() -> None:
    data = table(text=[str(number) for number in range(5000)])
    assert [item.text for item in items(data, "parquet")] == [str(n) for n in range(5000)]


def test_zst_error_names_the_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write([Item("", "t")], tmp_path / "a.jsonl.zst")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ReadError, match=r"pip install 'tagalong\[zst\]'"):
        next(read(tmp_path / "a.jsonl.zst"))
