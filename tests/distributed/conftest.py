"""Workers of every kind, each started once for all tests."""

import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from tagalong.distributed.workers import workers_of


@pytest.fixture(scope="session")
def dask_client():
    """A client of two worker processes on loopback."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
        )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="session")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="session")
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["threads", "processes", "dask_client"])
def client(request):
    """A client of each kind that the distributed functions accept."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def workers(client):
    return workers_of(client)
