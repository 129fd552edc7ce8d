"""The state of a model as bytes, for comparing two models bit by bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagalong._native import PackedWeights


def flatten(value: Any, path: str = "") -> dict[str, bytes]:
    """Return the bytes of every leaf of a nested value by its path; the bytes include types."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {path: f"{value.dtype.str}{value.shape}".encode() + value.tobytes()}
    if isinstance(value, PackedWeights):
        return flatten(value.unpacked(), path)
    if isinstance(value, np.ndarray):
        return flatten(value.tolist(), path)
    # The check is a variable: the type that mypy infers from it has no toarray().
    is_sparse: bool = sp.issparse(value)
    if is_sparse:
        return flatten(value.toarray(), path)
    if isinstance(value, float):
        return {path: value.hex().encode()}
    if isinstance(value, Mapping):
        found = {path: repr(list(value)).encode()}
        for key, part in value.items():
            found |= flatten(part, f"{path}/{key!r}")
        return found
    if isinstance(value, (list, tuple)):
        found = {path: f"{type(value).__name__}({len(value)})".encode()}
        for i, part in enumerate(value):
            found |= flatten(part, f"{path}/{i}")
        return found
    if hasattr(value, "__dict__"):
        return {path: type(value).__name__.encode(), **flatten(vars(value), f"{path}.")}
    return {path: repr(value).encode()}


def whole(model: Any) -> dict[str, bytes]:
    """Return the bits of a model's parameters, attributes and native state."""
    state = model.__getstate__()
    if "_problem_learner" in state:  # a Predtron: the order of its attributes does not matter
        state = {**state, "_problem_learner": dict(sorted(state["_problem_learner"].items()))}
    return flatten(dict(sorted(state.items())))


def holder_of(model: Any) -> Any:
    """The object that has the native learner: the model, or a Predtron's learner."""
    return getattr(model, "_problem_learner", model)


def native_of(model: Any) -> Any:
    """Return the native learner of a model."""
    return holder_of(model)._native


def rounds_of(state: Any) -> int:
    """Return the number of rounds in a native state."""
    numbers, arrays = state["numbers"], state["arrays"]
    return int(arrays["race"][0] if "race" in arrays else numbers["rounds"])


def learnt(model: Any) -> dict[str, bytes]:
    """Return the bits of a model's native state and labels, without its attributes.

    The attributes depend on the form in which the examples were passed.
    """
    return flatten({"native": native_of(model).state(), "classes": model.classes_})


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Fail with the paths whose bits differ."""
    paths = sorted(found.keys() | expected.keys())
    differing = [path for path in paths if found.get(path) != expected.get(path)]
    assert not differing, f"differs at {differing[:8]}"
