"""Base class of the batch learners."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.matrices import is_sparse
from tagalong.batch.m3l.models import LinearModel
from tagalong.learning.examples import FeatureRows, as_pairs
from tagalong.learning.fitted import Fitted
from tagalong.learning.labels import Labels
from tagalong.learning.places import Places, TieOrder
from tagalong.learning.protocols import Task

__all__ = ["BatchLearner"]

Array = npt.NDArray[Any]


class BatchLearner(Fitted):
    """Base class of learners that are fitted to all rows at once.

    It implements `tagalong.learning.protocols.Learner`, so a fitted model can be used in place of
    an online learner that no longer learns.
    """

    _fitted_attribute = "_fit"
    _fit: Fit
    n_features_in_: int

    @property
    def task(self) -> Task:
        """The kind of prediction: a ranking of all labels."""
        return "labels"

    @property
    def learns_online(self) -> bool:
        """Whether the learner learns example by example: False."""
        return False

    @property
    def labels(self) -> Labels:
        """The labels, by number and by name; empty before ``fit``."""
        return self._fit.labels if self.is_started else Labels()

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on a declared number of features: False."""
        return False

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""
        raise NotImplementedError

    def start(self) -> None:
        """Raise ValueError unless the learner is fitted."""
        if not self.is_started:
            raise ValueError(
                f"{type(self).__name__} learns all items at once: fit it before you pass it to a "
                "Tagger, or use 'tagalong fit'"
            )

    def calibrate(self, X: Any, y: Any) -> Self:
        """Calibrate probabilities on rows that were not used for training.

        Fits one logistic curve for all labels, which ``probabilities`` applies to scores.

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
        self._fit = self._fit.with_calibration(float(curve.coef_[0, 0]), float(curve.intercept_[0]))
        return self

    def own_feature_names(self, features: Array) -> list[str] | None:
        """Return None: the learner uses the features of the examples.

        Parameters
        ----------
        features : array of int
            Feature numbers.
        """
        return None

    def probabilities(self, scores: Array) -> npt.NDArray[np.float64]:
        """Return the probability that each label is relevant; zeros before ``calibrate``.

        Parameters
        ----------
        scores : array of shape (K,)
            Scores from ``score_one``.
        """
        return self._fit.probabilities(scores)

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: not known, so False."""
        return False

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: False."""
        return False

    @property
    def scores_natively(self) -> bool:
        """Whether scoring rows runs no code in Python: False."""
        return False

    def find_places(
        self, rows: FeatureRows, k: int | None = None, ties: TieOrder | None = None
    ) -> Places:
        """Return the first k labels for each row, or all of them, with their probabilities.

        A label is assured at its probability, which ``calibrate`` fitted to held-out rows. No label
        of a row without known features is assured. ``whole`` is the product of the probabilities p
        of the chosen labels and of 1 - p of all other labels, which assumes that labels are
        independent of each other. It is 0 before ``calibrate``.

        Parameters
        ----------
        rows : SparseRows or rows of the native core
            Features by number.
        k : int, optional
            The number of labels; all by default.
        ties : (counts, last), optional
            The order of labels with equal scores; by number by default.
        """
        indptr, indices, values = rows.indptr, rows.indices, rows.values
        count = len(indptr) - 1
        places = len(self.labels) if k is None else min(k, len(self.labels))
        labels = np.zeros((count, places), np.int32)
        scores, probabilities = np.zeros(labels.shape), np.zeros(labels.shape)
        known, whole = np.zeros(count, np.int32), np.zeros(count)
        for row in range(count):
            span = slice(indptr[row], indptr[row + 1])
            found, _ = self.score_one((indices[span], values[span]))
            keys = (-found,) if ties is None else (-ties[1], -ties[0], -found)
            labels[row] = np.lexsort(keys)[: labels.shape[1]]
            scores[row] = found[labels[row]]
            chances = self.probabilities(found)
            probabilities[row] = chances[labels[row]]
            known[row] = np.count_nonzero(self._fit.model.known_features(indices[span]))
            if self._fit.is_calibrated:
                whole[row] = np.prod(np.where(found >= 0, chances, 1 - chances))
        assured = np.where(known[:, np.newaxis] > 0, probabilities, 0.0)
        in_runs = np.zeros(count, dtype=bool)
        return Places(labels, scores, probabilities, assured, scores >= 0, whole, known, in_runs)

    def judge_rows(
        self, rows: FeatureRows, k: int | None = None, ties: TieOrder | None = None
    ) -> core.PlaceArrays:
        """Return the same as ``find_places``, in the form of the native learners.

        Parameters
        ----------
        rows : SparseRows or rows of the native core
            Features by number.
        k : int, optional
            The number of labels; all by default.
        ties : (counts, last), optional
            The order of labels with equal scores; by number by default.
        """
        return self.find_places(rows, k, ties).to_native()

    def score_one(self, x: Any) -> tuple[Array, float]:
        """Return the scores of all labels for one example, and the cut-off.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example. Features without a weight are ignored.
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
        """Return the features, their contributions to a label's score, and the score.

        The score is the sum of the contributions and the label's intercept. Only the linear kernel
        has such contributions.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        label : hashable
            One of ``classes_``.
        """
        check_is_fitted(self)
        if not isinstance(self._fit.model, LinearModel):
            raise ValueError(
                "explain_one needs kernel='linear': other kernels have no contributions per feature"
            )
        if label not in self._fit.labels.number:
            raise ValueError(f"label {label!r} is not in classes_")
        indices, values = as_pairs(x)
        parts = self._fit.model.contributions(indices, values, self._fit.labels.number[label])
        score = float(parts.sum())
        if self._fit.model.intercept is not None:
            score += float(self._fit.model.intercept[self._fit.labels.number[label]])
        return indices.astype(np.int32), parts, score

    def weights_by_feature(self) -> dict[str, Array]:
        """Return the ``features`` of the training data and their ``weights``, (features, K).

        Both are empty unless the kernel is linear.
        """
        check_is_fitted(self)
        if isinstance(self._fit.model, LinearModel):
            return {"features": self._fit.model.features, "weights": self._fit.model.weights}
        return {"features": np.zeros(0, np.int32), "weights": np.zeros((0, len(self._fit.labels)))}

    @property
    def bytes_of_weights(self) -> int:
        """Memory that prediction needs, in bytes."""
        check_is_fitted(self)
        return self._fit.model.bytes

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError
