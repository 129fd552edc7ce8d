"""Connections to the scheduler of a Dask cluster."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from tagalong.distributed.dask_workers import DaskWorkers
from tagalong.distributed.environments import WorkerError
from tagalong.distributed.workers import ClusterLost, Workers, local_workers

__all__ = ["ClusterError", "opened_workers"]

_ADDRESS = re.compile(r"(\w+://)?[^/\s]+:\d+/?")
SECONDS = 10.0
"""How long to wait for an answer of a scheduler."""


class ClusterError(ValueError):
    """A cluster that cannot be used; the message says what to do."""


@contextmanager
def opened_workers(
    count: int | None, address: str | None, on_wait: Callable[[str], None]
) -> Iterator[Workers]:
    """Return processes on this machine, or the workers of a cluster, as a context.

    Parameters
    ----------
    count : int or None
        Number of processes on this machine.
    address : str or None
        Address of the scheduler of a Dask cluster, if there is no number of processes.
    on_wait : callable
        Called with a sentence when the cluster has no workers: the work waits until one joins.

    Raises
    ------
    ClusterError
        Dask is not installed, no scheduler answers, the scheduler or a worker has not this version
        of Tagalong, or the scheduler is lost during the work.
    """
    if address is None:
        with local_workers(count or 1) as processes:
            yield processes
        return
    if find_spec("distributed") is None:
        raise ClusterError(
            f"{address}: clusters need the package dask: pip install 'tagalong[dask]'"
        )
    if not _ADDRESS.fullmatch(address):
        raise ClusterError(
            f"{address}: not the address of a scheduler, such as tcp://192.0.2.7:8786"
        )
    from distributed import Client

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised
    try:
        client: Any = Client(address, timeout=SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except TypeError as error:
        if not address.startswith("tls:"):
            raise
        raise ClusterError(
            f"{address}: there are no certificates for TLS ({_first_line(error)}); name them in "
            "Dask's configuration distributed.comm.tls, or in the variables "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY"
        ) from error
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"{address}: no Dask scheduler answers there ({_first_line(error)}); start one with "
            "'dask scheduler', and workers with 'dask worker ADDRESS --nthreads 1'"
        ) from error
    with client:
        try:
            workers = DaskWorkers(client, on_wait)
        except WorkerError as error:
            raise ClusterError(f"{address}: {error}") from error
        try:
            yield workers
        except ClusterLost as error:
            raise ClusterError(f"{address}: {error}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
