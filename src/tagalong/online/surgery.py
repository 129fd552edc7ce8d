"""Changes to a learner that are not learning: labels renamed, merged, forgotten; weights pruned.

Each works on the learner's state and makes a new native learner from it, so that a change is
made whole or not at all. What was proven about the rounds so far does not hold for weights that
were changed in another way, so the certificate restarts, centred on the new weights, and says so.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import Labels, checked
from tagalong.online.ranker import OnlineRanker

__all__ = ["forget_labels", "keep_features", "merge_labels", "rename_label", "weight_of_features"]

Arrays = dict[str, npt.NDArray[Any]]

# Arrays of a state with one column, or one entry, a label: weights, or where labels share their
# weights, what is counted a label. And arrays with one row a feature.
_OF_LABELS = {
    "prototypes": (("theta", "means"), ("Z", "shift", "updates")),
    "shared": (("word_counts",), ("messages",)),
}
_ROWS = ("features", "theta", "weights", "means", "S", "norm2")


def _of_labels(arrays: Arrays) -> tuple[list[str], list[str]]:
    columns, entries = _OF_LABELS["shared" if "word_counts" in arrays else "prototypes"]
    return [name for name in columns if name in arrays], [n for n in entries if n in arrays]


def rename_label(ranker: OnlineRanker, old: Hashable, new: Hashable) -> None:
    """Give a label another name; nothing else changes."""
    labels = ranker._labels
    number = _number(labels, old)
    new = checked(new, "new")
    if new == old:
        return
    if new in labels.number:
        raise ValueError(f"label {new!r} is there already; merge_labels makes one of two")
    names = [new if i == number else name for i, name in enumerate(labels.names)]
    ranker._relabel({old: new})
    ranker._labels = Labels(names, labels.grows)


def forget_labels(ranker: OnlineRanker, labels: Sequence[Hashable]) -> None:
    """Take labels away with their weights."""
    _refuse_matrices(ranker)
    gone = {_number(ranker._labels, label) for label in labels}
    kept = [i for i in range(len(ranker._labels)) if i not in gone]

    def change(arrays: Arrays) -> None:
        _choose_columns(arrays, kept)

    named = ", ".join(repr(label) for label in labels)
    names = [ranker._labels.names[i] for i in kept]
    changes = dict.fromkeys(labels)
    _operate(ranker, change, names, f"label {named} was forgotten", changes)


def merge_labels(ranker: OnlineRanker, labels: Sequence[Hashable], into: Hashable) -> list[int]:
    """Make one label of several; its weights, or what is counted for it, are the sum of theirs.

    A sum keeps what speaks for each of them at full strength: the merged label scores high
    where any of them did. Returns the numbers that the labels had.
    """
    _refuse_matrices(ranker)
    into = checked(into, "into")
    parts = sorted({_number(ranker._labels, label) for label in labels})
    if into in ranker._labels.number:
        parts = sorted({*parts, ranker._labels.number[into]})
    if len(parts) < 2:
        raise ValueError(f"there must be at least two labels to merge, got {list(labels)!r}")
    first, others = parts[0], set(parts[1:])
    kept = [i for i in range(len(ranker._labels)) if i not in others]

    def change(arrays: Arrays) -> None:
        for name in _of_labels(arrays)[0]:
            arrays[name] = arrays[name].copy()
            arrays[name][:, first] = arrays[name][:, parts].sum(axis=1)
        if "messages" in arrays:
            arrays["messages"] = arrays["messages"].copy()
            arrays["messages"][first] = arrays["messages"][parts].sum()
        _choose_columns(arrays, kept)

    names = [into if i == first else ranker._labels.names[i] for i in kept]
    named = ", ".join(repr(ranker._labels.names[i]) for i in parts)
    changes = {ranker._labels.names[i]: into for i in parts}
    _operate(ranker, change, names, f"labels {named} were merged into {into!r}", changes)
    return parts


def weight_of_features(ranker: OnlineRanker) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """Return the features that have weights, and the length of each one's weights."""
    found = ranker._native.weights()
    weights = found["weights"].astype(np.float64).reshape(len(found["features"]), -1)
    return found["features"], np.linalg.norm(weights, axis=1)


def keep_features(ranker: OnlineRanker, kept: npt.NDArray[np.bool_]) -> None:
    """Keep the weights of some of the features, in the order of `weight_of_features`."""
    _refuse_matrices(ranker)
    if ranker._settings["geometry"] == "entropic":
        raise ValueError("geometry='entropic' gives every feature weight: none can be pruned")

    def change(arrays: Arrays) -> None:
        for name in _ROWS:
            if name in arrays:
                arrays[name] = arrays[name][kept]

    dropped = int(len(kept) - kept.sum())
    _operate(ranker, change, ranker._labels.names, f"the weights of {dropped} features were pruned")


def _refuse_matrices(ranker: OnlineRanker) -> None:
    if "covariance" in ranker._settings:
        raise ValueError(
            "a PartialFeedbackRanker knows how sure it is of its labels and features: they can be "
            "renamed, but not forgotten, merged or pruned"
        )


def _number(labels: Labels, label: Hashable) -> int:
    if label not in labels.number:
        raise ValueError(f"there is no label {label!r}")
    return labels.number[label]


def _choose_columns(arrays: Arrays, kept: list[int]) -> None:
    columns, entries = _of_labels(arrays)
    for name in columns:
        arrays[name] = arrays[name][:, kept]
    for name in entries:
        arrays[name] = arrays[name][kept]


def _operate(
    ranker: OnlineRanker,
    change: Callable[[Arrays], None],
    names: Sequence[Hashable],
    reason: str,
    changes: Mapping[Hashable, Hashable | None] | None = None,
) -> None:
    """Change a copy of the state, and put a learner made from it in the place of the old one."""
    if ranker._settings.get("norm") in ("kernel", "trace"):
        raise ValueError("with a kernel or the trace norm, weights can be changed by learning only")
    state = ranker._native.state()
    arrays, numbers = dict(state["arrays"]), dict(state["numbers"])
    before = numbers["rounds"]
    for name in ("base2", "base_Z", "base_shift"):
        arrays.pop(name, None)
    if "columns" in arrays:  # labels that no round has told apart share theirs
        columns = arrays.pop("columns")
        arrays |= {name: arrays[name][:, columns] for name in ("theta", "means") if name in arrays}
    change(arrays)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    numbers["labels"] = len(names)
    if "Z" in arrays:
        _normalise(arrays, numbers)
    elif "norm2" in arrays:
        arrays["norm2"] = np.square(arrays["theta"], dtype=np.float64).sum(axis=1)
    native = ranker._make_native(ranker._settings)
    native.restore({"arrays": arrays, "numbers": numbers})
    native.restart_certificate()
    if changes:
        ranker._relabel(changes)
    ranker._native = native
    ranker._labels = Labels(names, ranker._labels.grows)
    ranker._restarted = f"{reason} after {before:,} rounds"


def _normalise(arrays: Arrays, numbers: dict[str, Any]) -> None:
    """Compute the entropic geometry's normalisers from theta."""
    theta = arrays["theta"].astype(np.float64)
    unseen = numbers["dimension"] - len(theta)
    top = theta.max(axis=0, initial=0.0 if unseen > 0 else -np.inf)
    arrays["shift"] = top
    arrays["Z"] = np.exp(theta - top).sum(axis=0) + max(unseen, 0) * np.exp(-top)
    arrays["updates"] = np.zeros(theta.shape[1], dtype=np.int64)
