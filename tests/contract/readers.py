"""Threads that read a model repeatedly while the calling thread changes it."""

import threading
import time
from collections.abc import Callable, Iterable

from tests.timeouts import TIMEOUT

READERS = 2


def read_while_writing(steps: Iterable[Callable[[], object]], read: Callable[[], None]) -> None:
    """Run the steps in order; between two steps, wait until every reader has finished a read.

    This makes many reads overlap with a step, even if the steps are fast. An exception in a
    reader is raised again here.
    """
    done, failures, reads = threading.Event(), [], [0] * READERS

    def keep_reading(reader: int) -> None:
        try:
            while not done.is_set():
                read()
                reads[reader] += 1
        except BaseException as error:
            failures.append(error)

    def await_readers() -> None:
        before, deadline = list(reads), time.monotonic() + TIMEOUT
        while not failures and any(now <= then for now, then in zip(reads, before, strict=True)):
            assert time.monotonic() < deadline, "the readers are stuck"
            time.sleep(1e-4)

    threads = [threading.Thread(target=keep_reading, args=(i,)) for i in range(READERS)]
    for thread in threads:
        thread.start()
    try:
        for step in steps:
            step()
            await_readers()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    for failure in failures:
        raise failure
