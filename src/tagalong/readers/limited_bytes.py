"""A limit on the bytes of sources after decompression, so that a small file cannot become huge."""

import io
from collections.abc import Callable
from typing import BinaryIO, cast

__all__ = ["ByteLimit", "TooManyBytesError"]

_PIECE = 1 << 18


class TooManyBytesError(Exception):
    """Sources have more bytes than allowed. Readers do not skip it: the reading ends."""


class ByteLimit:
    """Counts the bytes of all sources of a stream.

    Parameters
    ----------
    most : int
        Number of bytes that may be read.

    Attributes
    ----------
    on_bytes : callable or None
        Called from time to time while bytes are read. It may raise an exception to end that.
    """

    def __init__(self, most: int):
        self.most = most
        self.on_bytes: Callable[[], None] | None = None
        self._read = 0

    def applied_to(self, stream: io.BufferedReader) -> io.BufferedReader:
        """Return a stream with the same bytes, which raises TooManyBytesError after the limit.

        Parameters
        ----------
        stream : binary file
            The bytes after decompression.
        """
        raw = _CountedBytes(cast(BinaryIO, stream), self._count)
        return io.BufferedReader(raw, _PIECE)

    def _count(self, size: int) -> None:
        self._read += size
        if self._read > self.most:
            raise TooManyBytesError(f"more than {self.most:,} bytes when it is unpacked")
        if self.on_bytes is not None:
            self.on_bytes()


class _CountedBytes(io.RawIOBase):
    """The bytes of a stream. A function is told how many are read."""

    def __init__(self, stream: BinaryIO, count: Callable[[int], None]):
        self._stream = cast(io.BufferedReader, stream)
        self._count = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override]
        size = self._stream.readinto1(buffer)
        self._count(size)
        return size
