"""Requests beyond the limit are turned away before they are begun."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tagalong.server.http.metrics import Metrics
from tagalong.server.http.overload import Overload, RequestLimits
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.problems import Problem
from tests.server.asgi_calls import Exchange, make_scope
from tests.timeouts import TIMEOUT

EVENTS = "/api/v1/workspaces/default/events"


class Desk:
    """An application whose requests wait until they are released, in the order of their begin."""

    def __init__(self, **limits: float):
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.metrics = Metrics()
        self.gates: dict[str, asyncio.Event] = {}
        self.layer = Overload(
            self.work,
            RequestLimits(**{"waiting_seconds": TIMEOUT, **limits}),  # type: ignore[arg-type]
            RequestMetrics(self.metrics),
        )
        self.tasks: dict[str, asyncio.Task[Exchange]] = {}

    async def work(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["name"]
        self.begun.append(name)
        await self.gates.setdefault(name, asyncio.Event()).wait()
        self.ended.append(name)
        await PlainTextResponse(name)(scope, receive, send)

    async def send(self, name: str, path: str = "/", method: str = "GET") -> None:
        exchange = Exchange({**make_scope(method, path), "name": name})
        self.tasks[name] = asyncio.ensure_future(exchange.run(self.layer))
        await settle()

    async def release(self, name: str) -> None:
        self.gates[name].set()
        assert (await self.tasks[name]).status == 200
        await settle()

    async def refusal(self, name: str) -> Problem:
        with pytest.raises(Problem) as caught:
            await self.tasks[name]
        assert name not in self.begun
        return caught.value


async def settle() -> None:
    """Let all tasks go on until they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_requests_wait_and_come_in_order():
    async def run() -> None:
        desk = Desk(at_work=2, waiting=2)
        for name in "abcd":
            await desk.send(name)
        assert desk.begun == ["a", "b"]
        await desk.release("b")
        assert desk.begun == ["a", "b", "c"]
        await desk.release("a")
        await desk.release("c")
        await desk.release("d")
        assert desk.ended == ["b", "a", "c", "d"]
        await desk.send("e")
        assert desk.begun[-1] == "e"
        await desk.release("e")

    asyncio.run(run())


def test_beyond_the_waiting_ones_requests_are_turned_away_at_once():
    async def run() -> None:
        desk = Desk(at_work=1, waiting=1)
        for name in "abc":
            await desk.send(name)
        problem = await desk.refusal("c")
        assert (problem.status, problem.kind) == (503, "overloaded")
        assert int(problem.headers["Retry-After"]) > 0
        assert "nothing was done" in problem.detail
        assert 'tagalong_rejected_total{reason="overload"} 1\n' in desk.metrics.render()
        await desk.release("a")
        await desk.release("b")

    asyncio.run(run())


def test_a_request_waits_for_a_limited_time_and_leaves_its_place():
    async def run() -> None:
        desk = Desk(at_work=1, waiting=1, waiting_seconds=0.01)
        await desk.send("a")
        await desk.send("b")
        assert (await desk.refusal("b")).status == 503
        await desk.release("a")
        await desk.send("c")
        assert desk.begun == ["a", "c"]
        await desk.release("c")

    asyncio.run(run())


def test_a_cancelled_request_takes_no_place_with_it():
    async def run() -> None:
        desk = Desk(at_work=1, waiting=3)
        for name in "abcd":
            await desk.send(name)
        desk.tasks["b"].cancel()  # while it waits
        await settle()
        desk.gates["a"].set()
        await desk.tasks["a"]
        desk.tasks["c"].cancel()  # at the moment when its turn comes
        await settle()
        assert desk.begun == ["a", "d"]
        await desk.release("d")
        await desk.send("e")
        assert desk.begun[-1] == "e"
        desk.tasks["e"].cancel()  # while it works
        await settle()
        await desk.send("f")
        await desk.release("f")

    asyncio.run(run())


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_health_and_metrics_always_get_through(path):
    async def run() -> None:
        desk = Desk(at_work=1, waiting=0)
        await desk.send("a")
        await desk.send("h", path)
        assert desk.begun == ["a", "h"]
        await desk.release("h")
        await desk.send("b")
        await desk.refusal("b")
        await desk.release("a")

    asyncio.run(run())


def test_event_streams_have_a_limit_of_their_own():
    async def run() -> None:
        desk = Desk(at_work=1, waiting=0, streams=2)
        await desk.send("s", EVENTS)
        await desk.send("t", EVENTS)
        await desk.send("a")
        await desk.send("u", EVENTS)
        assert desk.begun == ["s", "t", "a"]
        problem = await desk.refusal("u")
        assert (problem.status, problem.kind) == (503, "too-many-streams")
        assert int(problem.headers["Retry-After"]) > 0
        assert 'reason="streams"' in desk.metrics.render()
        await desk.release("s")
        await desk.send("v", EVENTS)
        assert desk.begun[-1] == "v"
        for name in "tva":
            await desk.release(name)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", EVENTS), ("GET", f"{EVENTS}/more"), ("GET", "/healthz/more"), ("GET", "/x/metrics")],
)
def test_other_requests_are_work(method, path):
    async def run() -> None:
        desk = Desk(at_work=1, waiting=0)
        await desk.send("a")
        await desk.send("b", path, method)
        assert (await desk.refusal("b")).kind == "overloaded"
        await desk.release("a")

    asyncio.run(run())


def test_other_scopes_pass():
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    layer = Overload(app, RequestLimits(at_work=0, waiting=0), RequestMetrics(Metrics()))
    asyncio.run(Exchange({"type": "lifespan"}).run(layer))
    assert seen == ["lifespan"]
