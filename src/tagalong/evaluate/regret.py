"""Labels drawn from a known model, and what lists cost beyond the best ones under it."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.evaluate.lists import best_list, expected_loss

__all__ = ["LabelModel"]

Floats = npt.NDArray[np.float64]


class LabelModel:
    r"""True weights a label: label i is relevant with the probability of :math:`u_i \cdot x`.

    Parameters
    ----------
    weights : array of shape (K, n)
        The true weights. With the square loss and rows of length 1, none longer than 1.
    loss : "square" or "logistic", default "square"
        What makes a probability of a margin, as for `PartialFeedbackRanker`.

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

    def __init__(self, weights: npt.ArrayLike, loss: str = "square"):
        self.weights = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        self.loss = parameters.choice(loss, "loss", ("square", "logistic"))

    @classmethod
    def random(
        cls,
        rng: np.random.Generator,
        labels: int,
        features: int,
        norm: float = 1.0,
        loss: str = "square",
    ) -> "LabelModel":
        """Return a model with weights in random directions.

        Parameters
        ----------
        rng : numpy Generator
            Where chance comes from.
        labels, features : int
            How many.
        norm : float, default 1
            The length of every weight vector.
        loss : "square" or "logistic", default "square"
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
            Where chance comes from.
        count : int
            How many.
        """
        X = rng.normal(size=(count, self.weights.shape[1]))
        return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))

    def probabilities(self, X: npt.ArrayLike) -> Floats:
        """Return with which probability each label is relevant, (rows, K).

        Parameters
        ----------
        X : array of shape (rows, n)
            Examples.
        """
        margins = np.asarray(X, dtype=np.float64) @ self.weights.T
        if self.loss == "logistic":
            return np.asarray(1 / (1 + np.exp(-margins)))
        if np.abs(margins).max(initial=0.0) > 1 + 1e-9:
            raise ValueError(
                f"margins must be from -1 to 1 for loss='square', got {np.abs(margins).max():g}: "
                "rows and weights must not be longer than 1"
            )
        return np.asarray(np.clip((1 + margins) / 2, 0, 1))

    def draw(self, rng: np.random.Generator, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return labels drawn independently, as an indicator (rows, K).

        Parameters
        ----------
        rng : numpy Generator
            Where chance comes from.
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
        slot_cost: Any = "decreasing",
        max_labels: int | None = None,
    ) -> Floats:
        """Return what each list cost, in expectation, beyond the best list of the model.

        Parameters
        ----------
        X : array of shape (rows, n)
            Examples.
        shown : sequence of collections of int
            The numbers of the labels that were shown for each, in order.
        miss_weight : float, default 0.5
            As for `PartialFeedbackRanker`.
        slot_cost : str, function or table, default "decreasing"
            As for `PartialFeedbackRanker`.
        max_labels : int, optional
            How many labels could be shown.
        """
        found = []
        for p, row in zip(self.probabilities(X), shown, strict=True):
            game: dict[str, Any] = {"miss_weight": miss_weight, "slot_cost": slot_cost}
            best = best_list(p, **game, max_labels=max_labels)
            found.append(expected_loss(row, p, **game) - expected_loss(best, p, **game))
        return np.array(found)
