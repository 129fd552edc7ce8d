"""Open workspaces: loaded when they are needed, unloaded when they get too large or too many."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from tagalong.files.lock import BusyError
from tagalong.journal import JournalError, NotFoundError, Workspace
from tagalong.server.directories import Directory, check_removable
from tagalong.server.news import News
from tagalong.server.problems import Problem
from tagalong.server.threads import Threads

__all__ = ["Workspaces"]

USES_BETWEEN_LOOKS = 100
SECONDS_TO_REMEMBER_A_HOLDER = 1.0
SECONDS_TO_WAIT_FOR_USERS = 2.0
SECONDS_BETWEEN_LOOKS = 0.01
RETRY = {"Retry-After": "1"}


@dataclass(slots=True)
class _Place:
    """Where a workspace is opened and closed, one at a time."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    workspace: Workspace | None = None
    users: int = 0
    uses: int = 0
    last_use: int = 0
    waiting: int = 0
    held_by: BusyError | None = None
    held_until: float = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether the workspace is open, and stays so."""
        workspace = self.workspace
        return workspace is not None and not workspace.is_lost and not self.lock.locked()


class _Use:
    """A block in which a workspace stays open. A generator would do, but takes longer."""

    __slots__ = ("_begin", "_name", "_place")

    def __init__(self, begin: Callable[[str], Awaitable[_Place]], name: str):
        self._begin = begin
        self._name = name

    async def __aenter__(self) -> Workspace:
        self._place = await self._begin(self._name)
        assert self._place.workspace is not None
        return self._place.workspace

    async def __aexit__(self, *error: object) -> None:
        self._place.users -= 1


class Workspaces:
    """The open workspaces of a server. All methods are called in the thread of the event loop.

    Parameters
    ----------
    directory : Directory
        Where the workspaces are.
    threads : Threads
        Opens and closes them.
    memory_bytes : int
        Number of bytes of models above which the least recently used workspaces are closed.
    most : int
        Number of workspaces above which they are closed likewise: each has several open files.
    on_problem : callable
        Called with the name of a workspace and a problem that was survived.
    """

    def __init__(
        self,
        directory: Directory,
        threads: Threads,
        memory_bytes: int,
        most: int,
        on_problem: Callable[[str, JournalError], None],
    ):
        self._directory = directory
        self._threads = threads
        self._memory_bytes = memory_bytes
        self._most = most
        self._on_problem = on_problem
        self._places: dict[str, _Place] = {}
        self._news: dict[str, News] = {}
        self._clock = 0
        self._is_closed = False

    @property
    def loaded(self) -> dict[str, Workspace]:
        """The workspaces that are open at present; any thread may ask."""
        return {
            name: place.workspace
            for name, place in list(self._places.items())
            if place.workspace is not None
        }

    def news(self, name: str) -> News:
        """Return the news of a workspace, whether or not it is open.

        Parameters
        ----------
        name : str
            Its name.
        """
        return self._news.setdefault(name, News())

    def use(self, name: str) -> AbstractAsyncContextManager[Workspace]:
        """Open a workspace if it is closed, and keep it open during the block.

        Parameters
        ----------
        name : str
            Its name; NotFoundError if there is none.
        """
        return _Use(self._begin_use, name)

    async def _begin_use(self, name: str) -> _Place:
        place = self._places.get(name)
        if place is None or not place.is_ready:
            place = await self._open(name)
        place.users += 1
        self._clock += 1
        place.last_use = self._clock
        place.uses += 1
        if place.uses % USES_BETWEEN_LOOKS == 0:
            self._close_idle()
        return place

    async def _open(self, name: str) -> _Place:
        if not await self._threads.run(self._directory.exists, name):
            raise NotFoundError(f"there is no workspace {name[:80]!r}")
        async with self._locked(name) as place:
            if self._is_closed:
                raise Problem(503, "closing", "the server is being stopped", RETRY)
            if place.workspace is not None and place.workspace.is_lost:
                lost, place.workspace = place.workspace, None
                await self._threads.run(lost.close)
            if place.workspace is None:
                place.workspace = await self._opened(name, place)
                self._close_idle(spared=place)
            return place

    @asynccontextmanager
    async def _locked(self, name: str) -> AsyncIterator[_Place]:
        """Lock the place of a workspace, and make it if there is none.

        The workspace may have been removed and made again while the lock was awaited: then the
        lock of its new place counts.
        """
        while True:
            place = self._places.setdefault(name, _Place())
            place.waiting += 1
            try:
                async with place.lock:
                    if self._places.get(name) is place:
                        yield place
                        return
            finally:
                place.waiting -= 1

    async def _opened(self, name: str, place: _Place) -> Workspace:
        """Open a workspace, unless another server held it a moment ago."""
        loop = asyncio.get_running_loop()
        if place.held_by is not None and loop.time() < place.held_until:
            raise place.held_by
        problem = partial(self._on_problem, name)
        try:
            workspace = await self._threads.run(self._directory.open, name, problem)
        except BusyError as error:
            place.held_by = error.with_traceback(None)
            place.held_until = loop.time() + SECONDS_TO_REMEMBER_A_HOLDER
            raise
        place.held_by = None
        workspace.subscribe(self.news(name).committed)
        return workspace

    async def is_held_elsewhere(self, name: str) -> bool:
        """Whether another server holds a workspace; otherwise this one has it open now.

        Parameters
        ----------
        name : str
            Its name.
        """
        try:
            async with self.use(name):
                return False
        except BusyError:
            return True

    def _close_idle(self, spared: _Place | None = None) -> None:
        """Close the least recently used workspaces while they are too large or too many."""
        sizes = {name: workspace.model_bytes for name, workspace in self.loaded.items()}
        total, count = sum(sizes.values()), len(sizes)
        for name in sorted(sizes, key=lambda name: self._places[name].last_use):
            place = self._places[name]
            if total <= self._memory_bytes and count <= self._most:
                return
            if place is not spared and not (place.users or place.waiting or place.lock.locked()):
                total -= sizes[name]
                count -= 1
                self._threads.start(self._close(name))

    async def _close(self, name: str) -> None:
        """Close a workspace, unless somebody uses it by now."""
        place = self._places.get(name)
        if place is None:  # it was removed meanwhile
            return
        async with place.lock:
            workspace = place.workspace
            if workspace is None or place.users:
                return
            place.workspace = None
            await self._threads.run(workspace.close)

    async def create(self, name: str) -> None:
        """Make a workspace.

        Parameters
        ----------
        name : str
            Its name; ConflictError if there is one.
        """
        async with self._locked(name):
            await self._threads.run(self._directory.create, name)

    async def remove(self, name: str) -> None:
        """Remove a workspace for good, once the requests that use it are answered.

        Parameters
        ----------
        name : str
            Its name; a Problem if it is used for long, for example by an import.
        """
        check_removable(name)
        if not await self._threads.run(self._directory.exists, name):
            raise NotFoundError(f"there is no workspace {name[:80]!r}")
        async with self._locked(name) as place:
            if not await self._is_left(place):
                raise Problem(
                    503,
                    "in-use",
                    f"the workspace {name!r} is being used; try again",
                    RETRY,
                )
            workspace, place.workspace = place.workspace, None
            if workspace is not None:
                await self._threads.run(workspace.close)
            await self._threads.run(self._directory.remove, name)
            del self._places[name]  # before others get its lock
        self.news(name).close()
        del self._news[name]

    async def _is_left(self, place: _Place) -> bool:
        """Whether nobody uses a workspace any more, or soon; its lock keeps others from it."""
        now = asyncio.get_running_loop().time
        end = now() + SECONDS_TO_WAIT_FOR_USERS
        while place.users and now() < end:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        return not place.users

    def names(self) -> list[str]:
        """Return the names of all workspaces."""
        return self._directory.names()

    def end_news(self) -> None:
        """Tell all who watch a workspace that there will be no more news."""
        for news in self._news.values():
            news.close()

    async def close(self) -> None:
        """Close all workspaces; no other is opened any more."""
        self._is_closed = True
        self.end_news()
        await asyncio.gather(*(self._finish(place) for place in self._places.values()))

    async def _finish(self, place: _Place) -> None:
        async with place.lock:
            workspace, place.workspace = place.workspace, None
            if workspace is not None:
                await self._threads.run(workspace.close)
