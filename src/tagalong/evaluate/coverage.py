"""What is gained by not predicting: accuracy over the share of rows that are predicted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CoverageCurve", "coverage_curve"]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """A point for every confidence from which one could predict, the highest first.

    Parameters
    ----------
    threshold : array of shape (points,)
        Rows at least so confident are predicted.
    coverage : array of shape (points,)
        Their share of all rows.
    accuracy : array of shape (points,)
        The share of them that is right.
    """

    threshold: Numbers
    coverage: Numbers
    accuracy: Numbers

    def cost(self, reject: float) -> Numbers:
        """Return the mean cost of a row at every point, where a mistake costs 1.

        Parameters
        ----------
        reject : float
            What it costs not to predict.
        """
        return self.coverage * (1 - self.accuracy) + (1 - self.coverage) * reject

    def best(self, reject: float) -> float:
        """Return the threshold that would have cost least; infinity if not to predict at all.

        Parameters
        ----------
        reject : float
            What it costs not to predict, where a mistake costs 1.
        """
        costs = self.cost(reject)
        at = int(np.argmin(costs))
        return float(self.threshold[at]) if costs[at] <= reject else float("inf")


def coverage_curve(confidence: Any, right: Any) -> CoverageCurve:
    """Return accuracy over coverage.

    Parameters
    ----------
    confidence : array of shape (rows,)
        How sure each prediction is: any number that rises with it, such as
        ``Predtron.confidence``.
    right : array of shape (rows,)
        Whether it is right, had it been made.

    Examples
    --------
    >>> from tagalong.evaluate import coverage_curve
    >>> curve = coverage_curve([0.9, 0.8, 0.8, 0.3], [True, True, False, False])
    >>> curve.coverage.tolist(), curve.accuracy.round(2).tolist()
    ([0.25, 0.75, 1.0], [1.0, 0.67, 0.5])
    >>> curve.best(reject=0.6), curve.best(reject=0.2)
    (0.8, 0.9)
    """
    confidence = np.asarray(confidence, dtype=np.float64)
    right = np.asarray(right, dtype=bool)
    if confidence.ndim != 1 or confidence.shape != right.shape or not len(right):
        raise ValueError(
            "confidence and right must be as many, and at least one, got shapes "
            f"{confidence.shape} and {right.shape}"
        )
    if np.isnan(confidence).any():
        raise ValueError(f"confidence: row {int(np.argmax(np.isnan(confidence)))} is NaN")
    order = np.argsort(-confidence, kind="stable")
    ordered = confidence[order]
    # Rows of equal confidence are predicted together or not at all.
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    hits = np.cumsum(right[order])[last]
    count = last + 1.0
    return CoverageCurve(ordered[last], count / len(ordered), hits / count)
