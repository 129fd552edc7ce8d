"""Measures of suggestions that are acted on: precision among the sure, hindsight, calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression

TARGETS = (0.9, 0.95, 0.99)
CALIBRATION_BINS = 15
CALIBRATED_FROM = 500
"""Number of the first item whose calibration counts."""

PLACES_CALIBRATED = 5
RECENT_SHARE = "share right at such scores"

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """The first places of successive items, and whether they were right.

    Parameters
    ----------
    probabilities, assured, right : arrays of shape (rows, places).
    whole : the chance of the whole set, shape (rows,).
    whole_right : whether the chosen labels were exactly the right ones, shape (rows,).
    """

    probabilities: Floats
    assured: Floats
    right: Flags
    whole: Floats
    whole_right: Flags

    def __len__(self) -> int:
        return len(self.right)

    def sure(self, target: float, places: int = 1) -> Flags:
        """Which suggestions of the first places are marked."""
        return self.assured[:, :places] >= target


def hindsight(measure: npt.NDArray[Any], right: Flags, target: float) -> int:
    """The largest number of items above a threshold whose precision reaches the target."""
    order = np.argsort(-measure, kind="stable")
    ranked = measure[order]
    count = np.arange(1, len(order) + 1)
    reaches = np.cumsum(right[order]) >= target * count
    # A threshold can't separate items with equal values.
    ends = np.append(ranked[1:] != ranked[:-1], True)
    return int(count[reaches & ends].max(initial=0))


def single_measures(scores: npt.NDArray[Any], right: Flags) -> dict[str, Floats]:
    """The four single measures of the first suggestion that hindsight may choose from.

    Parameters
    ----------
    scores : of all labels, shape (rows, K); -infinity where a label did not exist.
    right : whether the label with the highest score was right.
    """
    exists = np.isfinite(scores)
    count = exists.sum(axis=1)
    filled = np.where(exists, scores, 0.0).astype(np.float64)
    if scores.shape[1] < 2:
        raise ValueError(f"single measures need at least two labels, got {scores.shape[1]}")
    top = -np.partition(-scores.astype(np.float64), 1, axis=1)[:, :2]
    best, second = np.where(np.isfinite(top), top, 0.0).T
    mean = filled.sum(axis=1) / np.maximum(count, 1)
    square = np.where(exists, (filled - mean[:, None]) ** 2, 0.0).sum(axis=1)
    deviation = np.sqrt(square / np.maximum(count, 1))
    return {
        "score": best,
        "gap": best - second,
        "standardised score": (best - mean) / np.maximum(deviation, 1e-9),
        RECENT_SHARE: recent_share(best, right),
    }


def recent_share(scores: Floats, right: Flags, memory: int = 1000, every: int = 50) -> Floats:
    """The recent share of right suggestions with such scores, by isotonic regression.

    This is how probabilities were computed before confidence was learnt from several numbers.
    """
    found = np.full(len(scores), 0.5)
    for begin in range(every, len(scores), every):
        past = slice(max(0, begin - memory), begin)
        fit = IsotonicRegression(out_of_bounds="clip").fit(scores[past], right[past])
        # A little of the score itself breaks the ties within a step.
        here = slice(begin, begin + every)
        found[here] = fit.predict(scores[here]) + 1e-6 * np.arctan(scores[here])
    return found


def average_precisions(scores: npt.NDArray[Any], relevant: Flags) -> Floats:
    """The average precision of each row, as in scikit-learn; 0 without relevant labels.

    Parameters
    ----------
    scores : of all labels, shape (rows, K); -infinity where a label did not exist.
    relevant : which labels were right, of the same shape.
    """
    found = np.zeros(len(scores))
    for row, (own, right) in enumerate(zip(scores, relevant, strict=True)):
        if right.any():
            at_least = own >= own[right][:, None]
            found[row] = np.mean(at_least[:, right].sum(axis=1) / at_least.sum(axis=1))
    return found


def upper_limit(right: int, count: int, level: float = 0.99) -> float:
    """The upper confidence limit of a share (Clopper and Pearson)."""
    return 1.0 if right >= count else float(beta.ppf(level, right + 1, count - right))


def calibration_error(probabilities: Floats, right: Flags, bins: int = CALIBRATION_BINS) -> float:
    """The expected calibration error with bins of equal width."""
    if not len(probabilities):
        return float("nan")
    number = np.minimum((probabilities * bins).astype(int), bins - 1)
    gap = np.bincount(number, probabilities - right, minlength=bins)
    return float(np.abs(gap).sum() / len(probabilities))
