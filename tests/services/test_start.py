"""A server with the model of the Debian tags starts soon, and answers at once."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tagalong.client import Client
from tagalong.journal import Workspace
from tagalong.readers.stream import read
from tests.cpu_time import FIXED_WORK, fixed_work, processor_seconds
from tests.services.processor_time import cpu_seconds
from tests.services.server_process import ServerProcess
from tests.timeouts import TIMEOUT

MOST_CPU_SECONDS = 4.0
"""A start shall take less than 2 seconds of anybody's time; the bound is generous."""
ATTEMPTS = 3


@pytest.fixture(scope="session")
def debtags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that has learnt the tags of all Debian packages."""
    data = os.environ.get("TAGALONG_DATA")
    if data is None:
        pytest.skip("TAGALONG_DATA names no folder with debtags-texts.jsonl.xz")
    path = Path(data, "debtags-texts.jsonl.xz")
    if not path.exists():
        pytest.skip(f"{path} is missing")
    folder: Path = tmp_path_factory.mktemp("debtags") / "w"
    with Workspace(folder) as workspace:
        items = list(read(path))
        for start in range(0, len(items), 1000):
            added = workspace.add_many(items[start : start + 1000])
            assert {each.outcome for each in added} == {"new"}  # type: ignore[union-attr]
        workspace.settle(TIMEOUT)
    return folder


def measured_start(server: ServerProcess) -> float:
    begin = time.monotonic()
    server.start()
    taken, cpu = time.monotonic() - begin, cpu_seconds(server.pid)
    print(f"{taken:.2f} s from the start to the first line, {cpu:.2f} s of processor time")
    return cpu


def assert_cpu_seconds(start: Callable[[], float], stop: Callable[[], object]) -> None:
    taken = []
    for _ in range(ATTEMPTS):
        taken.append(start())
        slowness = max(1.0, processor_seconds(fixed_work) / FIXED_WORK)
        if taken[-1] < MOST_CPU_SECONDS * slowness:
            return
        stop()
    raise AssertionError(f"starting took {taken} seconds of processor time")


def test_a_server_starts_with_the_debian_tags(debtags: Path) -> None:
    server = ServerProcess(debtags)
    try:
        assert_cpu_seconds(lambda: measured_start(server), server.stop)
        with Client(server.url, server.token) as client:
            model = client.model()
            assert model["labels"] > 300
            found = client.suggest("python3-foo: a library for Python 3 to parse XML files")
            assert len(found) == 5
            hash = model["hash"]
        assert server.stop() == 0
        measured_start(server)
        with Client(server.url, server.token) as client:
            assert client.model()["hash"] == hash
        server.kill()  # as after a crash: it starts as soon as after a stop
        measured_start(server)
        with Client(server.url, server.token) as client:
            assert client.model()["hash"] == hash
        assert server.messages == ""
    finally:
        server.close()
