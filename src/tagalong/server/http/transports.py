"""A transport that closes connections so that the client can still read the answer."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["PoliteTransport"]

HELD_BYTES = 1 << 16  # what is written in one step of the event loop is sent together, up to this


class PoliteTransport(asyncio.Transport):
    """The transport of a connection, except for its end, and for small pieces of data.

    If a connection is closed while the client is still sending, the kernel resets it, and the
    client never sees the answer that was sent before. Then this transport ends only its own
    direction, and the protocol discards what arrives until the client has closed the connection or
    a few seconds are over.

    If the client does not read, data that wait to be sent would keep a closed connection open.
    `abort_if_stuck` ends it.

    uvicorn writes the head and the body of an answer one after the other. They are sent together:
    one packet and one call of the kernel in place of two.

    Parameters
    ----------
    transport : Transport
        The transport of the socket.
    is_receiving : callable
        Whether the client may still be sending.
    linger_seconds : float
        How long to wait for the client.
    stuck_seconds : float
        How long the client may read nothing.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        is_receiving: Callable[[], bool],
        linger_seconds: float,
        stuck_seconds: float,
    ):
        super().__init__()
        self._transport = transport
        self._is_receiving = is_receiving
        self._linger_seconds = linger_seconds
        self._stuck_seconds = stuck_seconds
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.TimerHandle | None = None
        self._check: asyncio.TimerHandle | None = None
        self._held: list[bytes | bytearray | memoryview] = []
        self._held_bytes = 0

    @property
    def is_lingering(self) -> bool:
        """Whether the answer is complete, and what arrives is to be discarded."""
        return self._end is not None

    def close(self) -> None:
        """Send what waits to be sent, then close the connection."""
        if self.is_closing():
            return
        self._send_held()
        if self._is_receiving() and self._transport.can_write_eof():
            self._end = self._loop.call_later(self._linger_seconds, self._transport.abort)
            self._transport.resume_reading()
            self._transport.write_eof()
        else:
            self._transport.close()
            self.abort_if_stuck()

    def abort_if_stuck(self) -> None:
        """From now on, close the connection if data wait and the client reads nothing of them."""
        waiting = self._transport.get_write_buffer_size()
        if waiting and self._check is None:
            self._check = self._loop.call_later(self._stuck_seconds, self._abort_if_more, waiting)

    def note_progress(self) -> None:
        """Forget that data waited: the client has read most of them."""
        if self._check is not None:
            self._check.cancel()
            self._check = None
        if self._transport.is_closing():
            self.abort_if_stuck()

    def _abort_if_more(self, before: int) -> None:
        self._check = None
        if self._transport.get_write_buffer_size() >= before:
            self._transport.abort()
        else:
            self.abort_if_stuck()

    def stop_timers(self) -> None:
        """Forget all timers: the connection is closed."""
        for timer in (self._end, self._check):
            if timer is not None:
                timer.cancel()

    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self.is_lingering or self._transport.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send data at the end of this step of the event loop, unless the connection is closing."""
        if self._end is not None or self._transport.is_closing():
            return
        if not self._held:
            self._loop.call_soon(self._send_held)
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes >= HELD_BYTES:
            self._send_held()

    def _send_held(self) -> None:
        held = self._held
        if held:
            self._transport.write(b"".join(held) if len(held) > 1 else held[0])
            held.clear()
            self._held_bytes = 0

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """Send several pieces of data, unless the connection is being closed."""
        self.write(b"".join(list_of_data))

    def abort(self) -> None:
        """Close the connection at once."""
        self._held.clear()
        self._transport.abort()

    def pause_reading(self) -> None:
        """Receive nothing for now, unless the connection is being closed."""
        if not self.is_lingering:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive again."""
        self._transport.resume_reading()

    def is_reading(self) -> bool:
        """Whether data are received."""
        return self._transport.is_reading()

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait to be sent."""
        return self._held_bytes + self._transport.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return a fact about the connection, such as its socket."""
        return self._transport.get_extra_info(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another protocol handle the connection."""
        self._transport.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol that handles the connection."""
        return self._transport.get_protocol()

    def can_write_eof(self) -> bool:
        """Whether one direction can be closed alone."""
        return self._transport.can_write_eof()

    def write_eof(self) -> None:
        """Close the direction to the client."""
        self._send_held()
        self._transport.write_eof()
