"""What a native learner offers to the Python class around it."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tagalong import _native as core

__all__ = ["NativeRanker"]


class NativeRanker(Protocol):
    """What a native learner offers: it knows numbers of labels and features, no names."""

    @property
    def labels(self) -> int:
        """How many there are."""

    def add_labels(self, count: int) -> None:
        """Add labels without weights."""

    def check(self, x: core.Matrix) -> None:
        """Raise ValueError if some row cannot be learnt."""

    def learn(
        self,
        x: core.Matrix,
        relevant_indptr: npt.NDArray[np.int64],
        relevant: npt.NDArray[np.int32],
        unknown_indptr: npt.NDArray[np.int64],
        unknown: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float64] | None,
        scores: npt.NDArray[Any] | None,
    ) -> None:
        """Learn the rows; write the scores each had before into `scores`."""

    def learn_one(
        self,
        indices: npt.NDArray[Any],
        values: npt.NDArray[Any],
        relevant: list[int],
        unknown: list[int],
        weight: float,
    ) -> None:
        """Learn one example."""

    def score(self, x: core.Matrix) -> tuple[npt.NDArray[Any], float]:
        """Return scores (rows, labels) and the cut-off."""

    def rank(self, x: core.Matrix, k: int) -> npt.NDArray[np.int32]:
        """Return the k best labels of each row, all of them for k < 0."""

    def rank_one(self, indices: npt.NDArray[Any], values: npt.NDArray[Any], k: int) -> list[int]:
        """Return the k best labels of one example."""

    def state(self) -> dict[str, dict[str, Any]]:
        """Return everything that was learnt, as ``arrays`` and ``numbers``."""

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Take over a state; the learner must be new."""
