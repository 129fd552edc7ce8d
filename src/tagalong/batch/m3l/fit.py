"""What training leaves behind: all that a fitted M3L model keeps."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.learning.labels import Labels

__all__ = ["Fit"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Fit:
    """A trained model with its labels and the figures of its training.

    Parameters
    ----------
    model : LinearModel or KernelModel
        What predicts.
    labels : Labels
        The labels, in the order of the model's columns.
    single : bool
        Whether targets had one label per row.
    rows : int
        How many rows there were.
    dual : array or None
        The dual variables: in blocks if labels have places, else (rows, labels). None if a file
        did not keep them.
    place : array or None
        Where each label is in the blocks.
    dual_objective, duality_gap : float
        The value of the dual, and how far the objective is above it.
    passes : int
        How many passes, or steps, were made.
    curve : (float, float)
        Slope and intercept of the logistic curve that turns scores into probabilities; zeros
        before calibration.
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
        """Return the dual variables as (rows, labels), put together from blocks of lanes."""
        if self.dual is None:
            raise AttributeError("dual_coef_ is not kept in files of linear models")
        if self.place is None:
            return self.dual
        lanes = self.dual.shape[2]
        out = np.empty((self.dual.shape[1], len(self.place)), dtype=self.dual.dtype)
        for label, at in enumerate(self.place):
            out[:, label] = self.dual[at // lanes, :, at % lanes]
        return out

    def dual_to_start_with(self, rows: int, labels: Labels) -> Array | None:
        """Return dual variables from which training on such rows and labels may begin, if any."""
        if self.dual is None or self.labels.names != labels.names or self.rows != rows:
            return None
        found = self.dual_by_label()
        if isinstance(self.model, LinearModel):
            return found
        spread = np.zeros((rows, len(labels)))
        spread[self.model.support] = found
        return spread

    def probabilities(self, scores: Array) -> npt.NDArray[np.float64]:
        """Return how likely labels with such scores are relevant; 0 before calibration."""
        if self.curve == (0.0, 0.0):
            return np.zeros(len(scores))
        slope, intercept = self.curve
        exponent = np.clip(-(slope * np.asarray(scores, dtype=np.float64) + intercept), -700, 700)
        return np.asarray(1 / (1 + np.exp(exponent)))

    def with_curve(self, slope: float, intercept: float) -> "Fit":
        """Return the same fit with a curve for probabilities."""
        return replace(self, curve=(slope, intercept))
