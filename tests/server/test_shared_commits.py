"""Changes of requests that are under way at the same time share commits."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tagalong.journal import NotFoundError, StorageError
from tagalong.server.shared_commits import SharedCommits
from tagalong.server.threads import Threads
from tests.timeouts import TIMEOUT


class Recorded:
    """In place of a workspace: notes which works come together, and can be held back."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.error: Exception | None = None

    def do_together(self, works: Sequence[Callable[[], Any]]) -> list[Any]:
        self.groups.append(len(works))
        assert self.go_on.wait(TIMEOUT)
        if self.error is not None:
            raise self.error
        return [self._done(work) for work in works]

    def _done(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except Exception as error:
            return error


def run(use: Callable[[SharedCommits, Any], Any]) -> tuple[Recorded, Any]:
    """Call a coroutine with shared commits and a workspace; return the workspace and the result."""
    workspace = Recorded()

    async def main() -> Any:
        threads = Threads(4)
        try:
            return await use(SharedCommits(threads), workspace)
        finally:
            await threads.close()

    return workspace, asyncio.run(asyncio.wait_for(main(), TIMEOUT))


async def until_waiting(workspace: Recorded, groups: int) -> None:
    while len(workspace.groups) < groups:
        await asyncio.sleep(0.001)


def test_what_comes_during_a_commit_shares_the_next_one() -> None:
    async def use(commits: SharedCommits, workspace: Any) -> list[int]:
        workspace.go_on.clear()
        first = asyncio.ensure_future(commits.commit(workspace, lambda: 0))
        await until_waiting(workspace, 1)
        others = [
            asyncio.ensure_future(commits.commit(workspace, lambda n=n: n))  # type: ignore[misc]
            for n in range(1, 9)
        ]
        await asyncio.sleep(0)
        workspace.go_on.set()
        return await asyncio.gather(first, *others)

    workspace, found = run(use)
    assert found == list(range(9))
    assert workspace.groups == [1, 8]


def test_a_refused_request_leaves_the_others() -> None:
    def refused() -> int:
        raise NotFoundError("there is no item 'x'")

    async def use(commits: SharedCommits, workspace: Any) -> list[Any]:
        works: list[Callable[[], int]] = [lambda: 1, refused, lambda: 3]
        return await asyncio.gather(
            *(commits.commit(workspace, work) for work in works), return_exceptions=True
        )

    workspace, (first, second, third) = run(use)
    assert (first, third) == (1, 3)
    assert isinstance(second, NotFoundError)
    assert workspace.groups == [3]


def test_a_failure_is_the_error_of_every_request_and_the_next_ones_go_on() -> None:
    async def use(commits: SharedCommits, workspace: Any) -> Any:
        workspace.error = StorageError("the disk is full")
        failed = await asyncio.gather(
            *(commits.commit(workspace, lambda: 1) for _ in range(3)), return_exceptions=True
        )
        workspace.error = None
        return failed, await commits.commit(workspace, lambda: 2)

    _, (failed, later) = run(use)
    assert [str(error) for error in failed] == ["the disk is full"] * 3
    assert later == 2


def test_a_cancelled_request_is_still_done_and_harms_no_other() -> None:
    done: list[int] = []

    async def use(commits: SharedCommits, workspace: Any) -> int:
        workspace.go_on.clear()
        left = asyncio.ensure_future(commits.commit(workspace, lambda: done.append(1)))
        stays = asyncio.ensure_future(commits.commit(workspace, lambda: 2))
        await until_waiting(workspace, 1)
        left.cancel()
        workspace.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await left
        return await stays

    workspace, found = run(use)
    assert (found, done, workspace.groups) == (2, [1], [2])


def test_workspaces_do_not_wait_for_each_other() -> None:
    async def use(commits: SharedCommits, workspace: Any) -> int:
        workspace.go_on.clear()
        held = asyncio.ensure_future(commits.commit(workspace, lambda: 1))
        await until_waiting(workspace, 1)
        other: Any = Recorded()
        found = await commits.commit(other, lambda: 2)
        assert not held.done()
        workspace.go_on.set()
        return found + await held

    assert run(use)[1] == 3


def test_a_failure_while_results_are_told_ends_no_later_commit() -> None:
    async def use(commits: SharedCommits, workspace: Any) -> Any:
        together = workspace.do_together
        workspace.do_together = lambda works: together(works)[:1]  # the second gets no result
        found = await asyncio.gather(
            *(commits.commit(workspace, lambda: 1) for _ in range(2)), return_exceptions=True
        )
        workspace.do_together = together
        return found, await commits.commit(workspace, lambda: 2)

    _, (found, later) = run(use)
    assert found[0] == 1
    assert isinstance(found[1], StorageError)
    assert later == 2
