"""Which labels are suggested in place of which, in bounded memory."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_PAIRS", "Confused", "ConfusionCounts"]

MAX_PAIRS = 4096
"""Number of pairs of labels that are counted at a time."""


@dataclass(frozen=True)
class Confused:
    """A label in place of which another one was suggested first.

    Parameters
    ----------
    label : hashable
        The right label.
    suggested : hashable
        The label that was suggested first.
    items : int
        Number of items; a lower bound if there are more than 4,096 different pairs.
    """

    label: Hashable
    suggested: Hashable
    items: int


class ConfusionCounts:
    """Counts pairs of the only relevant label and another label that was suggested first.

    When there are more than ``MAX_PAIRS`` pairs, the less frequent half is dropped.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], int] = {}

    def add(self, true: Sequence[int], first: Sequence[int]) -> None:
        """Count rows with exactly one relevant label and a wrong first suggestion.

        Parameters
        ----------
        true, first : sequence of int
            Per row, the relevant label and the label that was suggested first.
        """
        counts = self._counts
        for pair in zip(true, first, strict=True):
            counts[pair] = counts.get(pair, 0) + 1
            if len(counts) > MAX_PAIRS:
                self._counts = counts = dict(self._sorted()[: MAX_PAIRS // 2])

    def _sorted(self) -> list[tuple[tuple[int, int], int]]:
        """Return the pairs with their counts, the most frequent first."""
        return sorted(self._counts.items(), key=lambda counted: (-counted[1], counted[0]))

    def most_frequent(self, names: Sequence[Hashable], limit: int = 10) -> tuple[Confused, ...]:
        """Return the most frequent pairs.

        Parameters
        ----------
        names : sequence of labels
            The names of the labels, in the order of their numbers.
        limit : int
            Maximum number of pairs.
        """
        return tuple(
            Confused(names[true], names[first], count)
            for (true, first), count in self._sorted()[:limit]
        )

    def state(self) -> npt.NDArray[np.int64]:
        """Return the state as an array of (label, suggested, items)."""
        found = [(*pair, count) for pair, count in self._sorted()]
        return np.array(found, np.int64).reshape(-1, 3)

    def restore(self, state: npt.ArrayLike) -> None:
        """Replace the state by one that ``state`` returned."""
        table = np.array(state, np.int64)
        if table.ndim != 2 or table.shape[1] != 3 or len(table) > MAX_PAIRS or (table < 0).any():
            raise ValueError(
                f"confusion must have at most {MAX_PAIRS} rows of 3 numbers from 0, got shape "
                f"{table.shape}"
            )
        self._counts = {(int(a), int(b)): int(count) for a, b, count in table}
