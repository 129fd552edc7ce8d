import os
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tagalong import _native as core
from tagalong.distributed import dask_workers, environments
from tagalong.distributed.connection import ClusterError, opened_workers
from tagalong.distributed.environments import Place, WorkerError, check_versions, check_width
from tagalong.distributed.workers import (
    ClusterLost,
    DaskWorkers,
    WorkerLost,
    local_workers,
    run_tasks,
    workers_of,
)
from tests.distributed.worker_functions import (
    add,
    double,
    kill_always,
    kill_once,
    process_and_identity,
    refuse,
    wait_for_file,
)
from tests.services.waiting import wait_until
from tests.timeouts import TIMEOUT


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


class Run:
    """A run of tasks in a thread; they wait until `go` is called."""

    def __init__(self, workers, folder, tasks=6):
        self.outcomes, self.error = [], None
        self._folder, self._tasks = folder, tasks
        self._thread = Thread(target=self._run, args=(workers,), daemon=True)
        self._thread.start()

    def _run(self, workers):
        try:
            folder = str(self._folder)
            self.outcomes += run_tasks(workers, wait_for_file, range(self._tasks), folder)
        except Exception as error:
            self.error = error

    def begun(self):
        return len(list(self._folder.glob("task *")))

    def go(self):
        Path(self._folder, "go").touch()

    def end(self):
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()
        return sorted((one.task, one.result) for one in self.outcomes)


def test_tasks_of_killed_dask_workers_are_repeated_and_counted(mortal, tmp_path):
    run = Run(workers_of(mortal.client), tmp_path)
    wait_until(lambda: run.begun() == 2)
    mortal.kill()
    run.go()
    assert run.end() == [(n, 2 * n) for n in range(6)]
    assert 1 <= sum(one.repeated for one in run.outcomes) < 6


def test_a_cluster_that_has_lost_all_workers_says_so_and_goes_on(mortal, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_workers, "SECONDS_BETWEEN_LOOKS", 0.2)
    said: list[str] = []
    run = Run(DaskWorkers(mortal.client, said.append), tmp_path)
    wait_until(lambda: run.begun() == 2)
    mortal.kill_all()
    wait_until(lambda: said)
    assert "has no workers, waiting for one: dask worker tcp://127.0.0.1" in said[0]
    run.go()
    mortal.start()
    assert run.end() == [(n, 2 * n) for n in range(6)]
    assert len(said) == 1


def test_a_scheduler_that_ends_during_the_work_is_named(mortal, tmp_path):
    run = Run(workers_of(mortal.client), tmp_path)
    wait_until(lambda: run.begun() == 2)
    mortal.client.cluster.close()
    run.end()
    assert isinstance(run.error, ClusterLost)
    assert str(run.error).startswith("the connection to the scheduler tcp://127.0.0.1")


def test_a_killed_process_of_a_callers_executor(tmp_path):
    with ProcessPoolExecutor(1, get_context("spawn")) as client:
        message = "a process of the ProcessPoolExecutor ended .*: make a new one and call again"
        with pytest.raises(ClusterLost, match=message):
            list(run_tasks(workers_of(client), kill_once, range(3), str(tmp_path)))


class Remote(Executor):
    """An executor of a kind that is not known, whose processes may be on other machines."""

    def __init__(self, own):
        self._own = own

    def submit(self, work, /, *args, **options):
        return self._own.submit(work, *args, **options)


def test_values_for_other_executors_are_no_files(processes, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    workers = workers_of(Remote(processes))
    value = workers.send(20)
    assert not list(tmp_path.rglob("*.pickle"))
    assert workers.result(workers.submit(add, value, 1)) == 21


def test_the_executor_of_a_dask_client_is_refused(dask_client):
    with pytest.raises(TypeError, match=r"the dask\.distributed\.Client itself, not its executor"):
        workers_of(dask_client.get_executor())


def test_another_version_on_the_cluster_is_refused(dask_client, monkeypatch):
    monkeypatch.setattr(environments, "__version__", "0.0.1")
    message = r"the scheduler tcp://.* on .* has Tagalong .*, and this is Tagalong 0\.0\.1: install"
    with pytest.raises(WorkerError, match=message):
        workers_of(dask_client)


def test_a_worker_of_another_version_that_joins_later_is_refused(dask_client, monkeypatch):
    workers = workers_of(dask_client)
    monkeypatch.setattr(dask_workers, "installed_version", lambda: "0.0.1")
    with pytest.raises(WorkerError, match=r"the worker on .* has Tagalong .*this is Tagalong 0\.0"):
        list(run_tasks(workers, double, [1]))


def test_machines_without_tagalong_are_refused():
    here: Any = {"host": "a", "version": environments.installed_version()}
    missing = ModuleNotFoundError("No module named 'tagalong'")
    for what in ("the scheduler", "the worker"):
        found = {Place("the worker", "tcp://a:1"): here, Place(what, "tcp://b:2"): missing}
        with pytest.raises(WorkerError, match=rf"{what} tcp://b:2 cannot load Tagalong \(No mod"):
            check_versions(found)
    check_versions({Place("the worker", "tcp://a:1"): OSError("it has just been lost")})


def test_another_vector_width_is_refused():
    check_width(core.vector_width())
    with pytest.raises(WorkerError, match=r"computes with .*, and this machine with 3 bits"):
        check_width("3 bits")


def test_a_scheduler_without_certificates_is_named():
    pytest.importorskip("distributed")
    with (
        pytest.raises(ClusterError, match=r"^tls://127\.0\.0\.1:1: there are no certificates"),
        opened_workers(None, "tls://127.0.0.1:1", print),
    ):
        pass


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
