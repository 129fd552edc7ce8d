"""Arrays in model files: what is stored of an array, and the array from what is stored.

An array that compression makes smaller is stored as one zlib stream of bytes. Before, the bytes of
each block of its numbers are sorted by their place within a number (byte shuffle), because bytes at
the same place are alike. Weights of native learners are packed (cpp/core/packed_rows.hpp) into
several streams of bytes. Everything is lossless: the restored bits are the same.

The description of an array that is not stored as it is goes into the JSON header of the file. A
forged description cannot make the reader allocate much more than the file deserves: no zlib stream
is longer than `MOST_EXPANSION` times its compressed form, and reading stops at the stated length.
"""

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong import _native as core

__all__ = [
    "Array",
    "StoredArray",
    "decode_arrays",
    "encode_array",
    "little_endian",
    "unpacked",
]

Array: TypeAlias = npt.NDArray[Any] | core.PackedWeights
"""An array of a model, or its weights in packed form."""

MOST_EXPANSION = 1032
"""The largest ratio of the lengths of data and of their zlib stream."""

_BLOCK = 2**16  # numbers whose bytes are shuffled together
_LEAST = 128  # shorter arrays are stored as they are
_SAMPLE = 2**16  # bytes from which it is decided whether compression pays
_PAYS = 0.95
# Most of the gain is in the frequencies of the bytes. Higher levels take several times as long for
# one or two per cent.
_LEVEL = 3
_TYPES = frozenset(
    ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
) | {"float16", "float32", "float64"}


@dataclass(frozen=True)
class StoredArray:
    """An array as it is stored in a file.

    Attributes
    ----------
    name : str
        The name of the array in the file.
    dtype : str
        The type of the stored array, which is ``uint8`` if it is compressed.
    shape : tuple of int, optional
        Its shape; None if it is known only after all pieces are made.
    most : int
        The largest possible number of bytes.
    pieces : callable
        Returns an iterator of the stored bytes, in pieces of bounded size.
    description : dict
        The JSON entry of the file's header; empty for an array that is stored as it is.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    most: int
    pieces: Callable[[], Iterator[Any]]
    description: dict[str, Any] = field(default_factory=dict)


def encode_array(
    name: str, array: Array, plain: bool = False
) -> tuple[list[StoredArray], dict[str, Any]]:
    """Return what is stored of an array, and its entry in the header unless that is one array.

    Parameters
    ----------
    name : str
        The name of the array in the file.
    array : array or PackedWeights
        The array.
    plain : bool
        Whether an array is stored as it is, never compressed.
    """
    if not isinstance(array, core.PackedWeights):
        return [_encode_plain(name, little_endian(array), plain)], {}
    stored = [
        _encode_chunks(f"{name}.{stream}", array.chunks(number), 4 if stream == "times" else 1)
        for number, stream in enumerate(array.STREAMS)
    ]
    return stored, {"dtype": array.dtype, "shape": list(array.shape), "planes": array.planes}


def little_endian(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array row by row and in little-endian byte order; a copy only if it is not."""
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def _encode_plain(name: str, array: npt.NDArray[Any], plain: bool) -> StoredArray:
    data = array.reshape(-1)
    if array.dtype.name not in _TYPES:
        raise ValueError(f"the model cannot be saved: its {name} has the type {array.dtype}")

    def blocks() -> Iterator[npt.NDArray[Any]]:
        for begin in range(0, data.size, _BLOCK):
            yield _shuffled(data[begin : begin + _BLOCK])

    if plain or not _compression_pays(_shuffled(data[:_BLOCK]), data.nbytes):
        pieces = (lambda: iter([data.view(np.uint8)])) if data.size else (lambda: iter([]))
        return StoredArray(name, array.dtype.name, array.shape, data.nbytes, pieces)
    return _compressed(name, array.dtype.name, array.shape, data.nbytes, blocks)


def _encode_chunks(name: str, chunks: list[Any], size: int) -> StoredArray:
    """Encode a stream of bytes that is in chunks, each with whole numbers of `size` bytes."""
    count = sum(len(chunk) for chunk in chunks)

    def blocks() -> Iterator[npt.NDArray[Any]]:
        for chunk in chunks:
            numbers = chunk.view(f"u{size}")
            for begin in range(0, len(numbers), _BLOCK):
                yield _shuffled(numbers[begin : begin + _BLOCK])

    if not _compression_pays(next(blocks(), np.zeros(0, np.uint8)), count):
        return StoredArray(name, "uint8", (count,), count, lambda: iter(chunks))
    if size > 1:  # the blocks would depend on the chunks
        chunks = [np.concatenate(chunks)]
    return _compressed(name, f"uint{8 * size}", (count // size,), count, blocks)


def _compression_pays(first_block: npt.NDArray[Any], size: int) -> bool:
    if size < _LEAST:
        return False
    sample = first_block[:_SAMPLE]
    return len(zlib.compress(sample.data, _LEVEL)) < _PAYS * len(sample)


def _shuffled(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of numbers, sorted by their place within a number."""
    size = numbers.dtype.itemsize
    return numbers.view(np.uint8).reshape(-1, size).T.reshape(-1)


def _compressed(
    name: str,
    dtype: str,
    shape: tuple[int, ...],
    size: int,
    blocks: Callable[[], Iterator[npt.NDArray[Any]]],
) -> StoredArray:
    def pieces() -> Iterator[bytes]:
        compressor = zlib.compressobj(_LEVEL)
        for block in blocks():
            yield compressor.compress(block.data)
        yield compressor.flush()

    most = size + size // 1000 + 64  # zlib adds five bytes per 16 KB, and a few
    description = {"dtype": dtype, "shape": list(shape)}
    return StoredArray(name, "uint8", None, most, pieces, description)


def decode_arrays(
    descriptions: Mapping[str, Any], names: list[str], read: Callable[[str], npt.NDArray[Any]]
) -> dict[str, Array]:
    """Return the arrays of a file.

    Parameters
    ----------
    descriptions : mapping
        The descriptions of the header, by name. ValueError if one is invalid.
    names : list of str
        The names of the stored arrays.
    read : callable
        Returns the stored array of a name.
    """
    stored = dict.fromkeys(names)
    packed = {name: found for name, found in descriptions.items() if "planes" in found}
    if not packed.keys().isdisjoint(stored):
        raise ValueError("it has arrays that are both packed and not")
    if not (descriptions.keys() - packed.keys()) <= stored.keys():
        raise ValueError("it has descriptions of arrays that it does not have")

    def decoded(name: str) -> npt.NDArray[Any]:
        del stored[name]
        if name not in descriptions:
            return read(name)
        dtype, shape = _type_and_shape(name, descriptions[name], {"dtype", "shape"})
        return _decompress(name, read(name), dtype, shape)

    arrays: dict[str, Array] = {}
    for name, found in packed.items():
        dtype, shape = _type_and_shape(name, found, {"dtype", "shape", "planes"})
        if len(shape) != 2 or type(found["planes"]) is not int or found["planes"] not in (1, 2):
            raise ValueError(f"{name} has an invalid description")
        streams = [f"{name}.{stream}" for stream in core.PackedWeights.STREAMS]
        if not set(streams) <= stored.keys():
            raise ValueError(f"{name} is incomplete")
        data = [decoded(stream).view(np.uint8).reshape(-1) for stream in streams]
        arrays[name] = core.PackedWeights.from_streams(
            (shape[0], shape[1]), found["planes"], dtype.name, data
        )
    for name in list(stored):
        arrays[name] = decoded(name)
    return arrays


def _type_and_shape(
    name: str, found: Mapping[str, Any], keys: set[str]
) -> tuple[np.dtype[Any], tuple[int, ...]]:
    invalid = ValueError(f"{name} has an invalid description")
    if found.keys() != keys or not isinstance(found["shape"], list):
        raise invalid
    if not isinstance(found["dtype"], str) or found["dtype"] not in _TYPES:
        raise invalid
    for side in found["shape"]:
        if type(side) is not int or not 0 <= side < 2**48:
            raise invalid
    return np.dtype(found["dtype"]), tuple(found["shape"])


def _decompress(
    name: str, stored: npt.NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    if stored.dtype != np.uint8 or stored.ndim != 1:
        raise ValueError(f"{name} is not a stream of bytes")
    count = math.prod(shape)
    if count * dtype.itemsize > MOST_EXPANSION * len(stored):
        raise ValueError(f"{name} claims to be longer than its stream can be")
    out: npt.NDArray[Any] = np.empty(count, dtype)
    places = out.view(np.uint8).reshape(count, dtype.itemsize)
    stream = _Inflater(name, stored)
    for begin in range(0, count, _BLOCK):
        end = min(begin + _BLOCK, count)
        block = np.frombuffer(stream.read((end - begin) * dtype.itemsize), np.uint8)
        places[begin:end] = block.reshape(dtype.itemsize, end - begin).T
    stream.check_end()
    if dtype == np.bool_ and (places > 1).any():
        raise ValueError(f"{name} has bytes that are neither true nor false")
    return out.reshape(shape)


class _Inflater:
    """Reads a zlib stream in pieces of given lengths; ValueError if it is not that long."""

    def __init__(self, name: str, stored: npt.NDArray[np.uint8]) -> None:
        self._name, self._stored, self._next = name, stored, 0
        self._inflate = zlib.decompressobj()

    def read(self, wanted: int) -> bytes:
        """Return the next bytes."""
        parts = []
        while wanted > 0:
            parts.append(self._some(wanted))
            wanted -= len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def check_end(self) -> None:
        """Raise ValueError unless the stream ends here, as its checksum says."""
        while not self._inflate.eof:
            if self._some(1):
                raise ValueError(f"{self._name} is longer than it claims to be")
        if self._inflate.unused_data or self._next < len(self._stored):
            raise ValueError(f"{self._name} has bytes after its end")

    def _some(self, most: int) -> bytes:
        """Return at most so many bytes, possibly none; ValueError at the end of the stream."""
        data: Any = self._inflate.unconsumed_tail
        if not data:
            data = self._stored[self._next : self._next + _SAMPLE]
            self._next += len(data)
        try:
            found = self._inflate.decompress(data, most)
        except zlib.error as error:
            raise ValueError(f"{self._name} cannot be decompressed: {error}") from None
        if not found and not len(data) and not self._inflate.eof:
            raise ValueError(f"{self._name} is shorter than it claims to be")
        if not found and self._inflate.eof and most > 1:
            raise ValueError(f"{self._name} is shorter than it claims to be")
        return found


def unpacked(arrays: Mapping[str, Array]) -> dict[str, npt.NDArray[Any]]:
    """Return arrays with packed weights as plain arrays: ``theta`` and, if averaged, ``means``.

    Parameters
    ----------
    arrays : mapping
        Arrays by name.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    for name, array in arrays.items():
        if isinstance(array, core.PackedWeights):
            planes = array.unpacked()
            found[name] = planes[0]
            if len(planes) > 1:
                found[name.removesuffix("theta") + "means"] = planes[1]
        else:
            found[name] = array
    return found
