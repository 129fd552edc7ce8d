"""Base class of the label rankers: how far their suggestions can be trusted."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.drift import Drift
from tagalong.learning.examples import FeatureRows
from tagalong.learning.input_types import MatrixLike
from tagalong.learning.places import Covered, Places, TieOrder
from tagalong.online.label_model import LabelModel

__all__ = ["ConfidentModel"]

LABEL_TARGETS = (0.9, 0.95, 0.99)
"""The targets at which the native core counts the precision of each label."""

_NO_PLACES = Places(
    *(np.zeros((0, 0), dtype) for dtype in (np.int32, float, float, float, bool)),
    *(np.zeros(0, dtype) for dtype in (float, np.int32, bool)),
)


class ConfidentModel(LabelModel):
    """A native learner of labels that learns how far its suggestions can be trusted.

    The native core learns this from the rounds that are judged. `tagalong.learning.places` has the
    meaning of the results.
    """

    # The contract: see `tagalong.learning.protocols`.

    def find_places(
        self, rows: FeatureRows, k: int | None = None, ties: TieOrder | None = None
    ) -> Places:
        """Return the first k labels for each row, or all of them, with how far to trust them.

        Parameters
        ----------
        rows : SparseRows or rows of the native core
            Features by number.
        k : int, optional
            The number of labels; all by default.
        ties : (counts, last), optional
            The order of labels with equal scores; by number by default.
        """
        if not self.is_started:
            return _NO_PLACES
        return Places.from_native(self.judge_rows(rows, k, ties))

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
        matrix = rows.matrix()
        if not self.is_started:
            return core.PlaceArrays(matrix.shape[0], 0)
        counts, last = (None, None) if ties is None else ties
        return self._native.judge(matrix, -1 if k is None else k, counts, last)

    @property
    def scores_natively(self) -> bool:
        """Whether scoring rows runs no code in Python, as custom features and problems do."""
        return self.is_started and isinstance(self._native, (core.Ranker32, core.Ranker64))

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: told by the user, or noticed."""
        return self.is_started and self._native.has_one_label

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: False."""
        return False

    @property
    def labels_come_in_runs(self) -> bool:
        """Whether labels came in runs far beyond chance; nothing is sure while they do."""
        return self.is_started and self._native.in_runs

    @property
    def drift(self) -> Drift | None:
        """The last change of the answers: None, as only a race of learners looks for changes."""
        return None

    def coverage(self, targets: Sequence[float] = LABEL_TARGETS) -> list[Covered]:
        """Return how many recent items could have been filed without asking.

        Parameters
        ----------
        targets : sequence of float
            The precisions to ask for.
        """
        for target in targets:
            if not 0 < parameters.real(target, "targets") <= 1:
                raise ValueError(f"targets must be above 0 and at most 1, got {target!r}")
        found = [(0.0, 0.0, 0.0)] * len(targets)
        if self.is_started:
            found = self._native.covered(list(targets))
        return [
            Covered(target, share, precision if answers else math.nan, answers)
            for target, (share, precision, answers) in zip(targets, found, strict=True)
        ]

    def label_precision(self) -> npt.NDArray[np.float64]:
        """Return recent sure suggestions per label, and right ones of them: (K, targets, 2).

        The targets are 0.90, 0.95 and 0.99.
        """
        if not self.is_started:
            return np.zeros((0, len(LABEL_TARGETS), 2))
        return self._native.label_precision()

    def count_mistake(self, label: Hashable, weight: float = 1.0) -> None:
        """Count a wrong suggestion that was acted on against the precision of its label.

        Parameters
        ----------
        label : hashable
            The label that was wrong.
        weight : float, default 1
            From 0 to 1; less than 1 if only a part of the right ones is counted.
        """
        self._native.count_mistake(self._number(label), parameters.real(weight, "weight"))

    # scikit-learn.

    def predict_proba(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the probability that each label is right, (rows, K), in the order of ``classes_``.

        If items have one label each, the probabilities of a row sum to 1. Otherwise they are
        independent. They follow how often such suggestions were right when examples were seen
        for the first time, so they are rough after few examples.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        check_is_fitted(self)
        matrix = self._checked_matrix(X)
        places = Places.from_native(self._native.judge(matrix, -1))
        found = places.probability_matrix(len(self.classes_))
        # Without exclusive labels, and with a single one, they are estimated label by label.
        if self._single and (found.shape[1] == 1 or not self.has_one_label):
            total = found.sum(axis=1, keepdims=True)
            found = np.where(total > 0, found / np.where(total > 0, total, 1), 1 / found.shape[1])
        return found

    def predict_log_proba(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        with np.errstate(divide="ignore"):
            found: npt.NDArray[Any] = np.log(self.predict_proba(X))
        return found
