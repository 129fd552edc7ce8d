"""Safetensors files that are written piece by piece.

The library needs all arrays in memory at once, and then all of the file. Here the arrays follow
one another in pieces of bounded size. The header has their lengths, which are known only after
compression, so the room for it is reserved and it is written last, with spaces at its end.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from tagalong.learning.array_codec import StoredArray

__all__ = ["Tensor", "write"]

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
