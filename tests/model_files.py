"""Small model files, and model files with arbitrary contents."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from tagalong import LabelRanker
from tagalong.learning import model_files
from tagalong.learning.array_codec import unpacked


def small(labels: Any = ("money", "travel", "work"), **parameters: Any) -> LabelRanker:
    """A ranker that has learnt four rows."""
    X = np.eye(4) + 0.25
    Y = np.eye(4)[:, : len(labels)]
    return LabelRanker(**parameters).partial_fit(X, Y, classes=list(labels))


def saved(folder: Path, **parameters: Any) -> Path:
    """The path of a saved model, the only file in its folder."""
    path = folder / "model.tagalong"
    small(**parameters).save(path)
    return path


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON header and the arrays of a file, decompressed and unpacked."""
    header, arrays = model_files._read(path)
    return header, unpacked(arrays)


def decoded(path: Path) -> bytes:
    """Everything that a file says, decompressed, to look for words in it."""
    header, arrays = parts(path)
    text = json.dumps(header, ensure_ascii=False).encode()
    return b"\0".join([text, *(np.ascontiguousarray(array).tobytes() for array in arrays.values())])


def stored_parts(path: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The JSON header, the descriptions of arrays, and the arrays as they are stored."""
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return json.loads(metadata["tagalong"]), json.loads(metadata["arrays"]), arrays


def forge(
    path: Path, header: Any, arrays: dict[str, Any], descriptions: dict[str, Any] | None = None
) -> None:
    """Write a file with arbitrary contents and a valid checksum.

    Without descriptions, the arrays are stored as they are.
    """
    text = header if isinstance(header, str) else json.dumps(header)
    metadata = {"tagalong": text}
    if isinstance(header, dict) and header.get("format") in (1, 2, 3, 4, 5):
        metadata["sha256"] = model_files._checksum_before_6(text, arrays)
    else:
        metadata["arrays"] = json.dumps({} if descriptions is None else descriptions)
        tensors = {name: model_files.tensor_of(array) for name, array in arrays.items()}
        metadata["sha256"] = model_files._checksum(metadata, tensors)
    save_file(arrays, path, metadata=metadata)
