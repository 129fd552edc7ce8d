"""Threads for work that waits, beside the event loop."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

__all__ = ["Threads"]

T = TypeVar("T")


class Threads:
    """Runs functions in threads, and coroutines in the background.

    Parameters
    ----------
    count : int
        Maximum number of threads.
    """

    def __init__(self, count: int):
        self._executor = ThreadPoolExecutor(count, "tagalong serve")
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Call a function in a thread. It ends even if nobody waits for it any more.

        Parameters
        ----------
        work : callable
            The function.
        args, options : object
            Its arguments.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(work, *args, **options))

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine in the background.

        Parameters
        ----------
        work : coroutine
            The work.
        """
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for all work."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._executor.shutdown()
