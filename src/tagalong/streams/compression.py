"""Compressed byte streams, detected by file extension or by the first bytes."""

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
    """Decompressed bytes of a zst file.

    The reader of the zstandard package does not report a truncated file; this one does.
    """

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
            # A short piece bounds the memory: 256 bytes decompress to at most 8 MB.
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
