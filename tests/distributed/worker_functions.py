"""Functions that the tests run on workers."""

import os
import resource
import signal
import time
from pathlib import Path


def double(number, *_):
    return 2 * number


def add(first, second):
    return first + second


def refuse(number):
    raise ValueError(f"no {number} here")


def process_and_identity(_task, value):
    return os.getpid(), id(value)


def kill_once(task, folder):
    """Kill the own process, except if another call did so before."""
    mark = Path(folder) / f"{task}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * task


def wait_for_file(task, folder):
    """Leave a mark, and wait until there is a file "go"."""
    Path(folder, f"task {task}").touch()
    while not Path(folder, "go").exists():
        time.sleep(0.02)
    return 2 * task


def kill_always(_task):
    os.kill(os.getpid(), signal.SIGKILL)


def limit_file_size(most):
    """Let the kernel refuse to write more bytes to a file in this process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def die_before_rename(marks):
    """Let this process be killed after it has written a file, before it renames it; once per file.

    Parameters
    ----------
    marks : str
        A folder that remembers for which files it has happened.
    """
    rename = os.replace

    def killed_once(source, target):
        mark = Path(marks) / Path(target).name
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        rename(source, target)

    os.replace = killed_once  # type: ignore[assignment]
