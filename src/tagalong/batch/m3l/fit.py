"""The fitted state of an M3L model."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.batch.m3l.training import by_label
from tagalong.learning.labels import Labels

__all__ = ["Fit"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Fit:
    """A trained model with its labels, dual variables and training summary.

    Parameters
    ----------
    model : LinearModel or KernelModel
        The weights or support vectors.
    labels : Labels
        The labels, in the order of the model's columns.
    single : bool
        Whether the targets had one label per row.
    rows : int
        Number of training rows.
    dual : array or None
        The dual variables: (blocks, rows, lanes) if ``place`` is given, else (rows, labels).
        None if the model was loaded from a file without them.
    place : array or None
        The position of each label in the blocks: block number times lanes plus lane number.
    dual_objective, duality_gap : float
        The dual value, and the objective minus the dual value.
    passes : int
        Number of passes (linear kernel) or steps (other kernels).
    curve : (float, float)
        Slope and intercept of the logistic curve that maps scores to probabilities; zeros before
        calibration.
    """

    model: LinearModel | KernelModel
    labels: Labels
    single: bool
    rows: int
    dual: Array | None
    place: Array | None
    dual_objective: float
    duality_gap: float
    passes: int
    curve: tuple[float, float] = (0.0, 0.0)

    def dual_by_label(self) -> Array:
        """Return the dual variables as (rows, labels)."""
        if self.dual is None:
            raise AttributeError(
                "this model has no dual_coef_: files of linear models omit it, and "
                "distributed.fit(by='rows') leaves it on the workers"
            )
        if self.place is None:
            return self.dual
        return by_label(self.dual, self.place)

    def warm_start_dual(self, rows: int, labels: Labels) -> Array | None:
        """Return the dual variables for a warm start; None if the rows or labels differ."""
        if self.dual is None or self.labels.names != labels.names or self.rows != rows:
            return None
        dual = self.dual_by_label()
        if isinstance(self.model, LinearModel):
            return dual
        all_rows = np.zeros((rows, len(labels)))
        all_rows[self.model.support] = dual
        return all_rows

    @property
    def is_calibrated(self) -> bool:
        """Whether there is a curve that maps scores to probabilities."""
        return self.curve != (0.0, 0.0)

    def probabilities(self, scores: Array) -> npt.NDArray[np.float64]:
        """Return the probability that each label is relevant; zeros before calibration."""
        if not self.is_calibrated:
            return np.zeros(len(scores))
        slope, intercept = self.curve
        exponent = np.clip(-(slope * np.asarray(scores, dtype=np.float64) + intercept), -700, 700)
        return np.asarray(1 / (1 + np.exp(exponent)))

    def with_calibration(self, slope: float, intercept: float) -> "Fit":
        """Return a copy of the fit with this logistic curve."""
        return replace(self, curve=(slope, intercept))
