"""Accuracy as a function of coverage, the share of rows that are predicted."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CoverageCurve", "coverage_curve"]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """Accuracy and coverage for each confidence threshold, in descending order.

    Parameters
    ----------
    threshold : array of shape (points,)
        Rows whose confidence is at least the threshold are predicted.
    coverage : array of shape (points,)
        Share of all rows that are predicted.
    accuracy : array of shape (points,)
        Share of the predicted rows that are right.
    """

    threshold: Numbers
    coverage: Numbers
    accuracy: Numbers

    def cost(self, reject: float) -> Numbers:
        """Return the mean cost per row at each threshold, if a mistake costs 1.

        Parameters
        ----------
        reject : float
            Cost of a row that is not predicted.
        """
        return self.coverage * (1 - self.accuracy) + (1 - self.coverage) * reject

    def best(self, reject: float) -> float:
        """Return the threshold with the least cost; infinity if predicting no row costs less.

        Parameters
        ----------
        reject : float
            Cost of a row that is not predicted, if a mistake costs 1.
        """
        costs = self.cost(reject)
        at = int(np.argmin(costs))
        return float(self.threshold[at]) if costs[at] <= reject else float("inf")


def coverage_curve(confidence: npt.ArrayLike, right: npt.ArrayLike) -> CoverageCurve:
    """Return the accuracy at each coverage.

    Parameters
    ----------
    confidence : array of shape (rows,)
        Confidence of each prediction, for example ``Predtron.confidence``. Only the order
        matters.
    right : array of shape (rows,)
        Whether each prediction is right.

    Examples
    --------
    >>> from tagalong.evaluate import coverage_curve
    >>> curve = coverage_curve([0.9, 0.8, 0.8, 0.3], [True, True, False, False])
    >>> curve.coverage.tolist(), curve.accuracy.round(2).tolist()
    ([0.25, 0.75, 1.0], [1.0, 0.67, 0.5])
    >>> curve.best(reject=0.6), curve.best(reject=0.2)
    (0.8, 0.9)
    """
    values = np.asarray(confidence, dtype=np.float64)
    is_right = np.asarray(right, dtype=bool)
    if values.ndim != 1 or values.shape != is_right.shape or not len(is_right):
        raise ValueError(
            "confidence and right must be vectors of the same length, at least 1, got shapes "
            f"{values.shape} and {is_right.shape}"
        )
    if np.isnan(values).any():
        raise ValueError(f"confidence: row {int(np.argmax(np.isnan(values)))} is NaN")
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    # A threshold cannot separate rows of equal confidence.
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    hits = np.cumsum(is_right[order])[last]
    count = last + 1.0
    return CoverageCurve(ordered[last], count / len(ordered), hits / count)
