"""The end of tests that hang."""

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

SECONDS_TO_CLEAN_UP = 60.0


class Watchdog:
    """Fails a test that hangs, with the stacks of all threads, and kills the processes it started.

    If the test does not end after that, because what hangs is older than the test, all processes
    below this one are killed. If that does not help either, this process is ended.

    Parameters
    ----------
    name : str
        The test, for the message.
    seconds : float
        The longest time of each phase: setup, call and teardown.
    errors : int
        File descriptor for the stacks if this process is ended.
    clean_up : float
        Time for each of these steps.
    """

    def __init__(
        self, name: str, seconds: float, errors: int, clean_up: float = SECONDS_TO_CLEAN_UP
    ):
        self._name = name
        self._seconds = seconds
        self._errors = errors
        self._clean_up = clean_up
        self._earlier = descendants(os.getpid())
        self._alarms = 0

    @contextmanager
    def over(self, phase: str) -> Iterator[None]:
        """Watch a phase of the test.

        Parameters
        ----------
        phase : str
            The phase, for the message.
        """
        self._alarms = 0
        before = signal.signal(signal.SIGALRM, partial(self._fail, phase))
        signal.setitimer(signal.ITIMER_REAL, self._seconds, self._clean_up)
        last = self._seconds + 4 * self._clean_up
        faulthandler.dump_traceback_later(last, exit=True, file=self._errors)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _fail(self, phase: str, number: int, frame: FrameType | None) -> None:
        self._alarms += 1
        stacks = stacks_of_all_threads(frame)
        killed = descendants(os.getpid())
        if self._alarms == 1:
            killed -= self._earlier
        for pid in killed:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        pytest.fail(
            f"{self._name} hangs: its {phase} has taken {self._seconds:g} seconds. "
            f"{len(killed)} of its processes were killed.\n{stacks}"
        )


def descendants(pid: int) -> set[int]:
    """Return the children of a process, and theirs.

    Parameters
    ----------
    pid : int
        The process.
    """
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = path.read_text(errors="replace").rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(path.parent.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        new = children.get(waiting.pop(), [])
        found.update(new)
        waiting += new
    return found


def stacks_of_all_threads(main: FrameType | None) -> str:
    """Return what every thread does at the moment.

    Parameters
    ----------
    main : frame
        Where the main thread is.
    """
    names = {each.ident: each.name for each in threading.enumerate()}
    frames = {**sys._current_frames()}
    if main is not None:
        frames[threading.main_thread().ident or 0] = main
    return "\n".join(
        f"Thread {names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame))}"
        for ident, frame in frames.items()
    )
