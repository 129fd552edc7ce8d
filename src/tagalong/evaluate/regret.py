"""Random labels from a known model, and the regret of lists under this model."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.evaluate.lists import best_list, expected_loss
from tagalong.losses.check import require_loss
from tagalong.losses.protocol import probabilities
from tagalong.online.partial.lists import checked_sizes
from tagalong.online.partial.slot_costs import SlotCostLike
from tagalong.online.partial.surrogate import LossLike

__all__ = ["LabelModel"]

Floats = npt.NDArray[np.float64]


class LabelModel:
    r"""Random labels: label i is relevant with a probability that depends on :math:`u_i \cdot x`.

    Parameters
    ----------
    weights : array of shape (K, n)
        The true weight vectors :math:`u_i`. For the square loss and rows of length 1, no vector
        may be longer than 1.
    loss : "square", "logistic" or a loss, default "square"
        The loss that determines the probability of a margin, as for `PartialFeedbackRanker`.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong import PartialFeedbackRanker
    >>> from tagalong.evaluate import LabelModel
    >>> rng = np.random.default_rng(0)
    >>> model = LabelModel.random(rng, labels=10, features=5)
    >>> X = model.rows(rng, 2000)
    >>> played = PartialFeedbackRanker(max_labels=3, exploration=0.1).play(X, model.draw(rng, X))
    >>> regret = model.regret(X, played.shown, max_labels=3)
    >>> bool(regret[1000:].sum() < 0.5 * regret[:1000].sum())
    True
    """

    def __init__(self, weights: npt.ArrayLike, loss: LossLike = "square"):
        self.weights = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        if isinstance(loss, str):
            parameters.choice(loss, "loss", ("square", "logistic"))
        else:
            require_loss(loss, "loss")
        self.loss = loss

    @classmethod
    def random(
        cls,
        rng: np.random.Generator,
        labels: int,
        features: int,
        norm: float = 1.0,
        loss: LossLike = "square",
    ) -> "LabelModel":
        """Return a model with weights in random directions.

        Parameters
        ----------
        rng : numpy Generator
            Source of random numbers.
        labels, features : int
            Number of labels, and of features.
        norm : float, default 1
            Length of each weight vector.
        loss : "square", "logistic" or a loss, default "square"
            As for the class.
        """
        weights = rng.normal(size=(labels, features))
        weights *= norm / np.linalg.norm(weights, axis=1, keepdims=True)
        return cls(weights, loss)

    def rows(self, rng: np.random.Generator, count: int) -> Floats:
        """Return rows of length 1 in random directions.

        Parameters
        ----------
        rng : numpy Generator
            Source of random numbers.
        count : int
            Number of rows.
        """
        X = rng.normal(size=(count, self.weights.shape[1]))
        return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))

    def probabilities(self, X: npt.ArrayLike) -> Floats:
        """Return the probability of each label to be relevant, (rows, K).

        Parameters
        ----------
        X : array of shape (rows, n)
            Examples.
        """
        margins = np.asarray(X, dtype=np.float64) @ self.weights.T
        if self.loss == "logistic":
            return np.asarray(1 / (1 + np.exp(-margins)))
        if not isinstance(self.loss, str):
            return probabilities(self.loss, margins)
        if np.abs(margins).max(initial=0.0) > 1 + 1e-9:
            raise ValueError(
                f"X: margins must be from -1 to 1 for loss='square', got "
                f"{np.abs(margins).max():g}; rows and weight vectors must not be longer than 1"
            )
        return np.asarray(np.clip((1 + margins) / 2, 0, 1))

    def draw(self, rng: np.random.Generator, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return independent random labels as an indicator matrix (rows, K).

        Parameters
        ----------
        rng : numpy Generator
            Source of random numbers.
        X : array of shape (rows, n)
            Examples.
        """
        p = self.probabilities(X)
        return (rng.random(p.shape) < p).astype(np.int64)

    def regret(
        self,
        X: npt.ArrayLike,
        shown: Sequence[Collection[int]],
        *,
        miss_weight: float = 0.5,
        slot_cost: SlotCostLike = "decreasing",
        max_labels: int | None = None,
    ) -> Floats:
        """Return the expected loss of each list, minus that of the best list under the model.

        Parameters
        ----------
        X : array of shape (rows, n)
            Examples.
        shown : sequence of collections of int
            Numbers of the labels of each list, in order.
        miss_weight : float, default 0.5
            As for `PartialFeedbackRanker`.
        slot_cost : str, function or table, default "decreasing"
            As for `PartialFeedbackRanker`.
        max_labels : int, optional
            Maximum length of a list.
        """
        found = []
        for p, row in zip(self.probabilities(X), shown, strict=True):
            game: dict[str, Any] = {"miss_weight": miss_weight, "slot_cost": slot_cost}
            best = best_list(p, **game, max_labels=max_labels)
            found.append(expected_loss(row, p, **game) - expected_loss(best, p, **game))
        return np.array(found)

    def ranking_regret(
        self, X: npt.ArrayLike, shown: Sequence[Collection[int]], slots: int | npt.ArrayLike
    ) -> Floats:
        """Return the expected partial rank loss of each list, minus that of the best ranking.

        The labels of a row are independent, as `draw` draws them. The best ranking then has the
        most probable labels in order, one in each slot (P3, Lemma 4).

        Parameters
        ----------
        X : array of shape (rows, n)
            Examples.
        shown : sequence of collections of int
            Numbers of the labels of each list, in order.
        slots : int or array of int of shape (rows,)
            Number of slots: for all rows, or for each row.
        """
        p = self.probabilities(X)
        most = np.minimum(checked_sizes(slots, len(p)), p.shape[1])
        found = []
        for row, labels, count in zip(p, shown, most, strict=True):
            best = np.sort(row)[::-1][:count]
            found.append(_ranking_gain(best, count) - _ranking_gain(row[list(labels)], count))
        return np.array(found)


def _ranking_gain(p: Floats, slots: int) -> float:
    """Return how much less a list costs than no list, in expectation.

    A relevant label that is shown saves ``slots``. A label in slot b costs 1 for each irrelevant
    label before it if it is relevant.
    """
    before = np.cumsum(1 - p) - (1 - p)
    return float((p * (slots - before)).sum())
