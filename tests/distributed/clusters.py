"""Clusters of worker processes on loopback, and the loss of their workers."""

import os
import random
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.services.waiting import wait_until


@contextmanager
def worker_processes(count: int = 2) -> Iterator[Any]:
    """A client of a cluster whose worker processes have guards, which replace a killed one."""
    import distributed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        )
    with cluster, distributed.Client(cluster) as client:
        client.amm.stop()  # every two seconds it drops copies that no task waits for
        yield client


def known_workers(client: Any) -> Any:
    """The addresses of the workers that the scheduler knows."""
    return client.scheduler_info(n_workers=-1)["workers"].keys()


def running_guards(client: Any) -> list[Any]:
    """The guards of workers that run, and that the scheduler knows.

    A guard gives up a worker that dies before it has told that it runs.
    """
    from distributed.core import Status

    known = known_workers(client)
    return [
        guard
        for guard in client.cluster.workers.values()
        if guard.process is not None
        and guard.process.status == Status.running
        and guard.worker_address in known
    ]


def kill_worker(client: Any, count: int = 2, choice: random.Random | None = None) -> None:
    """Kill one of the running workers; return when the scheduler has noticed.

    Parameters
    ----------
    client : Client
        A client of `worker_processes`.
    count : int
        How many workers must run before one of them is killed.
    choice : Random, optional
        Chooses the worker; by default it is the first one.
    """
    wait_until(lambda: len(running_guards(client)) == count)
    guards = sorted(running_guards(client), key=lambda guard: guard.pid)
    victim = guards[0] if choice is None else choice.choice(guards)
    address, pid = victim.worker_address, victim.pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: address not in known_workers(client))
