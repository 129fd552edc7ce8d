import os
import subprocess
import sys

import pytest

from tagalong.distributed.workers import WorkerLost, local_workers, run_tasks, workers_of
from tests.distributed.worker_functions import (
    add,
    double,
    kill_always,
    kill_once,
    process_and_identity,
    refuse,
)


def test_a_result_is_the_argument_of_the_next_call(workers):
    three = workers.submit(add, 1, 2)
    assert workers.result(workers.submit(add, three, workers.submit(double, three))) == 9


def test_every_task_has_one_outcome(workers):
    outcomes = list(run_tasks(workers, double, range(50)))
    assert sorted((one.task, one.result) for one in outcomes) == [(n, 2 * n) for n in range(50)]


def test_no_tasks_have_no_outcome(workers):
    assert list(run_tasks(workers, double, [])) == []


def test_a_value_reaches_each_worker_once(workers):
    big = workers.send(list(range(10_000)))
    seen = {one.result for one in run_tasks(workers, process_and_identity, range(20), big)}
    processes = {process for process, _ in seen}
    assert len(seen) == len(processes)  # one object in each process


def test_errors_of_a_function_arrive_as_they_are(workers):
    with pytest.raises(ValueError, match="no 7 here"):
        list(run_tasks(workers, refuse, [7]))
    assert workers.result(workers.submit(double, 4)) == 8


def test_the_caller_may_stop_early(workers):
    outcomes = run_tasks(workers, double, iter(range(10**9)))
    assert next(outcomes).repeated == 0
    outcomes.close()
    assert workers.result(workers.submit(double, 4)) == 8


def test_tasks_of_killed_processes_are_repeated(tmp_path):
    with local_workers(2) as workers:
        outcomes = list(run_tasks(workers, kill_once, range(6), str(tmp_path)))
    assert sorted((one.task, one.result) for one in outcomes) == [(n, 2 * n) for n in range(6)]
    assert sum(one.repeated for one in outcomes) >= 6


def test_tasks_of_killed_dask_workers_are_repeated(dask_client, tmp_path):
    workers = workers_of(dask_client)
    outcomes = list(run_tasks(workers, kill_once, range(6), workers.send(str(tmp_path))))
    assert sorted((one.task, one.result) for one in outcomes) == [(n, 2 * n) for n in range(6)]
    assert len(list(tmp_path.iterdir())) == 6


def test_a_task_that_always_kills_its_worker_ends():
    with local_workers(1) as workers, pytest.raises(WorkerLost, match="after 20 attempts"):
        list(run_tasks(workers, kill_always, [1]))


def test_what_is_no_client_is_refused():
    with pytest.raises(TypeError, match=r"dask\.distributed\.Client or a .*Executor, got str"):
        workers_of("tcp://127.0.0.1:8786")


def test_processes_need_no_dask():
    """Dask is an extra: work on one machine does without."""
    code = (
        "import sys; sys.modules['distributed'] = sys.modules['dask'] = None\n"
        "from tagalong.distributed.workers import local_workers, run_tasks\n"
        "from tests.distributed.worker_functions import double\n"
        "if __name__ == '__main__':\n"
        "    with local_workers(1) as workers:\n"
        "        print([one.result for one in run_tasks(workers, double, [1, 2])])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd()
    )
    assert ran.stdout == "[2, 4]\n"


def test_what_was_sent_is_deleted_with_the_workers(processes, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    workers = workers_of(processes)
    workers.send([1, 2, 3])
    assert len(list(tmp_path.rglob("*.pickle"))) == 1
    del workers
    assert not list(tmp_path.iterdir())
