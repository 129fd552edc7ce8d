"""States of runs as JSON values: numbers as they are, arrays compressed."""

import base64
import binascii
import math
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters

__all__ = ["State", "state_from_json", "state_to_json"]

State = dict[str, dict[str, Any]]
"""The ``arrays`` and the ``numbers`` of a run, both by name."""

_TYPES = ("<f8", "<i8", ">f8", ">i8")

_LARGEST_RATIO = 1032
"""How much deflate can compress at most: a larger array than this cannot be in the data."""


def state_to_json(state: State) -> dict[str, Any]:
    """Return a state as JSON values.

    Parameters
    ----------
    state : dict
        The ``arrays`` and the ``numbers``.
    """
    arrays = {name: _encoded(array) for name, array in state["arrays"].items()}
    return {"numbers": state["numbers"], "arrays": arrays}


def state_from_json(saved: object) -> State:
    """Return the state that ``state_to_json`` has saved; ValueError if it is damaged.

    Parameters
    ----------
    saved : object
        The JSON values.
    """
    if not isinstance(saved, dict):
        raise ValueError(f"invalid state of a run: {type(saved).__name__} in place of an object")
    for name in ("numbers", "arrays"):
        if not isinstance(saved.get(name), dict):
            raise ValueError(f"invalid state of a run: {name} must be an object")
    arrays = {}
    for name, packed in saved["arrays"].items():
        try:
            arrays[name] = _decoded(packed)
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise ValueError(f"invalid state of a run: array {name!r}: {error}") from error
    return {"numbers": dict(saved["numbers"]), "arrays": arrays}


def _encoded(array: npt.NDArray[Any]) -> dict[str, Any]:
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _decoded(packed: dict[str, Any]) -> npt.NDArray[Any]:
    dtype = np.dtype(parameters.choice(packed["dtype"], "dtype", _TYPES))
    shape = [parameters.integer(side, "shape", 0) for side in packed["shape"]]
    try:
        compressed = base64.b64decode(packed["data"], validate=True)
    except binascii.Error as error:
        raise ValueError(f"no valid base64: {error}") from error
    size = math.prod(shape) * dtype.itemsize
    if size > _LARGEST_RATIO * len(compressed):
        raise ValueError(f"there is not enough data for shape {shape}")
    inflate = zlib.decompressobj()
    data = inflate.decompress(compressed, size + 1)
    if len(data) != size or not inflate.eof:
        raise ValueError(f"the data is not that of shape {shape}")
    # A copy, which can be written, in the byte order of this machine.
    return np.frombuffer(data, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
