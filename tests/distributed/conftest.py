"""Workers of every kind, each started once for all tests."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from tagalong.distributed.workers import workers_of
from tests.distributed.clusters import mortal_workers, worker_processes


@pytest.fixture(scope="session")
def dask_client():
    """A client of two worker processes on loopback, none of which a test may kill."""
    pytest.importorskip("distributed")
    with worker_processes() as client:
        yield client


@pytest.fixture
def mortal():
    """A cluster of two worker processes of this test alone, which may be killed."""
    pytest.importorskip("distributed")
    with mortal_workers() as workers:
        yield workers


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
