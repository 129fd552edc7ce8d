"""What a tagger asks of a fitted batch learner: one example at a time, with probabilities."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from tagalong.batch.m3l.matrices import is_sparse
from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.learning.examples import as_pairs
from tagalong.learning.labels import Labels

__all__ = ["Answers"]

Array = npt.NDArray[Any]


class Answers:
    """Scores of single examples, and what they mean, from a fitted model."""

    _labels: Labels
    _model: LinearModel | KernelModel
    _slope: tuple[float, float]  # of the logistic curve, and its value at 0; zeros if there is none
    n_features_in_: int

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn what scores mean, from rows that were not trained on.

        One logistic curve for all labels; ``probabilities`` uses it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            See Notes.
        """
        scores = self._scores(X).astype(np.float64)
        truth = self._labels.indicator(y, len(scores))
        if truth.min() == truth.max():
            raise ValueError("y must have both relevant and irrelevant labels")
        curve = LogisticRegression(C=np.inf).fit(scores.reshape(-1, 1), truth.ravel())
        self._slope = (float(curve.coef_[0, 0]), float(curve.intercept_[0]))
        return self

    def _own_names(self, features: Array) -> list[str] | None:
        """Return None: features are those of the examples."""
        return None

    def probabilities(self, scores: Array) -> npt.NDArray[np.float64]:
        """Return how likely labels with such scores are relevant; 0 before ``calibrate``.

        Parameters
        ----------
        scores : array of shape (K,)
            As ``score_one`` returns them.
        """
        if self._slope == (0.0, 0.0):
            return np.zeros(len(scores))
        slope, base = self._slope
        exponent = np.clip(-(slope * np.asarray(scores, dtype=np.float64) + base), -700, 700)
        return np.asarray(1 / (1 + np.exp(exponent)))

    def score_one(self, x: Any) -> tuple[Array, float]:
        """Return the scores of all labels for one example, and the cut-off.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features that were not trained on say nothing.
        """
        check_is_fitted(self)
        indices, values = as_pairs(x)
        if isinstance(self._model, LinearModel):
            return self._model.score_one(indices, values), 0.0
        inside = indices < self.n_features_in_
        row = sp.csr_array(
            (values[inside], (np.zeros(inside.sum(), np.int32), indices[inside])),
            shape=(1, self.n_features_in_),
        )
        dense = not is_sparse(self._model.vectors)
        return self._model.scores(row.toarray() if dense else row)[0], 0.0

    def explain_one(
        self, x: Any, label: Hashable
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return what each feature adds to a label's score, and the score; linear kernel only.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        label : hashable
            One of ``classes_``.
        """
        check_is_fitted(self)
        if not isinstance(self._model, LinearModel):
            raise ValueError("only a linear kernel has parts of a score to show")
        if label not in self._labels.number:
            raise ValueError(f"there is no label {label!r}")
        indices, values = as_pairs(x)
        parts = self._model.parts_of(indices, values, self._labels.number[label])
        return indices.astype(np.int32), parts, float(parts.sum())

    def weights_by_feature(self) -> dict[str, Array]:
        """Return the features that occurred and their weights, (features, K); else none."""
        check_is_fitted(self)
        if isinstance(self._model, LinearModel):
            return {"features": self._model.features, "weights": self._model.weights}
        return {"features": np.zeros(0, np.int32), "weights": np.zeros((0, len(self._labels)))}

    @property
    def bytes_of_weights(self) -> int:
        """What predicting needs in memory."""
        check_is_fitted(self)
        return self._model.bytes

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError
