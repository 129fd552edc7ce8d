"""How well probabilities agree with the shares of right suggestions."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.judged_rows import JudgedRows

__all__ = ["BINS", "SETTLED", "Calibration", "CalibrationCounts", "Reliability"]

BINS = 15
"""Number of bins, of equal width, of the probabilities from 0 to 1."""
SETTLED = 500
"""Number of first items that the calibration error leaves out if there are more items."""
KINDS = ("first", "first_five", "whole")

# Probabilities are summed as whole multiples of 2**-30. Sums of integers do not depend on how the
# rows are grouped into batches.
_UNIT = 2.0**30


@dataclass(frozen=True, eq=False)
class Reliability:
    """The probabilities and the shares of right answers, in bins of the probability.

    Parameters
    ----------
    counts, right : array of shape (15,)
        Number of answers in each bin, and of those that were right.
    predicted : array of shape (15,)
        The sum of the probabilities in each bin.
    """

    counts: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.float64]

    @property
    def error(self) -> float:
        """The expected calibration error.

        It is the mean over all answers of the distance, in the answer's bin, between the mean
        probability and the share of right answers. NaN without answers.
        """
        total = int(self.counts.sum())
        return float(np.abs(self.predicted - self.right).sum() / total) if total else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the error and the bins that are not empty."""
        bins = [
            {
                "from": i / BINS,
                "to": (i + 1) / BINS,
                "answers": int(self.counts[i]),
                "right": int(self.right[i]),
                "mean_probability": float(self.predicted[i] / self.counts[i]),
            }
            for i in np.flatnonzero(self.counts)
        ]
        return {"error": self.error, "bins": bins}


@dataclass(frozen=True, eq=False)
class Calibration:
    """How well the probabilities agree with what was right.

    Parameters
    ----------
    from_item : int
        Number of the first item that is included: 501, or 1 if there are fewer items.
    first : Reliability
        Of the first suggestions.
    first_five : Reliability
        Of the suggestions in the first five places.
    whole : Reliability
        Of the chance that the chosen labels are exactly the right ones.
    """

    from_item: int
    first: Reliability
    first_five: Reliability
    whole: Reliability

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        parts = {name: getattr(self, name).to_dict() for name in KINDS}
        return {"from_item": self.from_item, **parts}


class CalibrationCounts:
    """Counts answers and right answers in bins of the probability."""

    def __init__(self) -> None:
        # By kind, whether the item is one of the first 500, bin; answers, right ones and the sum
        # of their probabilities.
        self._sums = np.zeros((len(KINDS), 2, BINS, 3), np.int64)

    def add(self, rows: JudgedRows, first_item: int) -> None:
        """Count rows.

        Parameters
        ----------
        rows : JudgedRows
            The rows.
        first_item : int
            Number, from 1, of the first of these rows in the run.
        """
        early = min(max(0, SETTLED + 1 - first_item), len(rows))
        parts = (
            (rows.probabilities[:, :1], rows.right[:, :1], rows.counts[:, :1]),
            (rows.probabilities[:, :5], rows.right[:, :5], rows.counts[:, :5]),
            (
                rows.whole[:, np.newaxis],
                rows.is_exact[:, np.newaxis],
                rows.counts[:, :1],
            ),
        )
        for kind, (probabilities, right, counts) in enumerate(parts):
            counted = counts & rows.has_confidence[:, np.newaxis]
            for phase, part in enumerate((slice(0, early), slice(early, None))):
                kept = counted[part]
                self._count(kind, phase, probabilities[part][kept], right[part][kept])

    def _count(
        self,
        kind: int,
        phase: int,
        probabilities: npt.NDArray[np.float64],
        right: npt.NDArray[np.bool_],
    ) -> None:
        if not len(probabilities):
            return
        bins = np.clip((probabilities * BINS).astype(np.int64), 0, BINS - 1)
        units = np.rint(probabilities * _UNIT)
        sums = self._sums[kind, phase]
        sums[:, 0] += np.bincount(bins, minlength=BINS)
        sums[:, 1] += np.bincount(bins[right], minlength=BINS)
        # Exact, as the sums of a batch stay far below 2**53.
        sums[:, 2] += np.bincount(bins, units, minlength=BINS).astype(np.int64)

    def calibration(self, frozen: bool = False) -> Calibration:
        """Return the calibration from item 501 on, or of all items if there are fewer.

        Parameters
        ----------
        frozen : bool, default False
            Whether the model did not learn; then all items count.
        """
        settled = not frozen and bool(self._sums[0, 1, :, 0].any())
        sums = self._sums[:, 1] if settled else self._sums.sum(axis=1)
        parts = (Reliability(s[:, 0].copy(), s[:, 1].copy(), s[:, 2] / _UNIT) for s in sums)
        return Calibration(SETTLED + 1 if settled else 1, *parts)

    def state(self) -> npt.NDArray[np.int64]:
        """Return the state as an array."""
        return self._sums.copy()

    def restore(self, state: npt.ArrayLike) -> None:
        """Replace the state by one that ``state`` returned."""
        sums = np.array(state, np.int64)
        if sums.shape != self._sums.shape or (sums < 0).any():
            raise ValueError(f"calibration must have shape {self._sums.shape}, got {sums.shape}")
        self._sums = sums
