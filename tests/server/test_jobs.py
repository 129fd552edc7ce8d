"""Jobs: their states, their order, and how many are remembered."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tagalong.server.jobs import MAX_ACTIVE, MAX_ERRORS, MAX_KEPT, Job, Jobs
from tagalong.server.problems import Problem
from tagalong.server.threads import Threads
from tests.timeouts import TIMEOUT


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """Jobs with two threads."""
    threads = Threads(2)
    yield Jobs(threads)
    asyncio.run(threads.close())


def run(jobs: Jobs, *works: tuple[Job, Callable[[], Any]]) -> None:
    """Do the work of some jobs at the same time."""

    async def within() -> None:
        runs = (jobs.run(job, work) for job, work in works)
        await asyncio.wait_for(asyncio.gather(*runs), TIMEOUT)

    asyncio.run(within())


def test_a_job_goes_from_waiting_to_done(jobs: Jobs):
    job = jobs.add("w")
    assert job.to_json()["state"] == "waiting"
    seen = []
    run(jobs, (job, lambda: seen.append(job.state)))
    assert (seen, job.state) == (["running"], "done")
    assert jobs.find("w", job.id) is job
    assert jobs.find("other", job.id) is None
    assert jobs.find("w", "none") is None
    assert "error" not in job.to_json()


@pytest.mark.parametrize(
    ("error", "message"), [(ValueError("why"), "why"), (KeyError(), "KeyError")]
)
def test_a_job_that_fails_names_the_reason(jobs: Jobs, error: Exception, message: str):
    job = jobs.add("w")

    def work() -> None:
        raise error

    run(jobs, (job, work))
    assert (job.state, job.to_json()["error"]) == ("failed", message)


def test_jobs_of_a_workspace_take_turns(jobs: Jobs):
    """Those that wait need no thread: many of them leave one for another workspace."""
    first, other = jobs.add("w"), jobs.add("another workspace")
    waiting = [jobs.add("w") for _ in range(10)]
    go_on = threading.Event()
    order: list[str] = []

    def slow() -> None:
        assert go_on.wait(TIMEOUT)
        order.append("first")

    def quick() -> None:
        assert [each.state for each in (first, *waiting)] == ["running"] + ["waiting"] * 10
        order.append("other")
        go_on.set()

    later = [(job, lambda n=n: order.append(str(n))) for n, job in enumerate(waiting)]
    run(jobs, (first, slow), *later, (other, quick))
    assert order == ["other", "first", *map(str, range(10))]
    assert {job.state for job in (first, other, *waiting)} == {"done"}


def test_there_is_a_limit_to_jobs_that_wait(jobs: Jobs):
    active = [jobs.add("w") for _ in range(MAX_ACTIVE)]
    for ask in (jobs.check_room, lambda: jobs.add("another workspace")):
        with pytest.raises(Problem) as caught:
            ask()
        assert (caught.value.status, caught.value.headers) == (429, {"Retry-After": "10"})
    run(jobs, (active[0], lambda: None))
    jobs.check_room()
    assert jobs.add("w").is_active


def test_jobs_are_interrupted_when_the_server_stops(jobs: Jobs):
    running, waiting = jobs.add("w"), jobs.add("w")

    def work() -> None:
        jobs.close()
        assert jobs.is_closing
        raise InterruptedError

    run(jobs, (running, work))
    run(jobs, (waiting, lambda: pytest.fail("must not begin")))
    assert (running.state, waiting.state) == ("interrupted", "interrupted")
    assert "send it again" in running.error


def test_the_last_hundred_jobs_are_remembered(jobs: Jobs):
    waiting = jobs.add("w")
    ended = []
    for _ in range(MAX_KEPT + 10):
        job = jobs.add("w")
        run(jobs, (job, lambda: None))
        ended.append(job)
    assert jobs.find("w", waiting.id) is waiting  # it has not ended
    kept = [job for job in ended if jobs.find("w", job.id)]
    assert kept == ended[-len(kept) :]
    assert len(kept) == MAX_KEPT - 1


def test_only_the_first_reasons_are_kept(jobs: Jobs):
    job = jobs.add("w")
    for number in range(MAX_ERRORS + 5):
        job.skip(f"reason {number}", 2)
    assert (job.skipped, len(job.errors)) == (2 * (MAX_ERRORS + 5), MAX_ERRORS)
    assert job.errors[0] == "reason 0"
