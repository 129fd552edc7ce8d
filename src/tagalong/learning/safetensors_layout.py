"""Safetensors files that are written piece by piece, or mapped into memory.

The library needs all arrays in memory at once, and then all of the file. Here the arrays follow
one another in pieces of bounded size. The header has their lengths, which are known only after
compression, so the room for it is reserved and it is written last, with spaces at its end.
"""

import hashlib
import json
import math
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tagalong.learning.array_codec import StoredArray

__all__ = ["Tensor", "mapped", "write"]

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "uint32": "U32",
    "int32": "I32",
    "uint64": "U64",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}
_DIGEST = "0" * 64


@dataclass(frozen=True)
class Tensor:
    """An array of a file: its type, its shape and the digest of its bytes."""

    dtype: str
    shape: tuple[int, ...]
    digest: str


def write(
    file: BinaryIO,
    arrays: Sequence[StoredArray],
    metadata: Mapping[str, str],
    sign: Callable[[Mapping[str, Tensor]], dict[str, str]],
) -> None:
    """Write arrays and metadata to a file.

    Parameters
    ----------
    file : binary file
        Where to write; it must be able to seek.
    arrays : sequence of StoredArray
        The arrays. Those with larger numbers come first, so that all of them are aligned.
    metadata : mapping
        Texts by name.
    sign : callable
        Returns more metadata, of 64 letters each, from the written arrays.
    """
    ordered = sorted(arrays, key=lambda each: (-np.dtype(each.dtype).itemsize, each.name))
    unsigned = {**metadata, **dict.fromkeys(sign({}), _DIGEST)}
    room = len(_header(ordered, unsigned, [each.most for each in ordered]))
    room += -room % 8
    file.write(room.to_bytes(8, "little") + b" " * room)
    tensors, sizes = {}, []
    for each in ordered:
        digest, size = hashlib.sha256(), 0
        for piece in each.pieces():
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        shape = (size,) if each.shape is None else each.shape
        tensors[each.name] = Tensor(each.dtype, shape, digest.hexdigest())
        sizes.append(size)
    header = _header(ordered, {**metadata, **sign(tensors)}, sizes)
    file.seek(8)
    file.write(header)


def _header(arrays: Sequence[StoredArray], metadata: Mapping[str, str], sizes: list[int]) -> bytes:
    fields: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    begin = 0
    for each, size in zip(arrays, sizes, strict=True):
        shape = [size] if each.shape is None else list(each.shape)
        offsets = [begin, begin + size]
        fields[each.name] = {"dtype": _NAMES[each.dtype], "shape": shape, "data_offsets": offsets}
        begin += size
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def mapped(path: os.PathLike[str]) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """Return the metadata and the arrays of a file; the arrays are read-only parts of the file.

    The file may be replaced while the arrays are in use, but must not be overwritten.

    Parameters
    ----------
    path : path
        The file. ValueError unless its layout is valid.
    """
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(data[:8], "little")
    if begin > len(data) or begin % 8:
        raise ValueError("its header has no valid length")
    fields = json.loads(data[8:begin])
    metadata = fields.pop("__metadata__")
    arrays: dict[str, npt.NDArray[Any]] = {}
    end = 0
    for name, found in sorted(fields.items(), key=lambda each: each[1]["data_offsets"]):
        dtype = np.dtype(_TYPES[found["dtype"]])
        shape, offsets = found["shape"], found["data_offsets"]
        if not all(type(number) is int and number >= 0 for number in [*shape, *offsets]):
            raise ValueError(f"{name} has an invalid place")
        count = math.prod(shape)
        if offsets != [end, end + count * dtype.itemsize] or end % dtype.itemsize:
            raise ValueError(f"{name} has an invalid place")
        end = offsets[1]
        if begin + end > len(data):
            raise ValueError("it is truncated")
        array = np.frombuffer(data, dtype, count, begin + offsets[0])
        arrays[name] = array.reshape(shape)
    if begin + end != len(data):
        raise ValueError("it has bytes after its end")
    return metadata, arrays
