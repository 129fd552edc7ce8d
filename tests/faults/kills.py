"""Kill a process at random moments, again and again: the work is completed all the same."""

import random
import shutil
import signal
import time
from functools import partial
from pathlib import Path

from tests.faults.driver import forked, inside, prepared
from tests.faults.operations import Operation


def kill_randomly(operation: Operation, folder: Path, kills: int, seed: int) -> list[str]:
    """Kill an operation at random moments; return everything that went wrong.

    Each run goes on with the files that a killed run has left. When a run ends by itself, its work
    must be complete, and the next run begins anew.
    """
    rng = random.Random(seed)
    before, complete, work = folder / "before", folder / "complete", folder / "work"
    prepared(operation, before)
    shutil.copytree(before, complete)
    start = time.monotonic()
    ended = forked(complete, operation.run)
    longest = time.monotonic() - start
    assert ended.code == 0, ended.errors
    done, is_new = 0, True
    while done < kills:
        if is_new:
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(before, work)
            with inside(work):
                operation.begin()
        die_soon = partial(signal.setitimer, signal.ITIMER_REAL, rng.uniform(0.001, longest))
        ended = forked(work, operation.run if is_new else operation.run_again, die_soon)
        is_new = ended.code != -signal.SIGALRM  # whose default action kills like SIGKILL
        done += not is_new
        try:
            with inside(work):
                operation.check(before, complete)
                if is_new:
                    assert ended.code == 0, ended
                    operation.check_complete(complete)
        except Exception as error:
            return [f"{operation.name}: after {done:,} kills: {type(error).__name__}: {error}"]
    return []
