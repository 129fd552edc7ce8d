"""Jobs: their states, their order, and how many are remembered."""

import threading

import pytest

from tagalong.server.jobs import MAX_ERRORS, MAX_KEPT, Jobs
from tests.timeouts import TIMEOUT


def test_a_job_goes_from_waiting_to_done():
    jobs = Jobs()
    job = jobs.add("w")
    assert job.to_json()["state"] == "waiting"
    seen = []
    jobs.run(job, lambda: seen.append(job.state))
    assert (seen, job.state) == (["running"], "done")
    assert jobs.find("w", job.id) is job
    assert jobs.find("other", job.id) is None
    assert jobs.find("w", "none") is None
    assert "error" not in job.to_json()


@pytest.mark.parametrize(
    ("error", "message"), [(ValueError("why"), "why"), (KeyError(), "KeyError")]
)
def test_a_job_that_fails_names_the_reason(error: Exception, message: str):
    jobs = Jobs()
    job = jobs.add("w")

    def work() -> None:
        raise error

    jobs.run(job, work)
    assert (job.state, job.to_json()["error"]) == ("failed", message)


def test_jobs_of_a_workspace_take_turns():
    jobs = Jobs()
    first, second = jobs.add("w"), jobs.add("w")
    begun, go_on = threading.Event(), threading.Event()
    order = []

    def slow() -> None:
        begun.set()
        assert go_on.wait(TIMEOUT)
        order.append("first")

    threads = [threading.Thread(target=jobs.run, args=(first, slow))]
    threads[0].start()
    assert begun.wait(TIMEOUT)
    threads.append(threading.Thread(target=jobs.run, args=(second, lambda: order.append("second"))))
    threads[1].start()
    other = jobs.add("another workspace")
    jobs.run(other, lambda: order.append("other"))  # does not wait
    assert (first.state, second.state, other.state) == ("running", "waiting", "done")
    go_on.set()
    for thread in threads:
        thread.join(TIMEOUT)
    assert order == ["other", "first", "second"]


def test_jobs_are_interrupted_when_the_server_stops():
    jobs = Jobs()
    running, waiting = jobs.add("w"), jobs.add("w")

    def work() -> None:
        jobs.close()
        assert jobs.is_closing
        raise InterruptedError

    jobs.run(running, work)
    jobs.run(waiting, lambda: pytest.fail("must not begin"))
    assert (running.state, waiting.state) == ("interrupted", "interrupted")
    assert "send it again" in running.error


def test_the_last_hundred_jobs_are_remembered():
    jobs = Jobs()
    waiting = jobs.add("w")
    ended = []
    for _ in range(MAX_KEPT + 10):
        job = jobs.add("w")
        jobs.run(job, lambda: None)
        ended.append(job)
    assert jobs.find("w", waiting.id) is waiting  # it has not ended
    kept = [job for job in ended if jobs.find("w", job.id)]
    assert kept == ended[-len(kept) :]
    assert len(kept) == MAX_KEPT - 1


def test_only_the_first_reasons_are_kept():
    job = Jobs().add("w")
    for number in range(MAX_ERRORS + 5):
        job.skip(f"reason {number}", 2)
    assert (job.skipped, len(job.errors)) == (2 * (MAX_ERRORS + 5), MAX_ERRORS)
    assert job.errors[0] == "reason 0"
