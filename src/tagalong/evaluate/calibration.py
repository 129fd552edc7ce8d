"""How well probabilities agree with the shares of right suggestions."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BINS", "SETTLED", "Calibration", "Reliability", "calibration_of", "checked_sums"]

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


def calibration_of(sums: npt.NDArray[np.int64], frozen: bool = False) -> Calibration:
    """Return the calibration from item 501 on, or of all items if there are fewer.

    Parameters
    ----------
    sums : array of shape (3, 2, 15, 3)
        By kind, whether the item comes after the first 500, and bin: the answers, the right ones
        and the sum of their probabilities.
    frozen : bool, default False
        Whether the model did not learn; then all items count.
    """
    settled = not frozen and bool(sums[0, 1, :, 0].any())
    found = sums[:, 1] if settled else sums.sum(axis=1)
    parts = (Reliability(s[:, 0].copy(), s[:, 1].copy(), s[:, 2] / _UNIT) for s in found)
    return Calibration(SETTLED + 1 if settled else 1, *parts)


def checked_sums(state: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return saved sums; ValueError if they are not valid.

    Parameters
    ----------
    state : array
        The sums as for `calibration_of`.
    """
    sums = np.array(state, np.int64)
    shape = (len(KINDS), 2, BINS, 3)
    if sums.shape != shape or (sums < 0).any():
        raise ValueError(f"calibration must have shape {shape}, got {sums.shape}")
    return sums
