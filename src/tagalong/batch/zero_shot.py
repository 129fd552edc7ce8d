"""Zero-shot classification: categories without training examples, described by attributes."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.batch.m3l.priors import as_signs
from tagalong.learning.labels import Labels, label_array

__all__ = ["ZeroShot"]


class ZeroShot:
    r"""Classify by attribute scores into categories with known attributes.

    The score of a category with the attribute signs :math:`y_c` is :math:`\sum_l y_{cl} s_l`.
    This is M3L's prediction restricted to these categories: an attribute with a large margin
    counts more than an uncertain one.

    Parameters
    ----------
    attributes : array of shape (categories, attributes)
        Whether each category has each attribute, as 0 and 1 or as -1 and 1. The columns have the
        order of the scores' columns.
    categories : collection of labels, optional
        The names of the categories (default: 0, 1, 2, ...).
    by : "margins" or "signs", default "margins"
        ``"margins"`` uses the scores; ``"signs"`` uses only their signs, so the predicted category
        is the one that differs in the fewest attributes.

    Attributes
    ----------
    classes_ : array of shape (categories,)
        The categories.

    Examples
    --------
    >>> from tagalong import ZeroShot
    >>> animals = ZeroShot([[1, 0, 1], [0, 1, 1]], ["whale", "leopard"])
    >>> animals.predict([[0.9, -0.1, 0.3], [0.2, 0.8, 0.1]]).tolist()
    ['whale', 'leopard']
    """

    def __init__(
        self,
        attributes: npt.ArrayLike,
        categories: Iterable[Hashable] | None = None,
        by: str = "margins",
    ):
        self._signs = as_signs(attributes, "attributes")
        names = range(len(self._signs)) if categories is None else categories
        self._labels = Labels(names)
        self.by = parameters.choice(by, "by", ("margins", "signs"))
        if len(self._labels) != len(self._signs):
            raise ValueError(
                f"attributes has {len(self._signs)} rows, but there are {len(self._labels)} "
                "categories"
            )

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The categories."""
        return label_array(self._labels.names)

    def decision_function(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the score of each category, (rows, categories).

        Parameters
        ----------
        scores : array of shape (rows, attributes)
            The ``decision_function`` of a learner whose labels are the attributes.
        """
        s = np.asarray(scores, dtype=np.float64)
        if s.ndim != 2 or s.shape[1] != self._signs.shape[1]:
            raise ValueError(
                f"scores must have {self._signs.shape[1]} columns, one per attribute, "
                f"got shape {s.shape}"
            )
        if self.by == "signs":
            s = np.where(s >= 0, 1.0, -1.0)
        return np.asarray(s @ self._signs.T)

    def predict(self, scores: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the best category of each row.

        Parameters
        ----------
        scores : array of shape (rows, attributes)
            The ``decision_function`` of a learner whose labels are the attributes.
        """
        return np.asarray(self.classes_[self.decision_function(scores).argmax(axis=1)])

    def accuracy(self, scores: npt.ArrayLike, y: npt.ArrayLike) -> dict[Hashable, float]:
        """Return the recall of each category: the fraction of its rows with the right prediction.

        Parameters
        ----------
        scores : array of shape (rows, attributes)
            The ``decision_function`` of a learner whose labels are the attributes.
        y : array of shape (rows,)
            The true category of each row. Categories without rows are left out of the result.
        """
        predicted = self.decision_function(scores).argmax(axis=1)
        truth = self._labels.encode(np.asarray(y), len(predicted)).relevant.indices
        return {
            name: float((predicted[truth == i] == i).mean())
            for i, name in enumerate(self._labels.names)
            if (truth == i).any()
        }
