"""A program with a small server, for tests of signals: python stoppable_program.py MODE.

It prints its URL, and a line for each thing that happens.
"""

import asyncio
import os
import sys

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tagalong.server.http.access_log import AccessLog
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.http.running import HttpServer, Running


def say(line: str) -> None:
    """Write a line in one piece: two threads may write at the same moment."""
    os.write(1, f"{line}\n".encode())


class Service:
    def __init__(self, mode: str):
        self.mode = mode
        self.stopping = asyncio.Event()

    async def start(self) -> None:
        if self.mode == "slow-start":
            say("starting")
            await asyncio.Event().wait()

    def end_streams(self) -> None:
        self.stopping.set()

    async def close(self) -> None:
        say("closing")
        if self.mode == "slow-close":
            await asyncio.Event().wait()
        say("closed")

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Work on a request until the server stops, or for a moment."""
        path = scope["path"]
        if path == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            message = {"type": "http.response.body", "body": b"event\n", "more_body": True}
            await send(message)
            await self.stopping.wait()
            await send({"type": "http.response.body", "body": b"end\n"})
        elif path == "/last":
            say("at work")
            await self.stopping.wait()
            await asyncio.sleep(0.05)
            await PlainTextResponse("done")(scope, receive, send)
        elif path == "/never":
            say("at work")
            await asyncio.Event().wait()
        else:
            try:
                body = await Request(scope, receive).body()
            except ClientDisconnect:
                return
            await asyncio.sleep(0.002)
            say(f"stored {body.decode()}")
            await PlainTextResponse(body)(scope, receive, send)


def main() -> None:
    mode = sys.argv[1]
    service = Service(mode)
    metrics = RequestMetrics(Metrics())
    seconds = 0.2 if mode == "slow-close" else 60.0
    HttpServer(
        service,
        lambda: AccessLog(service.app, lambda line: None, metrics),
        metrics,
        host="127.0.0.1",
        port=0,
        running=Running(
            request_seconds=0.2 if mode == "never" else 60.0,
            stop_seconds=60.0 if "patient" in sys.argv else seconds,
        ),
        on_ready=say,
        on_late=lambda: say("late"),
    ).run()
    say("ended")


if __name__ == "__main__":
    main()
