"""Threads that read a model again and again while this one writes."""

import threading
import time
from collections.abc import Callable, Iterable

from tests.timeouts import TIMEOUT

READERS = 2


def read_while_writing(steps: Iterable[Callable[[], object]], read: Callable[[], None]) -> None:
    """Take the steps in turn; between two of them every reader finishes at least one read.

    That makes many reads fall into the midst of a step, however quick the steps are. What a
    reader raises is raised here.
    """
    done, failures, reads = threading.Event(), [], [0] * READERS

    def keep_reading(me: int) -> None:
        try:
            while not done.is_set():
                read()
                reads[me] += 1
        except BaseException as error:
            failures.append(error)

    def await_readers() -> None:
        before, deadline = list(reads), time.monotonic() + TIMEOUT
        while not failures and any(now <= then for now, then in zip(reads, before, strict=True)):
            assert time.monotonic() < deadline, "the readers are stuck"
            time.sleep(1e-4)

    threads = [threading.Thread(target=keep_reading, args=(me,)) for me in range(READERS)]
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
