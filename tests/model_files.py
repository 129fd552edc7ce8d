"""Small model files, and model files with arbitrary contents."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from tagalong import LabelRanker
from tagalong.learning import model_files


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
    """The JSON header and the arrays of a file."""
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["tagalong"])
        return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def forge(path: Path, header: Any, arrays: dict[str, Any]) -> None:
    """Write a file with arbitrary contents and a valid checksum."""
    text = header if isinstance(header, str) else json.dumps(header)
    checksum = model_files._checksum(text, arrays)
    save_file(arrays, path, metadata={"tagalong": text, "sha256": checksum})
