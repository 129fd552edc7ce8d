"""Events: as a stream of what happens, or as pages of what has happened."""

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response, StreamingResponse

from tagalong.journal import Workspace
from tagalong.journal.listing import KINDS, ListedEvent
from tagalong.server.api.calls import Call, json_answer, page_limit
from tagalong.server.api.operations import Operation, W
from tagalong.server.api.schemas import Choice, ListOf, Record, Whole, nullable
from tagalong.server.problems import Problem

__all__ = ["OPERATIONS"]

SECONDS_BETWEEN_SIGNS_OF_LIFE = 15.0
EVENTS_AT_ONCE = 200
STREAM = "text/event-stream"

EVENT = Record("Event", {"seq": Whole(1), "kind": Choice(KINDS)}, is_open=True)
EVENTS = Record(
    "Events",
    {"events": ListOf(EVENT), "next": nullable(Whole(), "a number or null")},
    is_open=True,
)


async def get_events(call: Call) -> Response:
    """Return events: as a stream, or as a page if JSON is asked for."""
    after = call.query.get("after")
    if (last := call.request.headers.get("last-event-id")) is not None:
        if not (last.isascii() and last.isdigit() and len(last) < 19):
            raise Problem(
                422,
                "not-valid",
                f"the header Last-Event-ID must be the number of an event, got {last[:40]!r}",
                place="Last-Event-ID",
            )
        after = int(last)
    kinds = (call.query["type"],) if "type" in call.query else None
    accepted = call.request.headers.get("accept", STREAM)
    if "application/json" in accepted and STREAM not in accepted:
        return await _page(call, after or 0, kinds)
    async with call.workspace() as workspace:  # NotFoundError if there is none
        if after is None:  # who asks for one kind, such as "filed", wants to know what there was
            after = await call.run(_tip, workspace) if kinds is None else 0
    return StreamingResponse(_stream(call, after, kinds), media_type=STREAM)


def _tip(workspace: Workspace) -> int:
    """Return the number of the last event, which is read from the journal."""
    return workspace.tip


async def _page(call: Call, after: int, kinds: tuple[str, ...] | None) -> Response:
    limit = page_limit(call)
    found = await _read(call, after, limit, kinds)
    last = found[-1].event.seq if len(found) == limit else None
    return json_answer({"events": [each.to_json() for each in found], "next": last})


async def _read(
    call: Call, after: int, limit: int, kinds: tuple[str, ...] | None
) -> list[ListedEvent]:
    async with call.workspace() as workspace:
        return await call.run(workspace.listed_events, after, limit, kinds)


async def _stream(call: Call, after: int, kinds: tuple[str, ...] | None) -> AsyncIterator[bytes]:
    """Send events as they come. The number of an event is its id, so that a client can go on."""
    service, name = call.service, call.names["name"]
    watcher, stop = service.workspaces.news(name).watch()
    try:
        yield b"retry: 1000\n\n"
        while not (watcher.is_closed or service.is_closing):
            while found := await _read(call, after, EVENTS_AT_ONCE, kinds):
                after = found[-1].event.seq
                yield b"".join(map(_event, found))
            for kind, values in watcher.messages():
                yield _message(kind, values)
            if not await watcher.wait(SECONDS_BETWEEN_SIGNS_OF_LIFE):
                yield b": still here\n\n"
    finally:
        stop()


def _event(listed: ListedEvent) -> bytes:
    return b"id: %d\n" % listed.event.seq + _message(listed.event.kind, listed.to_json())


def _message(kind: str, values: dict[str, Any]) -> bytes:
    # One line: JSON escapes line ends in texts.
    data = json.dumps(values, ensure_ascii=True, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


OPERATIONS = (
    Operation(
        "getEvents",
        "GET",
        f"{W}/events",
        "Stream events as they happen, or list them if the client accepts only JSON.",
        get_events,
        query={
            "after": Whole(
                meaning="the event before the first one (default: 0, or now for a stream of all)"
            ),
            "type": Choice(KINDS, "only events of this kind"),
            "limit": Whole(1, 10_000, "number of events in a page (default: 100)"),
        },
        answers={200: (EVENTS, STREAM)},
        is_change=False,
        is_long=True,
    ),
)
