"""The protocol of custom class-dependent features, and their state in model files."""

import json
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from tagalong.learning.examples import Pair
from tagalong.learning.input_types import MatrixLike

__all__ = [
    "LabelFeatures",
    "declared_features",
    "has_method",
    "relabel",
    "restore_state",
    "split_state",
    "trainable_copy",
]

LARGEST_FEATURE_COUNT = 2**31
_STATE_TYPES = "biuf"


class LabelFeatures(Protocol):
    r"""Class-dependent features :math:`\phi(x, r)` for `SharedLabelRanker`.

    Any object with a method ``rows`` qualifies; no base class is needed. These members are
    optional:

    ``n_features``
        The number of features, if it is fixed. In the entropic geometry the weights are a
        distribution over these features; without it, over the features seen so far.
    ``feature_names``
        The names of the features, by number, for explanations.
    ``learn(x, labels)``
        Called with each learnt example and its relevant labels, after ``rows``. The ranker trains
        a copy, so that the object passed in does not change.
    ``relabel(changes)``
        Called when labels change: a dict from old to new names, None for a forgotten label. Two
        labels with the same new name are merged. Features with ``learn`` need it; without it their
        labels cannot be renamed, merged or forgotten.
    ``get_state()``, ``set_state(state)``
        The learnt state, a dict of arrays and JSON values. Features with ``learn`` need both to be
        saved.
    """

    def rows(self, x: Pair, labels: Sequence[Hashable]) -> MatrixLike:
        """Return the features of one example, (K, n): an array or sparse matrix, one row per label.

        Without ``learn``, the result must depend on these arguments only.

        Parameters
        ----------
        x : (indices, values)
            The example's features: ascending feature numbers, and their nonzero values.
        labels : sequence of labels
            The labels known so far, in the order of ``classes_``.
        """


def has_method(features: object, method: str) -> bool:
    """Whether an object has a method of this name."""
    return callable(getattr(features, method, None))


def trainable_copy(features: Any) -> Any:
    """Return an untrained copy of features that learn; other features are returned unchanged."""
    return clone(features, safe=False) if has_method(features, "learn") else features


def declared_features(features: object) -> int | None:
    """Return the declared number of features, or None; ValueError if it is invalid."""
    count = getattr(features, "n_features", None)
    if count is None:
        return None
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= LARGEST_FEATURE_COUNT:
        raise ValueError(
            f"{type(features).__name__}.n_features must be an integer from 1 to 2**31, "
            f"got {count!r}"
        )
    return int(count)


def relabel(features: Any, changes: Mapping[Hashable, Hashable | None]) -> None:
    """Pass label changes to the features; ValueError if they learn but have no ``relabel``."""
    if has_method(features, "relabel"):
        features.relabel(dict(changes))
    elif has_method(features, "learn"):
        raise ValueError(
            f"{type(features).__name__} has learn() but no relabel(changes), so its labels cannot "
            "be renamed, merged or forgotten"
        )


def split_state(features: Any) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the features' learnt state as JSON values and arrays; ValueError if invalid."""
    kind = type(features).__name__
    if not has_method(features, "learn"):
        return {}, {}
    if not has_method(features, "get_state") or not has_method(features, "set_state"):
        raise ValueError(
            f"{kind} has learn(), so it needs get_state() and set_state(state) to be saved"
        )
    values: dict[str, Any] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in features.get_state().items():
        if not isinstance(name, str):
            raise ValueError(f"{kind}.get_state(): the name {name!r} must be a string")
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in _STATE_TYPES:
                raise ValueError(
                    f"{kind}.get_state(): {name!r} is an array of {value.dtype}; arrays must have "
                    "numbers"
                )
            arrays[name] = value
        elif _as_json(value) == value:
            values[name] = value
        else:
            raise ValueError(
                f"{kind}.get_state(): {name!r} is {value!r}, which JSON would change; values must "
                "be arrays, lists, dicts with string keys, strings or numbers"
            )
    return values, arrays


def restore_state(
    features: Any, values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Restore the learnt state that `split_state` returned."""
    if not has_method(features, "learn"):
        if values or arrays:
            raise ValueError(
                f"{type(features).__name__} has no learn(), but the file has a state for it"
            )
        return
    if not has_method(features, "set_state"):
        raise ValueError(f"{type(features).__name__} has learn() but no set_state(state)")
    features.set_state(deepcopy({**values, **arrays}))


def _as_json(value: object) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
