"""Tests of the fuzzer itself."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.readers import Runner, mutated
from tests.fuzz.targets import PIECES, TARGETS, Target
from tests.timeouts import TIMEOUT

ROOT = Path(__file__).parents[2]


def test_a_short_run_reports_its_counts() -> None:
    command = [sys.executable, "-m", "tests.fuzz.readers", "--seconds", "0.1", "--plain"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert {line.split(maxsplit=1)[1] for line in lines[:-1]} == TARGETS.keys()
    assert lines[-1].endswith("executions, 0 faults")


def test_a_fault_is_found_saved_and_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def check(data: bytes) -> None:
        if b"\0" in data:
            raise ValueError("a NUL")

    runner = Runner({"a b": Target(b"seed", check)}, tmp_path / "faults")
    rng = random.Random(1)
    for _ in range(2000):
        runner.run("a b", mutated(b"seed", rng, PIECES))
    assert len(runner.faults) == 1
    (path,) = (tmp_path / "faults").iterdir()
    assert b"\0" in path.read_bytes()
    assert capsys.readouterr().out.count("FAULT a b: ValueError('a NUL')") == 1


def test_mutations_depend_on_the_seed_alone() -> None:
    def some(seed: int) -> list[bytes]:
        rng = random.Random(seed)
        return [mutated(TARGETS["csv"].seed, rng, PIECES) for _ in range(20)]

    assert some(1) == some(1)
    assert some(1) != some(2)
