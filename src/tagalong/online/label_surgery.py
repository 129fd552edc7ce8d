"""Changes to a native learner's state that are not learning: labels merged, weights dropped."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["State", "keep_features", "keep_labels", "merge_labels"]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
State: TypeAlias = dict[str, dict[str, Any]]

# Arrays of a state with one column, or one entry, per label: weights, or where labels share their
# weights, what is counted per label. And arrays with one row per feature.
_OF_LABELS = {
    "prototypes": (("theta", "means"), ("Z", "shift", "updates")),
    "shared": (("word_counts",), ("messages",)),
}
_ROWS = ("features", "theta", "weights", "means", "S", "norm2")


def keep_labels(state: State, kept: list[int]) -> State:
    """Return a state of some of the labels, with their weights."""
    arrays, numbers = _copied(state)
    columns, entries = _of_labels(arrays)
    for name in columns:
        arrays[name] = arrays[name][:, kept]
    for name in entries:
        arrays[name] = arrays[name][kept]
    numbers["labels"] = len(kept)
    return _settled(arrays, numbers)


def merge_labels(state: State, parts: list[int]) -> State:
    """Return a state in which the first of some labels has the weights of all of them."""
    arrays, numbers = _copied(state)
    first, *others = parts
    for name in _of_labels(arrays)[0]:
        arrays[name] = arrays[name].copy()
        arrays[name][:, first] = arrays[name][:, parts].sum(axis=1)
    if "messages" in arrays:
        arrays["messages"] = arrays["messages"].copy()
        arrays["messages"][first] = arrays["messages"][parts].sum()
    kept = [label for label in range(numbers["labels"]) if label not in others]
    return keep_labels({"arrays": arrays, "numbers": numbers}, kept)


def keep_features(state: State, kept: npt.NDArray[np.bool_]) -> State:
    """Return a state with the weights of some of the features."""
    arrays, numbers = _copied(state)
    if "Z" in arrays:
        raise ValueError("geometry='entropic' gives every feature weight: none can be pruned")
    arrays |= {name: arrays[name][kept] for name in _ROWS if name in arrays}
    return _settled(arrays, numbers)


def _copied(state: State) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays with one column per label, and numbers, that may be changed."""
    arrays, numbers = dict(state["arrays"]), dict(state["numbers"])
    for name in ("base2", "base_Z", "base_shift"):
        arrays.pop(name, None)
    if "columns" in arrays:  # labels that no round has told apart share theirs
        columns = arrays.pop("columns")
        arrays |= {name: arrays[name][:, columns] for name in ("theta", "means") if name in arrays}
    return arrays, numbers


def _of_labels(arrays: Arrays) -> tuple[list[str], list[str]]:
    columns, entries = _OF_LABELS["shared" if "word_counts" in arrays else "prototypes"]
    return [name for name in columns if name in arrays], [n for n in entries if n in arrays]


def _settled(arrays: Arrays, numbers: dict[str, Any]) -> State:
    """Return a state whose norms and normalisers follow from its weights."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    if "Z" in arrays:
        _normalise(arrays, numbers)
    elif "norm2" in arrays:
        arrays["norm2"] = np.square(arrays["theta"], dtype=np.float64).sum(axis=1)
    return {"arrays": arrays, "numbers": numbers}


def _normalise(arrays: Arrays, numbers: dict[str, Any]) -> None:
    """Compute the entropic geometry's normalisers from theta."""
    theta = arrays["theta"].astype(np.float64)
    unseen = numbers["dimension"] - len(theta)
    top = theta.max(axis=0, initial=0.0 if unseen > 0 else -np.inf)
    arrays["shift"] = top
    arrays["Z"] = np.exp(theta - top).sum(axis=0) + max(unseen, 0) * np.exp(-top)
    arrays["updates"] = np.zeros(theta.shape[1], dtype=np.int64)
