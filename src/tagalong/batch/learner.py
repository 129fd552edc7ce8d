"""The learner contract for models that are fitted to all rows at once."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.matrices import is_sparse
from tagalong.batch.m3l.models import LinearModel
from tagalong.learning.examples import as_pairs
from tagalong.learning.fitted import Fitted
from tagalong.learning.labels import Labels
from tagalong.learning.protocols import Task

__all__ = ["BatchLearner"]

Array = npt.NDArray[Any]


class BatchLearner(Fitted):
    """A learner that is fitted to all rows at once and then answers like an online one.

    It follows `tagalong.learning.protocols.Learner`.
    """

    _fitted_attribute = "_fit"
    _fit: Fit
    n_features_in_: int

    @property
    def task(self) -> Task:
        """What it predicts: a ranking of all labels."""
        return "labels"

    @property
    def learns_online(self) -> bool:
        """Whether it learns one example after the other: False."""
        return False

    @property
    def labels(self) -> Labels:
        """The labels, by number and by name; none before ``fit``."""
        return self._fit.labels if self.is_started else Labels()

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on a declared number of features: False."""
        return False

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""
        raise NotImplementedError

    def start(self) -> None:
        """Raise ValueError unless it is fitted."""
        if not self.is_started:
            raise ValueError(
                f"{type(self).__name__} learns all items at once: fit it before it goes into a "
                "Tagger, or use 'tagalong fit'"
            )

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
        truth = self._fit.labels.indicator(y, len(scores))
        if truth.min() == truth.max():
            raise ValueError("y must have both relevant and irrelevant labels")
        curve = LogisticRegression(C=np.inf).fit(scores.reshape(-1, 1), truth.ravel())
        self._fit = self._fit.with_curve(float(curve.coef_[0, 0]), float(curve.intercept_[0]))
        return self

    def own_feature_names(self, features: Array) -> list[str] | None:
        """Return None: features are those of the examples.

        Parameters
        ----------
        features : array of int
            Their numbers.
        """
        return None

    def probabilities(self, scores: Array) -> npt.NDArray[np.float64]:
        """Return how likely labels with such scores are relevant; 0 before ``calibrate``.

        Parameters
        ----------
        scores : array of shape (K,)
            As ``score_one`` returns them.
        """
        return self._fit.probabilities(scores)

    def score_one(self, x: Any) -> tuple[Array, float]:
        """Return the scores of all labels for one example, and the cut-off.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features that were not trained on say nothing.
        """
        check_is_fitted(self)
        indices, values = as_pairs(x)
        if isinstance(self._fit.model, LinearModel):
            return self._fit.model.score_one(indices, values), 0.0
        inside = indices < self.n_features_in_
        row = sp.csr_array(
            (values[inside], (np.zeros(inside.sum(), np.int32), indices[inside])),
            shape=(1, self.n_features_in_),
        )
        dense = not is_sparse(self._fit.model.vectors)
        return self._fit.model.scores(row.toarray() if dense else row)[0], 0.0

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
        if not isinstance(self._fit.model, LinearModel):
            raise ValueError("only a linear kernel has parts of a score to show")
        if label not in self._fit.labels.number:
            raise ValueError(f"there is no label {label!r}")
        indices, values = as_pairs(x)
        parts = self._fit.model.parts_of(indices, values, self._fit.labels.number[label])
        return indices.astype(np.int32), parts, float(parts.sum())

    def weights_by_feature(self) -> dict[str, Array]:
        """Return the features that occurred and their weights, (features, K); else none."""
        check_is_fitted(self)
        if isinstance(self._fit.model, LinearModel):
            return {"features": self._fit.model.features, "weights": self._fit.model.weights}
        return {"features": np.zeros(0, np.int32), "weights": np.zeros((0, len(self._fit.labels)))}

    @property
    def bytes_of_weights(self) -> int:
        """What predicting needs in memory."""
        check_is_fitted(self)
        return self._fit.model.bytes

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError
