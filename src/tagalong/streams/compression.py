"""Compressed files: known by their extension or their first bytes, read as a stream."""

import io
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
_ZST_PIECE = 1 << 8
_ZST_OUTPUT = 1 << 13


def strip_compression_suffix(name: str) -> str:
    """Return a file's name without the suffix of its compression.

    Examples
    --------
    >>> strip_compression_suffix("mail.jsonl.xz")
    'mail.jsonl'
    """
    suffix = Path(name).suffix.lower()
    return name[: -len(suffix)] if suffix in COMPRESSION_SUFFIXES else name


def decompress_stream(stream: BinaryIO, name: str) -> io.BufferedReader:
    """Return a buffered stream of what a stream holds, which may be compressed.

    Parameters
    ----------
    stream : binary file
        The bytes as stored.
    name : str
        The file's name; its suffix tells the compression where the first bytes do not.
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
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=stored))
    if method == "xz":
        import lzma

        return lzma.LZMAFile(stored)
    if method == "bz2":
        import bz2

        return bz2.BZ2File(stored)
    return cast(IO[bytes], _ZstReader(stored, _zstandard(name).ZstdDecompressor()))


class _ZstReader(io.RawIOBase):
    """What a zst file holds. The package's own reader takes a file cut short for a whole one."""

    def __init__(self, stored: BinaryIO, decompressor: Any):
        self._stored = stored
        self._decompressor = decompressor
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            left = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            # Few bytes can stand for many: 8 MB at most for so short a piece.
            piece = left or self._stored.read(_ZST_PIECE)
            if not piece:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError("the compressed file ends too early")
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._decompressor.decompressobj(write_size=_ZST_OUTPUT)
            self._ready = memoryview(self._frame.decompress(piece))
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def compress_stream(stream: BinaryIO, name: str) -> IO[bytes]:
    """Return a stream that compresses into another, as the name's suffix says.

    Closing it finishes the compression and leaves the other stream open.
    """
    method = COMPRESSION_SUFFIXES.get(Path(name).suffix.lower())
    if method == "gzip":
        import gzip

        # No time and no name, so that the same items give the same bytes.
        return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=stream, mtime=0))
    if method == "xz":
        import lzma

        alone = name.lower().endswith(".lzma")
        return lzma.LZMAFile(stream, "wb", format=lzma.FORMAT_ALONE if alone else lzma.FORMAT_XZ)
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
            name, "zst needs the package zstandard: pip install 'tagalong[zst]'"
        ) from None
    return zstandard


def read_errors() -> tuple[type[Exception], ...]:
    """Return what reading raises where a file or its compression is broken."""
    import lzma
    import sys
    import zlib

    errors: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, lzma.LZMAError)
    if "zstandard" in sys.modules:
        errors += (sys.modules["zstandard"].ZstdError,)
    return errors
