"""Batches of items as lines of JSON, and the line that the server answers for each."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tagalong.client.answers import NDJSON, Answer, checked_json
from tagalong.client.errors import ServerError, Unavailable, error_of
from tagalong.client.item_json import to_bytes
from tagalong.client.patience import LostError
from tagalong.client.results import Added

__all__ = ["line_of", "line_results", "request_batches"]

MOST_LINES = 256
MOST_BYTES = 1 << 20


def line_of(body: dict[str, Any]) -> bytes:
    """Return the line of an item; without an id it gets one.

    Parameters
    ----------
    body : dict
        The item as JSON values.
    """
    return to_bytes({"id": f"item-{uuid.uuid4()}", **body}) + b"\n"


def request_batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lines in batches of a size that a server accepts.

    If the lines end with an error, those before it are a batch, too.

    Parameters
    ----------
    lines : iterable of bytes
        The lines.
    """
    batch: list[bytes] = []
    size = 0
    try:
        for line in lines:
            if batch and (len(batch) == MOST_LINES or size + len(line) > MOST_BYTES):
                full, batch, size = batch, [], 0
                yield full
            batch.append(line)
            size += len(line)
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def line_results(answer: Answer, batch: Sequence[bytes]) -> list[Added | ServerError]:
    """Return for each line what was added, or why it was refused.

    Parameters
    ----------
    answer : Answer
        The answer. If a line could not be stored for a reason that may pass, LostError: the batch
        can be sent again.
    batch : sequence of bytes
        The lines that were sent.
    """
    answer.check_type(NDJSON)
    found = [_record(answer, line) for line in answer.read().splitlines()]
    by_number = {each.get("line"): each for each in found}
    missing = [number for number in range(1, len(batch) + 1) if number not in by_number]
    if missing:
        raise answer.bad(f"the answer has no line {missing[0]}, of {len(batch)} that were sent")
    try:
        return [_result(answer, by_number[number]) for number in range(1, len(batch) + 1)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise answer.bad(f"a line of the answer has an unexpected form: {error!r}") from None


def _record(answer: Answer, line: bytes) -> dict[str, Any]:
    try:
        found = checked_json(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise answer.bad("a line of the answer is not a JSON object")
    return found


def _result(answer: Answer, found: dict[str, Any]) -> Added | ServerError:
    problem = found.get("problem")
    if problem is None:
        return Added(str(found["id"]), int(found["seq"]), outcome=str(found["outcome"]))
    status = problem.get("status", 500)
    error = error_of("", status, problem)
    if isinstance(error, Unavailable):
        raise LostError(error_of(answer.call, status, problem))
    return error
