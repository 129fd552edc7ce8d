"""Categories that were never seen, recognised by their attributes."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.batch.m3l.priors import signs_of
from tagalong.learning.labels import Labels, label_array

__all__ = ["ZeroShot"]


class ZeroShot:
    r"""Maps scores of attributes to categories whose attributes are known.

    A category with the signs :math:`y_c` scores :math:`\sum_l y_{cl} s_l`, which is M3L's own
    prediction with the answers limited to these categories: an attribute that is nearly certain
    counts for more than one that could be either.

    Parameters
    ----------
    attributes : array of shape (categories, attributes)
        Which category has which attribute, as 0 and 1 or as -1 and 1, in the order of the scores'
        columns.
    categories : collection of labels, optional
        The names of the categories; their numbers by default.
    by : "margins" or "signs", default "margins"
        Whether scores count as they are, or only as -1 and 1: then the category wins that differs
        in the fewest attributes.

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
        attributes: Any,
        categories: Iterable[Hashable] | None = None,
        by: str = "margins",
    ):
        self._signs = signs_of(attributes, "attributes")
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

    def decision_function(self, scores: Any) -> npt.NDArray[np.float64]:
        """Return how well each category fits, (rows, categories).

        Parameters
        ----------
        scores : array of shape (rows, attributes)
            What a learner of the attributes returns from its ``decision_function``.
        """
        given = np.asarray(scores, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self._signs.shape[1]:
            raise ValueError(
                f"scores must have {self._signs.shape[1]} columns, one an attribute, "
                f"got shape {given.shape}"
            )
        if self.by == "signs":
            given = np.where(given >= 0, 1.0, -1.0)
        return np.asarray(given @ self._signs.T)

    def predict(self, scores: Any) -> npt.NDArray[Any]:
        """Return the category of each row.

        Parameters
        ----------
        scores : array of shape (rows, attributes)
            What a learner of the attributes returns from its ``decision_function``.
        """
        return np.asarray(self.classes_[self.decision_function(scores).argmax(axis=1)])

    def accuracy(self, scores: Any, y: Any) -> dict[Hashable, float]:
        """Return the share of each category's rows that are recognised.

        Parameters
        ----------
        scores : array of shape (rows, attributes)
            What a learner of the attributes returns from its ``decision_function``.
        y : array of shape (rows,)
            The categories of the rows. Those without rows are left out.
        """
        found = self.decision_function(scores).argmax(axis=1)
        truth = self._labels.encode(np.asarray(y), len(found)).relevant.indices
        return {
            name: float((found[truth == i] == i).mean())
            for i, name in enumerate(self._labels.names)
            if (truth == i).any()
        }
