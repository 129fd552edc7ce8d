"""Server-sent events: the lines of a stream that never ends, as messages."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tagalong.client.results import ServerEvent

__all__ = ["Message", "event_of", "messages"]

MOST_LINE_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a stream.

    Parameters
    ----------
    id : str
        The last id of the stream; "" if there was none.
    kind : str
        Its kind.
    data : str
        Its content.
    has_id : bool
        Whether the id is its own.
    """

    id: str
    kind: str
    data: str
    has_id: bool


def messages(chunks: Iterable[bytes]) -> Iterator[Message | None]:
    """Yield the messages of a stream, and None for each sign of life without a message.

    Parameters
    ----------
    chunks : iterable of bytes
        The stream as it arrives. ValueError if it is not a stream of events.
    """
    id, kind, data, has_id = "", "message", list[str](), False
    for line in _lines(chunks):
        if not line:
            if data:
                yield Message(id, kind, "\n".join(data), has_id)
            kind, data, has_id = "message", [], False
        elif line.startswith(":"):
            yield None
        else:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "id" and "\0" not in value:
                id, has_id = value, True
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > MOST_LINE_BYTES:
            raise ValueError(f"a line has more than {MOST_LINE_BYTES:,} bytes")
        for line in whole:
            yield line.removesuffix(b"\r").decode()


def event_of(message: Message) -> ServerEvent:
    """Return the event in a message; ValueError if there is none.

    Parameters
    ----------
    message : Message
        The message.
    """
    values = json.loads(message.data)
    if not isinstance(values, dict):
        raise ValueError(f"an event must be a JSON object, got {type(values).__name__}")
    seq = int(message.id) if message.has_id and message.id.isdecimal() else None
    kind = str(values.get("kind", message.kind)) if seq is not None else message.kind
    return ServerEvent(kind, seq, values)
