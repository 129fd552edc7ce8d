"""Time limits: no timer if there is nothing to wait for, and the same results as without them."""

import asyncio

import pytest

from tagalong.server.http.time_limits import within
from tests.timeouts import TIMEOUT


async def at_once(value):
    return value


def test_no_timer_if_there_is_nothing_to_wait_for(monkeypatch):
    monkeypatch.delattr(asyncio, "timeout")
    assert asyncio.run(within(0.0, at_once(3))) == 3


def test_work_that_waits_several_times():
    async def work(events):
        for event in events:
            await event.wait()
            await asyncio.sleep(0)
        return "done"

    async def main():
        events = [asyncio.Event() for _ in range(3)]
        task = asyncio.create_task(within(TIMEOUT, work(events)))
        for event in events:
            await asyncio.sleep(0)
            assert not task.done()
            event.set()
        return await task

    assert asyncio.run(main()) == "done"


def test_work_that_takes_too_long_is_cancelled():
    ended = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    with pytest.raises(TimeoutError):
        asyncio.run(within(0.0, work()))
    assert ended == ["work"]


def test_work_may_take_its_time_to_end():
    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    with pytest.raises(TimeoutError):
        asyncio.run(within(0.0, work()))


def test_a_cancelled_task_is_cancelled():
    async def main():
        task = asyncio.create_task(within(TIMEOUT, asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


@pytest.mark.parametrize("waits", [False, True])
def test_errors_of_the_work(waits):
    async def work():
        if waits:
            await asyncio.sleep(0)
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        asyncio.run(within(TIMEOUT, work()))
