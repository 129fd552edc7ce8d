"""The processes that do the work: a Dask cluster, or an executor of the standard library."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tagalong.distributed.dask_workers import DaskWorkers
from tagalong.distributed.executor_workers import (
    ExecutorWorkers,
    local_workers,
    workers_of_executor,
)
from tagalong.distributed.interface import ATTEMPTS, ClusterLost, WorkerLost, Workers

__all__ = [
    "ClusterLost",
    "DaskWorkers",
    "ExecutorWorkers",
    "Outcome",
    "WorkerLost",
    "Workers",
    "local_workers",
    "run_tasks",
    "workers_of",
]

TASKS_PER_WORKER = 4  # submitted ahead, so that no worker waits for the next task


def workers_of(client: Any) -> Workers:
    """Return the workers of a Dask client or of an executor.

    Raises
    ------
    TypeError
        It is neither.
    WorkerError
        The scheduler or a worker of the cluster lacks this version of Tagalong.
    ClusterLost
        The scheduler does not answer.
    """
    if isinstance(client, Workers):
        return client
    if isinstance(client, Executor):
        return workers_of_executor(client)
    if hasattr(client, "scatter") and hasattr(client, "scheduler_info"):
        return DaskWorkers(client)
    raise TypeError(
        "client must be a dask.distributed.Client or a concurrent.futures.Executor, "
        f"got {type(client).__name__}"
    )


@dataclass(frozen=True)
class Outcome:
    """The result of one task.

    Attributes
    ----------
    task
        The task, as it was given.
    result
        What the function returned.
    repeated : int
        How often it was given to another worker because its own was lost.
    """

    task: Any
    result: Any
    repeated: int


def run_tasks(
    workers: Workers, function: Callable[..., Any], tasks: Iterable[Any], *common: Any
) -> Generator[Outcome, None, None]:
    """Call ``function(task, *common)`` for every task; yield outcomes in the order they come in.

    A task whose worker was lost is submitted again. A few tasks are submitted ahead, so there may
    be any number. If the caller stops, or a task fails, tasks that have not begun are given up.

    Raises
    ------
    WorkerLost
        A task lost its worker too often. It is probably the cause.
    ClusterLost
        No worker can go on.
    """
    waiting: dict[Any, tuple[Any, int]] = {}
    remaining = iter(tasks)

    def submit(task: Any, repeated: int) -> None:
        waiting[workers.submit(function, task, *common)] = (task, repeated)

    try:
        while True:
            most = TASKS_PER_WORKER * max(1, workers.count)  # asks the scheduler of a cluster
            for task in islice(remaining, max(0, most - len(waiting))):
                submit(task, 0)
            if not waiting:
                return
            for handle in workers.wait_for_any(waiting.keys()):
                task, repeated = waiting.pop(handle)
                try:
                    result = workers.result(handle)
                except WorkerLost as error:
                    if repeated + 1 >= ATTEMPTS:
                        raise WorkerLost(f"given up after {ATTEMPTS} attempts: {error}") from error
                    submit(task, repeated + 1)
                else:
                    yield Outcome(task, result, repeated + workers.repeated(handle))
    finally:
        workers.cancel(waiting)
