"""Errors while predictions are written are reported, and nothing else is."""

import errno
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tagalong.cli.learn.appendable import AppendableTable
from tagalong.cli.learn.prediction_rows import prediction_columns
from tagalong.cli.learn.predictions import _convert


def failing(number: int) -> Callable[[int], None]:
    def fail(handle: int) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_failed_sync_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "p.csv")
    table = AppendableTable(path, "csv", prediction_columns(1))
    table.write([None] * len(prediction_columns(1)))
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError, match="Input/output error") as caught:
        table.position()
    assert caught.value.filename == path
    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))  # as for pipes and devices
    assert table.position().rows == 1


def test_a_parquet_file_that_cannot_be_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the error itself is reported, not one more when its writer is deleted."""
    rows, path = tmp_path / "p.parquet.partial", tmp_path / "p.parquet"
    rows.write_text("damaged\n")
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    with pytest.raises(ValueError, match="Expecting value"):
        _convert(str(rows), str(path), prediction_columns(1), private=False)
    gc.collect()
    assert not ignored
    assert not path.exists()
