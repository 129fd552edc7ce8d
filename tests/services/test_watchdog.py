"""Tests that hang are failed, with what they did; lines of processes are not waited for forever."""

import subprocess
import sys

import pytest

from tests.services import lines
from tests.services.lines import Lines
from tests.timeouts import TIMEOUT

HANGING = """
import os, signal, subprocess, sys, time
from tests.services.watchdog import Watchdog

earlier = subprocess.Popen(["sleep", "1000"])
dog = Watchdog("a test", 0.1, 2, clean_up=0.5)
own = subprocess.Popen(["sleep", "1000"])
with dog.over("call"):
    try:
        own.wait()
        time.sleep(1000)
    except BaseException as error:
        print(error, flush=True)
    assert own.wait() == -signal.SIGKILL
    assert earlier.poll() is None, "it is older than the test"
    try:
        time.sleep(1000)
    except BaseException as error:
        assert earlier.wait() == -signal.SIGKILL
    print("both ended", flush=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # as code that never returns
    time.sleep(1000)
"""


def test_a_test_that_hangs_fails_and_its_processes_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert "a test hangs: its call has taken 0.1 seconds. 1 of its processes" in done.stdout
    assert 'File "<string>", line 10, in <module>' in done.stdout  # where it hangs
    assert done.stdout.endswith("both ended\n")
    assert (done.returncode, done.stderr.splitlines()[0][:8]) == (1, "Timeout ")


def test_lines_are_read_one_by_one_until_the_process_ends() -> None:
    program = "import sys; print('one\\ntwo', flush=True); sys.stdin.read(); print('three', end='')"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        found = Lines(process.stdout, "the program")
        assert [found.next(), found.next()] == ["one\n", "two\n"]
        process.stdin.close()
        assert [found.next(), found.next()] == ["three", ""]


def test_a_line_that_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "TIMEOUT", 0.1)
    program = "import sys; sys.stdout.write('hal'); sys.stdout.flush(); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with pytest.raises(AssertionError, match="the program writes nothing; so far: b'"):
            Lines(process.stdout, "the program").next()
        process.stdin.close()
