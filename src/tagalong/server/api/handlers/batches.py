"""Many items in one request: a line of JSON per item, and a line per item as the answer."""

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator
from typing import IO, Any

from starlette.responses import Response, StreamingResponse

from tagalong.journal import JournalError, StorageError, Workspace
from tagalong.journal.contents import Content, content_of
from tagalong.server.api.calls import Call
from tagalong.server.api.handlers.items import ITEM
from tagalong.server.api.journal_problems import problem_of
from tagalong.server.api.json_forms import item_of
from tagalong.server.api.json_texts import json_of
from tagalong.server.api.operations import NDJSON, Operation, W
from tagalong.server.api.schemas import Flag, Text
from tagalong.server.http.body import BodyLimits, LimitedBody, divided_lines, read_lines
from tagalong.server.problems import Problem

__all__ = ["OPERATIONS"]

LINES_AT_ONCE = 256
BYTES_AT_ONCE = 1 << 16
BYTES_IN_MEMORY = 1 << 20
SECONDS = 600.0
_Line = tuple[int, Content | Problem, list[str] | None]


async def add_items(call: Call) -> Response:
    """Add items as they arrive, some hundred per commit.

    The answer is sent after the last line has arrived: a client that sends everything before it
    reads would otherwise wait for a server that waits for the client.

    With an idempotency key, all lines arrive before the first is added, as another batch with the
    same key is refused. Items without an id get ids that follow from the key and their lines: if
    the batch is sent again, they are there already.
    """
    limits, relabel = call.service.limits, call.query.get("relabel", False)
    body = BodyLimits(limits.body_bytes, limits.item_bytes * 2 + 10_000, SECONDS)
    answers = tempfile.SpooledTemporaryFile(BYTES_IN_MEMORY)  # noqa: SIM115 - closed when sent
    try:
        async with call.workspace() as workspace:
            waiting: list[_Line] = []
            async for number, line in _lines(call, workspace, body):
                id = None if call.key_text is None else _repeatable_id(call, number)
                waiting.append(_parsed(number, line, limits.item_bytes, id))
                if len(waiting) == LINES_AT_ONCE:
                    await call.run(_add, workspace, waiting, answers, call.actor, relabel)
                    waiting = []
            await call.run(_add, workspace, waiting, answers, call.actor, relabel)
    except BaseException:
        answers.close()
        raise
    answers.seek(0)
    return StreamingResponse(_pieces(call, answers), media_type=NDJSON)


async def _lines(
    call: Call, workspace: Workspace, limits: BodyLimits
) -> AsyncIterator[tuple[int, bytes | Problem]]:
    """Yield the lines of the body; with a key, when all of them have arrived."""
    if call.key_text is None:
        async for found in read_lines(call.request, limits):
            yield found
        return
    digest = hashlib.sha256()
    with tempfile.SpooledTemporaryFile(BYTES_IN_MEMORY) as file:
        async for chunk in LimitedBody(call.request, limits).chunks():
            digest.update(chunk)
            await call.run(file.write, chunk)
        request = ["batch", digest.hexdigest(), call.query.get("relabel", False)]
        await call.run(
            workspace.remember, None, key=call.key_text, scope=call.scope, request=request
        )
        file.seek(0)
        async for found in divided_lines(_pieces(call, file), limits.line_bytes):
            yield found


def _repeatable_id(call: Call, number: int) -> str:
    """Return the id of the item in a line, the same whenever the batch is sent with its key."""
    named = f"{call.scope}\n{call.key_text}\n{number}"
    return f"item-{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"


def _parsed(number: int, line: bytes | Problem, max_bytes: int, id: str | None) -> _Line:
    try:
        if isinstance(line, Problem):
            raise line
        body = ITEM.check(json_of(line, f"line {number}"))
        if id is not None:
            body.setdefault("id", id)
        content = content_of(
            item_of(body, max_bytes), body.get("title", ""), body.get("source", "")
        )
        return number, content, body.get("labels")
    except Problem as problem:
        return number, problem, None
    except JournalError as error:
        return number, problem_of(error), None


def _add(
    workspace: Workspace, lines: list[_Line], answers: IO[bytes], actor: str, relabel: bool
) -> None:
    """Add the sound lines in one commit, and write an answer for each line."""
    sound = [(content, labels) for _, content, labels in lines if isinstance(content, Content)]
    try:
        results = workspace.add_contents(sound, relabel=relabel, actor=actor) if sound else []
        found = iter(results)
    except StorageError as error:  # the lines before are kept, and these can be sent again
        found = iter([error] * len(sound))
    for number, content, _ in lines:
        result = content if isinstance(content, Problem) else next(found)
        if isinstance(result, JournalError):
            result = problem_of(result)
        answer: dict[str, Any] = {"line": number}
        if isinstance(result, Problem):
            answer["problem"] = result.to_json()
        else:
            answer |= {"id": result.id, "seq": result.seq, "outcome": result.outcome}
        answers.write(json.dumps(answer).encode() + b"\n")


async def _pieces(call: Call, file: IO[bytes]) -> AsyncIterator[bytes]:
    """Yield a file piece by piece, and close it."""
    with file:
        while piece := await call.run(file.read, BYTES_AT_ONCE):
            yield piece


OPERATIONS = (
    Operation(
        "addItems",
        "POST",
        f"{W}/items:batch",
        "Add many items, one per line; sound lines are kept, whatever the others are.",
        add_items,
        query={
            "relabel": Flag("whether other labels of an item that is there already are an answer")
        },
        body=Text(meaning="one line of JSON per item, as for addItem"),
        body_media=NDJSON,
        answers={200: NDJSON},
        has_key=True,
    ),
)
