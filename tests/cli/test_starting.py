"""Tests of the start of a command: it changes the process only as long as it has to."""

import gc
import os
import subprocess
import sys

import pytest

from tagalong.cli.starting import without_blas_threads, without_garbage_collection

VARIABLE = "OPENBLAS_NUM_THREADS"


def test_threads_are_limited_only_within_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with without_blas_threads():
        assert os.environ[VARIABLE] == "1"
    assert VARIABLE not in os.environ
    with without_blas_threads(active=False):
        assert VARIABLE not in os.environ


def test_setting_of_the_user_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "3")
    with without_blas_threads():
        assert os.environ[VARIABLE] == "3"
    assert os.environ[VARIABLE] == "3"


def test_command_starts_no_threads() -> None:
    """numpy would start one thread per core."""
    code = (
        "import os; from tagalong.cli.main import main; main(['learn', 'missing.jsonl']); "
        "import numpy; print(len(os.listdir('/proc/self/task')))"
    )
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert found.stdout.strip() == "1"


def test_garbage_is_collected_again_after_the_block() -> None:
    assert gc.isenabled()
    try:
        with without_garbage_collection():
            assert not gc.isenabled()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_disabled_garbage_collection_stays_disabled() -> None:
    gc.disable()
    try:
        with without_garbage_collection():
            pass
        assert not gc.isenabled()
        assert gc.get_freeze_count() == 0
    finally:
        gc.enable()
