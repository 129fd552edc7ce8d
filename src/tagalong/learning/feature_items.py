"""Items whose features are known already, so that their text need not be kept."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tagalong.learning.examples import Pair

__all__ = ["FeatureItem"]

LARGEST_NUMBER = 2**31 - 2
"""The largest feature number that any `TextFeatures` can have."""


@final
@dataclass(frozen=True, slots=True, init=False, eq=False)
class FeatureItem:
    """An item that consists of numbered features, for example of a text that must not be kept.

    ``TextFeatures.hashed`` makes one from an item. Only `TextFeatures` with the same parameters
    give the numbers the same meaning. A `Tagger` accepts it wherever it accepts an `Item`.

    Parameters
    ----------
    id : str
        Its identifier in the source; need not be unique.
    numbers : sequence of int
        The numbers of its features, in ascending order, each once.
    values : sequence of float
        The value of each feature, finite.
    labels : tuple of str, or None
        The labels it is filed under: () if it has none, None if they are not known.
    weight : float
        Its sample weight.

    Examples
    --------
    >>> from tagalong.features import TextFeatures
    >>> item = TextFeatures(buckets=1000).hashed("the invoice of the hotel")
    >>> item.numbers.tolist()
    [280, 465, 495, 732]
    """

    id: str
    numbers: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    labels: tuple[str, ...] | None
    weight: float

    def __init__(
        self,
        id: str = "",
        numbers: npt.ArrayLike = (),
        values: npt.ArrayLike = (),
        labels: tuple[str, ...] | None = None,
        weight: float = 1.0,
    ) -> None:
        given = {
            "id": id,
            "numbers": _checked_numbers(numbers),
            "values": _checked_values(values),
            "labels": labels,
            "weight": weight,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if len(self.numbers) != len(self.values):
            raise ValueError(
                "a FeatureItem must have one value per feature, got "
                f"{len(self.numbers)} numbers and {len(self.values)} values"
            )

    def pairs(self) -> Pair:
        """Return the numbers of the features and their values."""
        return self.numbers, self.values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureItem):
            return NotImplemented
        return (
            (self.id, self.labels, self.weight) == (other.id, other.labels, other.weight)
            and np.array_equal(self.numbers, other.numbers)
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((self.id, self.numbers.tobytes(), self.labels, self.weight))

    def __reduce__(self) -> tuple[type["FeatureItem"], tuple[object, ...]]:
        # The constructor makes the arrays of a copy read-only, too.
        return FeatureItem, (self.id, self.numbers, self.values, self.labels, self.weight)


def _checked_numbers(numbers: npt.ArrayLike) -> npt.NDArray[np.int32]:
    found = _vector(numbers, "iu", "numbers", "integers")
    if len(found) and not 0 <= found.min() <= found.max() <= LARGEST_NUMBER:
        wrong = found[(found < 0) | (found > LARGEST_NUMBER)][0]
        raise ValueError(
            f"the numbers of a FeatureItem must be from 0 to {LARGEST_NUMBER}, got {wrong}"
        )
    steps = np.diff(found.astype(np.int64))
    if (steps <= 0).any():
        at = int(np.argmax(steps <= 0))
        raise ValueError(
            "the numbers of a FeatureItem must ascend, each number once, got "
            f"{found[at]} before {found[at + 1]}"
        )
    return _frozen(found.astype(np.int32))


def _checked_values(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):  # infinity is refused below
        found = _vector(values, "iuf", "values", "numbers").astype(np.float64)
    finite = np.isfinite(found)
    if not finite.all():
        raise ValueError(
            f"the values of a FeatureItem must be finite, got {found[np.argmin(finite)]}"
        )
    return _frozen(found)


def _vector(given: npt.ArrayLike, kinds: str, what: str, of: str) -> npt.NDArray[Any]:
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):  # for example a list of lists of different lengths
        found = np.array(None)
    if found.shape == (0,):  # an empty list has no type of its own
        return np.zeros(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in kinds:
        raise ValueError(f"the {what} of a FeatureItem must be a sequence of {of}, got {given!r}")
    return found


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
