"""Fixtures: a fake server, a clock that only sleeping moves, and a client of both."""

from collections.abc import Iterator

import pytest

from tagalong.client import Client, Timing
from tests.client.fake_server import TOKEN, FakeServer, running


class FakeClock:
    """Time passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def timing(self) -> Timing:
        return Timing(clock=lambda: self.now, sleep=self.sleep, jitter=lambda: 1.0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with running() as server:
        yield server


@pytest.fixture
def client(server: FakeServer, clock: FakeClock) -> Iterator[Client]:
    with Client(server.url, TOKEN, timing=clock.timing) as client:
        yield client
