"""Changes of many requests that share one commit and one thread.

A thread per request would wait for the same commit as all the others. Waking each of them, and the
event loop for each of them, takes longer than the changes themselves.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from tagalong.journal import StorageError, Workspace
from tagalong.server.threads import Threads

__all__ = ["SharedCommits"]

T = TypeVar("T")
_Request: TypeAlias = tuple[Callable[[], Any], asyncio.Future[Any]]
INTERRUPTED = "interrupted; whether it was stored is not known"


class SharedCommits:
    """Commits what requests change, those that come during a commit together in the next one.

    Parameters
    ----------
    threads : Threads
        Where commits wait for the disk, one for each workspace.
    """

    def __init__(self, threads: Threads):
        self._threads = threads
        self._waiting: dict[Workspace, list[_Request]] = {}

    async def commit(self, workspace: Workspace, work: Callable[[], T]) -> T:
        """Do work when the commit before has ended, and return its result when it is on the disk.

        It is done even if nobody waits for it any more.

        Parameters
        ----------
        workspace : Workspace
            The workspace, which stays open meanwhile.
        work : callable
            What a request does: see `Workspace.do_together`.
        """
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if workspace in self._waiting:
            self._waiting[workspace].append((work, result))
        else:
            self._waiting[workspace] = [(work, result)]
            self._threads.start(self._commit_waiting(workspace))
        return await result

    async def _commit_waiting(self, workspace: Workspace) -> None:
        requests: list[_Request] = []
        try:
            while requests := self._waiting[workspace]:
                self._waiting[workspace] = []
                await self._commit_together(workspace, requests)
        finally:  # whatever has happened, no request waits for ever
            requests += self._waiting.pop(workspace)
            for _, result in requests:
                if not result.done():
                    result.set_exception(StorageError(INTERRUPTED))

    async def _commit_together(self, workspace: Workspace, requests: Sequence[_Request]) -> None:
        works = [work for work, _ in requests]
        found: list[Any]
        try:
            found = await self._threads.run(workspace.do_together, works)
        except Exception as error:
            found = [error] * len(requests)
        for (_, result), outcome in zip(requests, found, strict=True):
            if result.done():  # the request was cancelled
                continue
            if isinstance(outcome, Exception):
                result.set_exception(outcome)
            elif isinstance(outcome, BaseException):  # a future cannot have every one of them
                result.set_exception(StorageError(INTERRUPTED))
            else:
                result.set_result(outcome)
