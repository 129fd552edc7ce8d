"""Faults of system calls, and kills, leave old or new files; the next run completes the work."""

import subprocess
import sys

import pytest

from tests.faults.journal_operations import JOURNAL_OPERATIONS
from tests.faults.operations import OPERATIONS

# Those that save now and then.
LONG = ["continue", "file"]
FILES, JOURNAL = list(OPERATIONS), list(JOURNAL_OPERATIONS)
LONG_JOURNAL = ["journal-answer", "journal-forget", "journal-together"]


def attack(*argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.faults", *argv]
    return subprocess.run(command, capture_output=True, text=True)


def check(*argv: str) -> None:
    done = attack(*argv)
    assert done.returncode == 0, done.stdout + done.stderr


# A run of several operations imports everything once.
@pytest.mark.parametrize(
    "operations",
    [
        ["save", "journal-answer"],
        *(
            pytest.param(operations, marks=pytest.mark.hardening)
            for operations in (FILES[:5], FILES[5:], JOURNAL[:3], JOURNAL[3:])
        ),
    ],
    ids=" ".join,
)
def test_one_call_of_each_kind(operations: list[str]) -> None:
    check(*operations, "--per-kind", "1")


@pytest.mark.long
@pytest.mark.parametrize("operation", [*FILES, *JOURNAL])
def test_every_call(operation: str) -> None:
    check(operation)


@pytest.mark.hardening
def test_a_few_kills_at_random_moments() -> None:
    check(*LONG, *LONG_JOURNAL, "--kills", "20")


@pytest.mark.long
@pytest.mark.parametrize("operation", [*LONG, *LONG_JOURNAL])
def test_many_kills_at_random_moments(operation: str) -> None:
    check(operation, "--kills", "1000")


def test_lost_data_are_noticed() -> None:
    done = attack("careless")
    assert done.returncode == 1
    for complaint in (
        "fails with EIO: the message does not name the file",
        "fails with EIO: after the fault: AssertionError: the file is neither old nor new",
        "handles half of the bytes: after the fault: AssertionError",
        "killed before it: after the fault: AssertionError: the file is neither old nor new",
    ):
        assert complaint in done.stdout
