"""Compressed byte streams, detected by file extension or by the first bytes."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import IO, Any, BinaryIO, cast

from tagalong.learning.items import ReadError

__all__ = [
    "COMPRESSION_SUFFIXES",
    "compress_stream",
    "decompress_stream",
    "read_errors",
    "strip_compression_suffix",
]

COMPRESSION_SUFFIXES = {".gz": "gzip", ".xz": "xz", ".lzma": "xz", ".bz2": "bz2", ".zst": "zst"}
_MAGIC_BYTES = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zst",
}
_LONGEST_MAGIC = max(map(len, _MAGIC_BYTES))
_BUFFER = 1 << 18
# Decompression needs this much memory at most. The highest levels of xz and zst need half of it,
# unless their long-distance modes are used.
_MAX_WINDOW = 128 << 20
_PIECE = 1 << 14
_ZST_PIECE = 1 << 8
_ZST_OUTPUT = 1 << 13


def strip_compression_suffix(name: str) -> str:
    """Return a file name without its compression suffix.

    Examples
    --------
    >>> strip_compression_suffix("mail.jsonl.xz")
    'mail.jsonl'
    """
    suffix = Path(name).suffix.lower()
    return name[: -len(suffix)] if suffix in COMPRESSION_SUFFIXES else name


def decompress_stream(stream: BinaryIO, name: str) -> io.BufferedReader:
    """Return a buffered stream of the decompressed bytes of a stream.

    A stream that is not compressed is only buffered.

    Parameters
    ----------
    stream : binary file
        The bytes as stored.
    name : str
        File name. Its suffix selects the compression if the first bytes do not.
    """
    stored = _as_buffered(stream)
    start = stored.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC]
    method = next(
        (method for magic, method in _MAGIC_BYTES.items() if start.startswith(magic)), None
    )
    if method is None and start:
        method = COMPRESSION_SUFFIXES.get(Path(name).suffix.lower())
    if method is None:
        return stored
    return _as_buffered(cast(BinaryIO, _open_decompressor(method, stored, name)))


def _as_buffered(stream: BinaryIO) -> io.BufferedReader:
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER)


def _open_decompressor(method: str, stored: BinaryIO, name: str) -> IO[bytes]:
    if method == "gzip":
        return cast(IO[bytes], _MemberReader(stored, _GzipMember, padding=b"\0"))
    if method == "xz":
        import lzma

        decompressor = partial(lzma.LZMADecompressor, memlimit=_MAX_WINDOW)
        return cast(IO[bytes], _MemberReader(stored, decompressor, padding=b"\0"))
    if method == "bz2":
        import bz2

        return cast(IO[bytes], _MemberReader(stored, bz2.BZ2Decompressor))
    zstd = _zstandard(name).ZstdDecompressor(max_window_size=_MAX_WINDOW)
    # A short piece bounds the memory: 256 bytes decompress to at most 8 MB.
    return cast(IO[bytes], _MemberReader(stored, partial(_ZstMember, zstd), piece=_ZST_PIECE))


class _MemberReader(io.RawIOBase):
    """Decompressed bytes of a file, which may consist of several members.

    The readers of the standard library do not limit the memory of xz, lose the last bytes before
    damaged ones (gzip), or ignore what follows the first member if it is damaged (xz, bz2). The
    one of zstandard does not report a truncated file.

    Parameters
    ----------
    stored : binary file
        The bytes as stored.
    make_decompressor : callable
        Function without arguments that returns a decompressor for one member.
    padding : bytes
        Bytes that may follow a member.
    piece : int
        Number of stored bytes to read at a time.
    """

    def __init__(
        self,
        stored: BinaryIO,
        make_decompressor: Callable[[], Any],
        padding: bytes = b"",
        piece: int = _PIECE,
    ):
        self._stored = stored
        self._make_decompressor = make_decompressor
        self._padding = padding
        self._piece = piece
        self._member: Any = None
        self._is_further = False  # whether the present member follows another, and is still empty
        self._error: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._error is not None:  # the bytes that caused it are gone
            raise self._error
        try:
            return self._read(buffer)
        except Exception as error:
            self._error = error
            raise

    def _read(self, buffer: Any) -> int:
        while True:
            member = self._member
            if member is None or member.eof:
                piece = member.unused_data if member is not None else b""
                if member is not None:
                    piece = piece.lstrip(self._padding)
                while not piece and (read := self._stored.read(self._piece)):
                    piece = read.lstrip(self._padding) if member is not None else read
                if not piece:
                    return 0
                self._is_further = member is not None
                self._member = member = self._make_decompressor()
            else:
                piece = self._stored.read(self._piece) if member.needs_input else b""
                if not piece and member.needs_input:
                    raise EOFError("the compressed file ends too early")
            data = self._decompressed(piece, len(buffer))
            if data:
                self._is_further = False
                buffer[: len(data)] = data
                return len(data)

    def _decompressed(self, piece: bytes, most: int) -> bytes:
        try:
            data: bytes = self._member.decompress(piece, most)
        except read_errors() as error:
            if not self._is_further:
                raise
            raise OSError(
                "bytes after the end of the compressed data that are not a further part of it"
            ) from error
        return data


class _GzipMember:
    """Decompressor of one gzip member with the methods of `bz2.BZ2Decompressor`."""

    def __init__(self) -> None:
        import zlib

        self._stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, piece: bytes, most: int) -> bytes:
        stream = self._stream
        data = stream.decompress(stream.unconsumed_tail + piece, most)
        self.needs_input = len(data) < most and not stream.unconsumed_tail
        return data


class _ZstMember:
    """Decompressor of one zst frame with the methods of `bz2.BZ2Decompressor`.

    It must be given short pieces, because it decompresses each of them as a whole.
    """

    def __init__(self, decompressor: Any):
        self._frame = decompressor.decompressobj(write_size=_ZST_OUTPUT)
        self._ready = memoryview(b"")

    @property
    def needs_input(self) -> bool:
        return not self._ready

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof) and not self._ready

    @property
    def unused_data(self) -> bytes:
        data: bytes = self._frame.unused_data
        return data

    def decompress(self, piece: bytes, most: int) -> memoryview:
        if piece:
            self._ready = memoryview(self._frame.decompress(piece))
        data, self._ready = self._ready[:most], self._ready[most:]
        return data


def compress_stream(stream: BinaryIO, name: str) -> IO[bytes]:
    """Return a stream that compresses the bytes written to it, and writes them to `stream`.

    The suffix of `name` selects the compression; without a known suffix `stream` itself is
    returned. Closing the compressing stream leaves `stream` open.
    """
    method = COMPRESSION_SUFFIXES.get(Path(name).suffix.lower())
    if method == "gzip":
        import gzip

        # The header has no time and no name, so equal items give equal bytes.
        return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=stream, mtime=0))
    if method == "xz":
        import lzma

        is_lzma = name.lower().endswith(".lzma")
        return lzma.LZMAFile(stream, "wb", format=lzma.FORMAT_ALONE if is_lzma else lzma.FORMAT_XZ)
    if method == "bz2":
        import bz2

        return bz2.BZ2File(stream, "wb")
    if method == "zst":
        zstandard = _zstandard(name)
        writer: IO[bytes] = zstandard.ZstdCompressor().stream_writer(stream, closefd=False)
        return writer
    return stream


def _zstandard(name: str) -> ModuleType:
    try:
        import zstandard
    except ImportError:
        raise ReadError(
            name, "zst files need the package zstandard: pip install 'tagalong[zst]'"
        ) from None
    return zstandard


def read_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading a damaged file or damaged compression raises."""
    import lzma
    import sys
    import zlib

    errors: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, lzma.LZMAError)
    if "zstandard" in sys.modules:
        errors += (sys.modules["zstandard"].ZstdError,)
    return errors
