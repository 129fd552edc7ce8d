"""Time limits that cost nothing if there is nothing to wait for."""

import asyncio
from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

__all__ = ["within"]

T = TypeVar("T")


async def within(seconds: float, work: Awaitable[T]) -> T:
    """Return the result of work; TimeoutError if it waits for too long.

    Most bodies have arrived when they are asked for. Then no timer is made, which would take longer
    than the rest of the reading.

    Parameters
    ----------
    seconds : float
        How long it may wait.
    work : awaitable
        The work.
    """
    steps = work.__await__()
    try:
        waits_for = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    async with asyncio.timeout(seconds):
        return await _Rest(steps, waits_for)


class _Rest(Generic[T]):
    """Work whose first step has been done: it waits for something."""

    def __init__(self, steps: Generator[Any, Any, T], waits_for: Any):
        self._steps = steps
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, T]:
        steps, waits_for = self._steps, self._waits_for
        while True:
            error: BaseException | None = None
            try:
                yield waits_for
            except BaseException as thrown:  # the task is cancelled: the time is over
                error = thrown
            try:
                waits_for = next(steps) if error is None else steps.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
