"""Jobs on one core and on several: the limit on cores, the comparison of results, the table."""

import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import streams, threads

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system cannot limit threads to cores"
)


def test_a_job_and_its_threads_are_limited_to_cores():
    before = os.sched_getaffinity(0)
    found = []
    with threads.limited_to_cores(1):
        thread = threading.Thread(target=lambda: found.append(len(os.sched_getaffinity(0))))
        thread.start()
        thread.join()
    assert found == [1]
    assert os.sched_getaffinity(0) == before


def test_the_limit_ends_when_a_job_fails():
    before = os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="broken"), threads.limited_to_cores(1):
        raise ValueError("broken")
    assert os.sched_getaffinity(0) == before


def test_different_results_are_reported():
    rows, same = threads.measure("job", lambda cores: bytes([cores]), [1, 2], repeat=2)
    assert not same
    assert [row[-1] for row in rows] == ["DIFFERENT", "DIFFERENT"]
    rows, same = threads.measure("job", lambda cores: b"same", [1, 2], repeat=2)
    assert same
    assert [row[:2] for row in rows] == [["job", "1"], ["job", "2"]]
    assert rows[0][4:] == ["1.0 (1.0 to 1.0)", "100%", "same"]


def test_a_matrix_scored_on_one_core_and_on_two():
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(sp.random(200, 40, density=0.2, random_state=1, dtype=np.float32))
    Y = sp.csr_matrix((rng.random((200, 6)) < 0.3).astype(np.int8))
    stream = streams.Stream("synthetic", X, Y, list("abcdef"))
    jobs = [*threads.prediction_jobs(stream, 200), *threads.m3l_jobs(stream, 200)]
    assert len(jobs) == 6
    for name, job in jobs:
        _, same = threads.measure(name, job, [1, 2], repeat=1)
        assert same, name
