"""What a user's own class-dependent features offer, and their state in model files."""

import json
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from tagalong.learning.examples import Pair

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

    Any object with ``rows`` will do; nothing has to be inherited. These members are optional:

    ``n_features``
        How many features there are, if that is fixed. In the entropic geometry weights are shared
        out among them all; without it, among those met so far.
    ``feature_names``
        Their names, by number, for explanations.
    ``learn(x, labels)``
        Called with each example that is learnt and its relevant labels, after its ``rows``. The
        ranker teaches a copy, so that the object given stays as it is.
    ``relabel(changes)``
        Labels get other names: a dict from old to new, None for a label that is forgotten. Two with
        the same new name become one. What learns needs it for labels to be changed at all.
    ``get_state()``, ``set_state(state)``
        What was learnt, a dict of arrays and JSON values. What learns needs them to be saved.
    """

    def rows(self, x: Pair, labels: Sequence[Hashable]) -> Any:
        """Return the features of one example, (K, n): an array or a sparse matrix, a row a label.

        Without ``learn``, the answer must depend on these arguments alone.

        Parameters
        ----------
        x : (indices, values)
            The example's features: numbers, ascending, and values, none of them 0.
        labels : sequence of labels
            Those known so far, in the order of ``classes_``.
        """


def has_method(features: Any, method: str) -> bool:
    """Whether features have one of the methods that are optional."""
    return callable(getattr(features, method, None))


def trainable_copy(features: Any) -> Any:
    """Return what a ranker may teach: features that learn are copied, as if they were new."""
    return clone(features, safe=False) if has_method(features, "learn") else features


def declared_features(features: Any) -> int | None:
    """Return the number of features, if there is one; ValueError if it is none."""
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
    """Tell features that labels get other names; ValueError if they cannot know what to do."""
    if has_method(features, "relabel"):
        features.relabel(dict(changes))
    elif has_method(features, "learn"):
        raise ValueError(
            f"{type(features).__name__} learns about labels, so labels cannot change without its "
            "relabel(changes)"
        )


def split_state(features: Any) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what features have learnt as JSON values and arrays; ValueError if a file cannot."""
    kind = type(features).__name__
    if not has_method(features, "learn"):
        return {}, {}
    if not has_method(features, "get_state") or not has_method(features, "set_state"):
        raise ValueError(f"{kind} learns, so it needs get_state() and set_state(state) to be saved")
    values: dict[str, Any] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in features.get_state().items():
        if not isinstance(name, str):
            raise ValueError(f"{kind}.get_state(): the name {name!r} must be a string")
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in _STATE_TYPES:
                raise ValueError(
                    f"{kind}.get_state(): {name!r} is an array of {value.dtype}; arrays must be of "
                    "numbers"
                )
            arrays[name] = value
        elif _as_json(value) == value:
            values[name] = value
        else:
            raise ValueError(
                f"{kind}.get_state(): {name!r} is {value!r}, which JSON does not keep as it is; "
                "values must be arrays, or lists, dicts with strings as keys, strings and numbers"
            )
    return values, arrays


def restore_state(
    features: Any, values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Give features back what `split_state` took from them."""
    if not has_method(features, "learn"):
        if values or arrays:
            raise ValueError(f"{type(features).__name__} does not learn, but a state was saved")
        return
    if not has_method(features, "set_state"):
        raise ValueError(f"{type(features).__name__} learns, but has no set_state(state)")
    features.set_state(deepcopy({**values, **arrays}))


def _as_json(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
