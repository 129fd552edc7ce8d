"""Everything a model holds, flattened so that two models can be compared bit by bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp


def flatten(value: Any, path: str = "") -> dict[str, bytes]:
    """Map the place of every part of a value to its bits, types included."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {path: f"{value.dtype.str}{value.shape}".encode() + value.tobytes()}
    if isinstance(value, np.ndarray):
        return flatten(value.tolist(), path)
    if sp.issparse(value):
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
    """All that a model holds: its parameters, its attributes, its native state."""
    state = model.__getstate__()
    if "_part" in state:  # attributes of a Predtron's part, in whatever order they were set
        state = {**state, "_part": dict(sorted(state["_part"].items()))}
    return flatten(dict(sorted(state.items())))


def holder_of(model: Any) -> Any:
    """What holds the native learner: a model itself, or a Predtron's part for its problem."""
    return getattr(model, "_part", model)


def native_of(model: Any) -> Any:
    """The native learner of a model."""
    return holder_of(model)._native


def learnt(model: Any) -> dict[str, bytes]:
    """What a model has learnt, whichever way the examples came."""
    return flatten({"native": native_of(model).state(), "classes": model.classes_})


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Fail with the places that differ."""
    places = sorted(found.keys() | expected.keys())
    differing = [at for at in places if found.get(at) != expected.get(at)]
    assert not differing, f"differs at {differing[:8]}"
