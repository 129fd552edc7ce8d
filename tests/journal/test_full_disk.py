"""A full disk: answers are refused, reading goes on, and nothing that was acknowledged is lost."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.faults.injection import PRELOAD, compile_library
from tests.journal.full_disk import SCENARIOS

PRIVATE_MOUNTS = ["unshare", "--map-root-user", "--mount"]


@cache
def can_mount() -> bool:
    """Whether this user may mount a file system of their own."""
    command = [*PRIVATE_MOUNTS, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def run(folder: Path, command: list[str], options: list[str], preload: str = "") -> list[str]:
    """Run the scenarios in a process of their own; return those that ended well."""
    command = [*command, sys.executable, "-m", "tests.journal.full_disk", str(folder), *options]
    environment = {**os.environ, PRELOAD: preload}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


def test_a_disk_that_is_full_for_the_process(tmp_path: Path) -> None:
    done = run(tmp_path, [], [], str(compile_library(tmp_path)))
    assert len(done) == len(SCENARIOS) + 1


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("no file system can be mounted here without more rights")
    assert len(run(tmp_path, PRIVATE_MOUNTS, ["--mount"])) == len(SCENARIOS)
