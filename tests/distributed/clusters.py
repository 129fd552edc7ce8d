"""Clusters of worker processes on loopback, and the loss of their workers."""

import os
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.services.waiting import wait_until
from tests.timeouts import TIMEOUT


@contextmanager
def worker_processes(count: int = 2) -> Iterator[Any]:
    """A client of a cluster of worker processes that live as long as it."""
    import distributed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        )
    with cluster, distributed.Client(cluster) as client:
        client.amm.stop()  # every two seconds it drops copies that no task waits for
        yield client


class MortalWorkers:
    """A cluster whose worker processes a test may kill.

    They have no guards (nannies), which give up a worker that dies at a bad moment: the cluster
    itself starts another one.

    Parameters
    ----------
    client : Client
        A client of a scheduler without workers.
    """

    def __init__(self, client: Any):
        self.client = client
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0

    def start(self) -> None:
        """Start a worker; it is known to the scheduler after a while."""
        self._started += 1
        name = f"worker{self._started}"
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self._address()]
        flags = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--name", name]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        null = subprocess.DEVNULL
        self._processes[name] = subprocess.Popen(
            [*command, *flags], stdout=null, stderr=null, env=environment
        )

    def kill(self, choice: random.Random | None = None) -> None:
        """Kill a worker that runs, and start another one; return when the scheduler has noticed.

        Parameters
        ----------
        choice : Random, optional
            Chooses the worker; by default it is the oldest one.
        """
        self.wait()
        names = sorted(self._processes)
        self._kill(names[0] if choice is None else choice.choice(names))
        self.start()

    def kill_all(self) -> None:
        """Kill all workers; return when the scheduler has noticed."""
        self.wait()
        for name in list(self._processes):
            self._kill(name)

    def wait(self) -> None:
        """Wait until the scheduler knows all workers; replace those that did not reach it."""

        def all_are_known() -> bool:
            for name, process in list(self._processes.items()):
                if process.poll() is not None:
                    del self._processes[name]
                    self.start()
            return self._processes.keys() <= self._known()

        wait_until(all_are_known)

    def close(self) -> None:
        """Kill all workers."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait(TIMEOUT)

    def _kill(self, name: str) -> None:
        process = self._processes.pop(name)
        process.kill()
        process.wait(TIMEOUT)
        wait_until(lambda: name not in self._known())

    def _known(self) -> set[str]:
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {worker["name"] for worker in workers.values()}

    def _address(self) -> str:
        return str(self.client.cluster.scheduler_address)


@contextmanager
def mortal_workers(count: int = 2) -> Iterator[MortalWorkers]:
    """A cluster of worker processes that may be killed."""
    with worker_processes(0) as client:
        workers = MortalWorkers(client)
        try:
            for _ in range(count):
                workers.start()
            workers.wait()
            yield workers
        finally:
            workers.close()
