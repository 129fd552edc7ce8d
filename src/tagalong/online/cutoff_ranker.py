"""Base class of the label rankers that predict by a learnt threshold on the scores."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.input_types import MatrixLike
from tagalong.online.ranker import OnlineRanker

__all__ = ["CutoffRanker"]


class CutoffRanker(OnlineRanker):
    """A label ranker that predicts the labels whose score reaches a learnt cut-off."""

    @property
    def cutoff_(self) -> float:
        """The threshold: ``predict`` returns the labels that score at least this."""
        self._require_start("cutoff_")
        return self._native.certificate().cutoff

    def predict(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return an indicator of the labels that score at least ``cutoff_``.

        A classifier (trained with one label per row) returns the best label of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores, cutoff = self._scores(X)
        if self._single:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return (scores >= cutoff).astype(np.int64)
