"""Limits of processor time that work on slow and on busy machines."""

import time
from collections.abc import Callable

ATTEMPTS = 3
FIXED_WORK = 0.03
"""Seconds that `fixed_work` takes on the machine that the limits refer to."""


def assert_cpu_time(work: Callable[[], object], seconds: float) -> None:
    """Assert that some work takes less than a number of seconds of processor time.

    If the work takes longer, the machine may be slow or busy. Then the limit is scaled by the time
    that a fixed piece of work takes now, and the work is repeated if it exceeds that limit too.
    """
    taken = []
    for _ in range(ATTEMPTS):
        taken.append(processor_seconds(work))
        if taken[-1] < seconds:
            return
        slowness = processor_seconds(fixed_work) / FIXED_WORK
        if taken[-1] < seconds * slowness:
            return
    raise AssertionError(f"the work took {taken} seconds of processor time, the limit is {seconds}")


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work in seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fixed_work() -> int:
    """Do a fixed number of steps."""
    total = 0
    for number in range(600_000):
        total ^= number * number
    return total
