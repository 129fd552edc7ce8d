"""Digests of models: one of the file that a model is saved to, one of what it answers."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import safe_open

from tests.contract.bits import flatten

Digests: TypeAlias = dict[str, str]
"""Digests by what they are of: "file", "answers"."""

Run: TypeAlias = Callable[[Path], Digests]
"""Teaches a new learner, with a folder to work in, and returns digests of the outcome."""

SIGNIFICANT_DIGITS = 6


def digest(value: Any) -> str:
    """Return a short digest of nested values, bit by bit, types included."""
    found = hashlib.sha256()
    for place, bits in flatten(value).items():
        found.update(f"{place}\0{len(bits)}\0".encode() + bits)
    return found.hexdigest()[:16]


def file_digest(model: Any) -> str:
    """Return the digest of a saved model: its arrays and its header, without the version."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.tagalong")
        model.save(path)
        return digest(file_contents(path))


def file_contents(path: Path) -> dict[str, Any]:
    """Return the header and the arrays of a model file, in an order that does not matter."""
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["tagalong"])
        arrays = {name: file.get_tensor(name) for name in sorted(file.keys())}
    del header["tagalong"]  # the version that wrote it
    return {"header": _sorted(header), "arrays": arrays}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(part) for part in value]
    return value


def rounded(values: Any) -> list[str]:
    """Return numbers to six digits, where BLAS or LAPACK decides about the last bits."""
    numbers = np.asarray(values, dtype=np.float64).ravel()
    return [f"{number:.{SIGNIFICANT_DIGITS}g}" for number in (numbers + 0.0).tolist()]
