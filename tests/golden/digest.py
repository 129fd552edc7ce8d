"""Digests of models: one of the saved file, one of the predictions."""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tests.contract.bits import flatten
from tests.model_files import parts

Digests: TypeAlias = dict[str, str]
"""The digests of one run, by "file" and "answers" (the predictions)."""

Run: TypeAlias = Callable[[Path], Digests]
"""A function that trains a new learner, in a temporary folder, and returns the digests."""

SIGNIFICANT_DIGITS = 6


def digest(value: Any) -> str:
    """Return a short digest of the bits and types of nested values."""
    hashed = hashlib.sha256()
    for path, bits in flatten(value).items():
        hashed.update(f"{path}\0{len(bits)}\0".encode() + bits)
    return hashed.hexdigest()[:16]


def file_digest(model: Any) -> str:
    """Return the digest of a model's file: its arrays and its header, without the version."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.tagalong")
        model.save(path)
        return digest(file_contents(path))


def file_contents(path: Path) -> dict[str, Any]:
    """Return the header and the arrays of a model file, sorted by name.

    The header is without the version that wrote it. It is also without what is newer than most of
    the digests: the number of the format, the names of the learnt fields, parameters of one
    learner, options at their defaults, and the bound on the regret of rankings.
    """
    header, arrays = parts(path)
    del header["tagalong"]
    header["format"] = 4
    header.get("features", {}).get("numbers", {}).pop("fields", None)
    for part in (header, header.get("learner", {})):
        _drop_newer_parameters(part.get("params", {}), part.get("settings", {}))
        part.get("numbers", {}).pop("ranking_regret", None)
    if header["kind"] == "OrdinalRanker":
        assert header["params"].pop("geometry") == "euclidean"
    return {"header": _sorted(header), "arrays": _sorted(arrays)}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(part) for part in value]
    return value


def rounded(values: Any) -> list[str]:
    """Return numbers to six digits, for results whose last bits depend on BLAS or LAPACK."""
    numbers = np.asarray(values, dtype=np.float64).ravel()
    return [f"{number:.{SIGNIFICANT_DIGITS}g}" for number in (numbers + 0.0).tolist()]


def _drop_newer_parameters(params: dict[str, Any], settings: dict[str, Any]) -> None:
    """Remove the parameters that older files lack, at the values that older models had."""
    for part in (settings, params.get("features")):
        if isinstance(part, dict) and part.get("seldom_of") == "folder":
            del part["seldom_of"]
    if settings.get("race") == []:
        del settings["race"], params["race"]
        if params["C"] is None:
            params["C"] = 10.0
        if params["working_set"] == "auto":
            del settings["working_set"], params["working_set"]
        if params["relevance"] == "auto":
            del settings["relevance"], params["relevance"]
