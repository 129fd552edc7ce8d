"""Workspaces are opened when they are needed, and closed when they get too large or too many."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tagalong.journal import ConflictError, NotFoundError
from tagalong.server.directories import FolderDirectory
from tagalong.server.problems import Problem
from tagalong.server.threads import Threads
from tagalong.server.workspaces import Workspaces


def run(
    folder: Path,
    test: Callable[[Workspaces], Awaitable[None]],
    memory_bytes: int = 10**12,
    most: int = 1000,
) -> None:
    """Run a test in an event loop."""

    async def within() -> None:
        threads = Threads(4)
        directory = FolderDirectory(folder)
        workspaces = Workspaces(directory, threads, memory_bytes, most, lambda name, error: None)
        try:
            await test(workspaces)
        finally:
            await workspaces.close()
            await threads.close()

    asyncio.run(within())


async def unloaded(workspaces: Workspaces, *names: str) -> None:
    """Wait until only some workspaces are open."""
    while set(workspaces.loaded) != set(names):
        await asyncio.sleep(0)


def test_a_workspace_is_opened_once_for_all_who_use_it(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        assert workspaces.loaded == {}

        async def use() -> object:
            async with workspaces.use("default") as workspace:
                await asyncio.sleep(0)
                return workspace

        found = await asyncio.gather(*(use() for _ in range(10)))
        assert len({id(each) for each in found}) == 1
        assert list(workspaces.loaded) == ["default"]

    run(tmp_path, test)


def test_the_least_recently_used_one_is_closed(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        for name in "abc":
            await workspaces.create(name)
        for name in "ab":
            async with workspaces.use(name) as workspace:
                workspace.add("text", [name], id="1")
        await unloaded(workspaces, "b")  # no memory for two
        async with workspaces.use("c"):
            await unloaded(workspaces, "c")
        async with workspaces.use("a") as workspace:  # opened again, with what it had
            assert workspace.item("1").labels == ["a"]

    run(tmp_path, test, memory_bytes=1)


def test_a_workspace_that_is_used_is_not_closed(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        for name in "abc":
            await workspaces.create(name)
        async with workspaces.use("a") as first, workspaces.use("b"), workspaces.use("c"):
            assert set(workspaces.loaded) == {"a", "b", "c"}
            first.add("text")  # not closed
        async with workspaces.use("a") as again:
            assert again is first

    run(tmp_path, test, memory_bytes=1)


def test_the_number_of_open_workspaces_is_limited(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        for name in "abcd":
            await workspaces.create(name)
            async with workspaces.use(name):
                pass
        await unloaded(workspaces, "c", "d")
        async with workspaces.use("c"), workspaces.use("a"):
            await unloaded(workspaces, "a", "c")

    run(tmp_path, test, most=2)


def test_with_enough_memory_all_stay_open(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        for name in "abc":
            await workspaces.create(name)
            async with workspaces.use(name):
                pass
        assert set(workspaces.loaded) == {"a", "b", "c"}

    run(tmp_path, test)


def test_removing_waits_for_those_who_use_a_workspace(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        await workspaces.create("a")
        async with workspaces.use("a") as workspace:
            removing = asyncio.create_task(workspaces.remove("a"))
            await asyncio.sleep(0.05)
            workspace.add("text")
        await removing
        assert workspaces.names() == ["default"]

    run(tmp_path, test)


def test_a_workspace_that_is_used_for_long_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tagalong.server.workspaces.SECONDS_TO_WAIT_FOR_USERS", 0.05)

    async def test(workspaces: Workspaces) -> None:
        await workspaces.create("a")
        async with workspaces.use("a") as workspace:
            with pytest.raises(Problem) as caught:
                await workspaces.remove("a")
            assert (caught.value.status, caught.value.kind) == (503, "in-use")
            assert caught.value.headers["Retry-After"] == "1"
            workspace.add("text")
        await workspaces.remove("a")
        assert workspaces.names() == ["default"]
        with pytest.raises(NotFoundError):
            async with workspaces.use("a"):
                pass

    run(tmp_path, test)


def test_who_waits_while_a_workspace_is_removed_and_made_again_gets_the_new_one(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        await workspaces.create("a")
        async with workspaces.use("a") as before:
            removing = asyncio.create_task(workspaces.remove("a"))
            while not workspaces._places["a"].lock.locked():
                await asyncio.sleep(0)
            making = asyncio.create_task(workspaces.create("a"))  # waits for the lock

            async def use() -> object:
                async with workspaces.use("a") as workspace:
                    return workspace

            using = [asyncio.create_task(use()) for _ in range(3)]
            while workspaces._places["a"].waiting < 5:
                await asyncio.sleep(0)
        await asyncio.gather(removing, making)
        found = {id(workspace) for workspace in await asyncio.gather(*using)}
        assert found == {id(workspaces.loaded["a"])} != {id(before)}
        async with workspaces.use("a") as workspace:
            workspace.add("text")

    run(tmp_path, test)


def test_names_that_exist_or_do_not(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        await workspaces.create("a")
        with pytest.raises(ConflictError, match="'a'"):
            await workspaces.create("a")
        with pytest.raises(NotFoundError, match="'none'"):
            await workspaces.remove("none")
        async with workspaces.use("default"):
            with pytest.raises(ConflictError, match="default"):
                await workspaces.remove("default")
        assert list(workspaces.loaded) == ["default"]  # it was not closed
        for name in ("none", "..", "A", "", "a/b"):
            with pytest.raises(NotFoundError):
                async with workspaces.use(name):
                    pass
        assert workspaces.names() == ["default", "a"]

    run(tmp_path, test)


def test_no_workspace_is_opened_after_the_end(tmp_path: Path):
    async def test(workspaces: Workspaces) -> None:
        async with workspaces.use("default"):
            pass
        await workspaces.close()
        assert workspaces.loaded == {}
        with pytest.raises(Problem) as caught:
            async with workspaces.use("default"):
                pass
        assert (caught.value.status, caught.value.kind) == (503, "closing")

    run(tmp_path, test)
