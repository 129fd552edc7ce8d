"""Run a scenario with one writer and eight readers for some time."""

import sys
import threading
import time
from collections.abc import Callable

from tests.threads.scenarios import Scenario

READERS = 8


def stress(make: Callable[[], Scenario], seconds: float) -> tuple[int, int]:
    """Let readers read a model while it is changed; return the numbers of changes and reads.

    When a model has had all its changes, a new one takes its place. An exception in a reader is
    raised again here.
    """
    current = make()
    done, failures, reads = threading.Event(), list[BaseException](), [0] * READERS

    def keep_reading(reader: int) -> None:
        try:
            while not done.is_set():
                calls = current.reads
                calls[(reader + reads[reader]) % len(calls)]()
                reads[reader] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=keep_reading, args=(i,)) for i in range(READERS)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    changes, deadline = 0, time.monotonic() + seconds
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() < deadline and not failures:
            write = next(current.writes, None)
            if write is None:
                current = make()
                continue
            write()
            changes += 1
            time.sleep(0)  # let readers begin a call before the next change
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    for failure in failures:
        raise failure
    return changes, sum(reads)
