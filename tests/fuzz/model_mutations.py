"""Random changes of the contents of model files: of the JSON header, and of the arrays."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Contents", "mutated"]

Contents: TypeAlias = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 7, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63, 10**30),
    *(0.0, -0.0, 0.5, 1.5, -1.0, 1e-300, 1e15, 1e300, -1e300, "", "a", "é\0\n", "float64", "l1"),
    *("entropic", "smooth", "kernel", [], [0], [1, 2], ["a"], ["a", "a"], [None], [[]], {}),
    *({"a": 1}, {"tuple": []}, {"tuple": ["a", 1]}, {"mapping": [["a", 1]]}, [0.5, 0.5]),
]
"""Values for a field of the header: each type, ends of ranges, names that have a meaning."""

NUMBERS = [
    *(0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-30, -1e-30, 1e30, -1e30, 5e-324, 1e300, -1e300),
    *(np.nan, np.inf, -np.inf, 255.0, 256.0, 2.0**31, 2.0**53, 2.0**63, 1e18),
]
TYPES = ["f4", "f8", "i4", "i8", "u1", "u4", "u8", "?"]


def mutated(contents: Contents, random: np.random.Generator) -> Contents:
    """Return a copy of a file's contents with one to three random changes.

    Parameters
    ----------
    contents : (dict, dict)
        The header and the arrays.
    random : numpy.random.Generator
        Chooses the changes.
    """
    header, arrays = deepcopy(contents)
    for _ in range(int(random.choice([1, 1, 1, 2, 3]))):
        if arrays and random.random() < 0.55:
            name = _chosen(random, sorted(arrays))
            _change_array(arrays, name, random)
        else:
            _change_header(header, random)
    return header, arrays


def _chosen(random: np.random.Generator, options: list[Any]) -> Any:
    return options[int(random.integers(len(options)))]


def _change_header(header: dict[str, Any], random: np.random.Generator) -> None:
    """Change one field, at any depth. Fields that only name format and version stay."""
    place: Any = header
    while True:
        keys = [*place] if isinstance(place, dict) else [*range(len(place))]
        keys = [key for key in keys if place is not header or key not in ("format", "tagalong")]
        if not keys:
            return
        key = _chosen(random, keys)
        inner = place[key]
        if isinstance(inner, (dict, list)) and inner and random.random() < 0.85:
            place = inner
            continue
        break
    kind = random.random()
    if kind < 0.5:
        place[key] = deepcopy(_chosen(random, VALUES))
    elif kind < 0.65 and type(inner) in (int, float):
        place[key] = _chosen(random, [inner + 1, inner - 1, -inner, inner * 2, inner / 2])
    elif kind < 0.8:
        del place[key]
    elif isinstance(place, list):
        change = _chosen(random, [list.reverse, lambda found: found.append(deepcopy(inner))])
        change(place)
    else:
        place[key] = deepcopy(place[_chosen(random, keys)])


def _change_array(arrays: dict[str, Any], name: str, random: np.random.Generator) -> None:
    array = arrays[name]
    change: Callable[..., Any] = _chosen(random, [_with_number] * 5 + STRUCTURAL)
    with np.errstate(all="ignore"):
        changed = change(array, random)
    if changed is None:
        del arrays[name]
    else:
        arrays[name] = np.ascontiguousarray(changed)


def _with_number(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    """Replace one number, or a few, by a special one or by a near one."""
    out = array.copy()
    flat = out.reshape(-1)
    for _ in range(int(random.choice([1, 1, 4]))):
        if not flat.size:
            break
        at = int(random.integers(flat.size))
        if random.random() < 0.3:
            flat[at] = flat[int(random.integers(flat.size))]
        elif random.random() < 0.3:
            flat[at] = flat[at] + np.asarray(_chosen(random, [1, -1])).astype(out.dtype)
        elif out.dtype.kind == "f":
            flat[at] = _chosen(random, NUMBERS)
        elif out.dtype.kind in "iu":
            limits = np.iinfo(out.dtype)
            flat[at] = _chosen(random, [0, 1, 2, 100, limits.min, limits.max, limits.max // 2])
        else:
            flat[at] = not flat[at]
    return out


def _shorter(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array[: int(random.integers(len(array) + 1))]


def _longer(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return np.concatenate([array, array[: int(random.integers(len(array) + 1))]])


def _one_less(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array[:-1]


def _empty(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array[:0]


def _flat(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array.reshape(-1)


def _transposed(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array.T


def _of_other_type(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array.astype(_chosen(random, TYPES))


def _with_other_bytes(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    raw = bytearray(array.tobytes())
    for _ in range(min(len(raw), 3)):
        raw[int(random.integers(len(raw)))] = int(random.integers(256))
    if array.dtype.kind == "b":
        raw = bytearray(byte % 2 for byte in raw)
    return np.frombuffer(bytes(raw), array.dtype).reshape(array.shape)


def _reversed(array: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return array[::-1]


def _missing(array: npt.NDArray[Any], random: np.random.Generator) -> None:
    return None


STRUCTURAL: list[Callable[..., Any]] = [
    *(_shorter, _longer, _one_less, _empty, _flat, _transposed, _of_other_type),
    *(_with_other_bytes, _reversed, _missing),
]
