"""`write`: atomic replacement, compression, validation of items."""

import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tagalong.readers import Item, OptionError, read, write
from tagalong.text import TextFeatures

ITEMS = [Item(str(number), f"text {number}", {}, ("a",)) for number in range(3)]


def failing() -> Iterator[Item]:
    yield from ITEMS
    raise KeyboardInterrupt


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zst", ".lzma"])
def test_compression_by_extension(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    assert write(ITEMS, path) == 3
    assert list(read(path)) == ITEMS
    first = path.read_bytes()
    write(ITEMS, path)
    assert path.read_bytes() == first
    assert first.startswith(b"{") == (not suffix)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv", "a.svm", "a.parquet", "a.arff", "a.vw"])
def test_a_failed_write_changes_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("before")
    with pytest.raises((KeyboardInterrupt, ValueError)):
        write(failing(), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write(ITEMS, tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write(ITEMS, "-", "fasttext") == 3
    sys.stdout.flush()
    assert capsysbinary.readouterr().out == (
        b"__label__a text 0\n__label__a text 1\n__label__a text 2\n"
    )


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    assert write(ITEMS, os.devnull, "jsonl") == 3
    assert not Path(os.devnull).is_file()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write(ITEMS, tmp_path, "jsonl")


@pytest.mark.parametrize(
    "name, format, problem",
    [
        ("a.xyz", None, "give format= one of jsonl, csv"),
        ("-", None, "give format="),
        ("a.mbox", None, "mbox is read-only; the writable formats are jsonl"),
        ("a.jsonl", "nothing", "no format 'nothing'"),
    ],
)
def test_formats_that_cannot_be_written(name: str, format: str | None, problem: str) -> None:
    with pytest.raises(OptionError) as caught:
        write(ITEMS, name, format)
    assert problem in str(caught.value)


def test_options_are_checked() -> None:
    with pytest.raises(OptionError, match="formats with this option: fasttext"):
        write(ITEMS, "a.jsonl", prefix="#")


def test_zero_items_are_written_to_a_file(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "a.csv", "a.svm", "a.vw", "a.ft", "a.parquet", "a.arff"):
        assert write([], tmp_path / name) == 0
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == b""
    for name in ("a.jsonl.gz", "a.svm", "a.vw", "a.ft"):
        assert list(read(tmp_path / name)) == []


@pytest.mark.parametrize(
    "item, problem",
    [
        (Item("i", features={"n": float("nan")}), "'n' is nan"),
        (Item("i", features={"n": float("-inf")}), "'n' is -inf"),
        (Item("i", weight=-1.0), "weight is -1.0"),
        (Item("i", weight=float("nan")), "weight is nan"),
        (Item("i", labels=("a", " ")), "label must not be empty"),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.svm", "a.vw", "a.arff"])
def test_items_that_no_reader_accepts_raise(
    tmp_path: Path, name: str, item: Item, problem: str
) -> None:
    with pytest.raises(ValueError, match=f"item 4 .'i'.*{problem}"):
        write([*(Item("", "", {"1": 1.0}, ("a",)) for _ in range(3)), item], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_numpy_numbers(tmp_path: Path) -> None:
    item = Item("", "", {"1": np.float64(0.1)}, ("a",), np.float64(2.0))
    for name in ("a.jsonl", "a.vw", "a.arff"):
        write([item], tmp_path / name)
        assert list(read(tmp_path / name)) == [item]
    write(read(tmp_path / "a.vw"), tmp_path / "a.vw")
    assert list(read(tmp_path / "a.vw")) == [item]


def test_sets_of_words_are_written_as_their_features(tmp_path: Path) -> None:
    item = Item("1", "text", {"tags": ["b", "a"], "size": 2.0}, ("x",))  # type: ignore[dict-item]
    path = tmp_path / "items.jsonl"
    write([item], path)
    (again,) = read(path)
    assert again.features == {"tags=a": 1.0, "tags=b": 1.0, "size": 2.0}
    features = TextFeatures()
    assert [part.tolist() for part in features.read(again)] == [
        part.tolist() for part in features.read(item)
    ]
