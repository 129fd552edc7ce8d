"""Multilabel classification: a set of labels per example."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.classes import known_dimension
from tagalong.problems.protocol import Vector

__all__ = ["Multilabel"]

LOSSES = ("hamming", "subset", "error_set")


class Multilabel(BuiltinProblem):
    r"""A set of labels, as an indicator of 0 and 1.

    A set is represented by entries of :math:`\pm 1/\sqrt m`, so the predicted set has the labels
    that score above 0.

    Parameters
    ----------
    loss : str, default "hamming"
        ``"hamming"``: the number of wrong labels. ``"subset"``: 1 if any label is wrong.
        ``"error_set"``: the number of missed labels times the number of added ones; no bound is
        known for it.
    dimension : int, optional
        The number of labels (default: Predtron takes it from the data).
    """

    def __init__(self, loss: str = "hamming", dimension: int | None = None):
        self._store_arguments(loss=loss, dimension=dimension)
        self.loss_name = parameters.choice(loss, "loss", LOSSES)
        self.dimension = dimension

    @property
    def least_loss(self) -> float:
        """The loss of one wrong label: 1."""
        return 1.0

    @property
    def most_loss(self) -> float:
        """The largest possible loss of m labels."""
        m = known_dimension(self.dimension)
        return {
            "hamming": float(m),
            "subset": 1.0,
            "error_set": float(max(1, m // 2 * (m - m // 2))),
        }[self.loss_name]

    def loss(self, prediction: npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return the loss of a predicted set."""
        chosen, right = np.asarray(prediction) != 0, np.asarray(y) != 0
        missed, added = float((right & ~chosen).sum()), float((chosen & ~right).sum())
        if self.loss_name == "error_set":
            return missed * added
        return missed + added if self.loss_name == "hamming" else float(missed + added > 0)

    def represent(self, prediction: npt.ArrayLike) -> Vector:
        """Return 1 for each label in the set and -1 for the others, divided by sqrt(m)."""
        chosen = np.asarray(prediction) != 0
        return np.asarray(np.where(chosen, 1.0, -1.0) / np.sqrt(len(chosen)))

    def decode(self, scores: Vector) -> npt.NDArray[np.int64]:
        """Return the labels that score above 0."""
        return np.asarray(np.asarray(scores) > 0, dtype=np.int64)

    def worst_decode(self, scores: Vector, y: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the labels that score above 0, and those that score 0 and are irrelevant."""
        tied = np.asarray(scores) == 0
        return np.asarray(np.where(tied, np.asarray(y) == 0, self.decode(scores)), dtype=np.int64)

    def augmented_decode(self, scores: Vector, y: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the set with the largest sum of loss and similarity."""
        right = np.asarray(y) != 0
        flip_change = 2 / np.sqrt(len(scores))
        gains = np.where(right, -flip_change, flip_change) * scores  # by flipping each label
        if self.loss_name == "hamming":
            flip = 1 + gains > 0
        elif self.loss_name == "subset":
            flip = gains > 0
            if not flip.any():
                best = int(np.argmax(gains))
                flip[best] = 1 + gains[best] > 0
        else:
            flip = _error_set_flips(gains, right)
        return np.asarray(right ^ flip, dtype=np.int64)

    def correct(self, y: npt.ArrayLike, scores: Vector) -> npt.NDArray[np.int64]:
        """Return y as an indicator of 0 and 1."""
        return np.asarray(np.asarray(y) != 0, dtype=np.int64)

    def rule(self) -> dict[str, Any]:
        """Return the problem's description for the native core."""
        return {"kind": "multilabel", "set_loss": self.loss_name}


def _error_set_flips(gains: Vector, right: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the labels to flip: dropping a and adding b of them maximises ab plus their gains."""
    inside, outside = np.flatnonzero(right), np.flatnonzero(~right)
    inside = inside[np.argsort(-gains[inside], kind="stable")]
    outside = outside[np.argsort(-gains[outside], kind="stable")]
    drop = np.concatenate([[0.0], np.add.accumulate(gains[inside])])
    add = np.concatenate([[0.0], np.add.accumulate(gains[outside])])
    objective = np.outer(np.arange(len(drop)), np.arange(len(add))) + drop[:, None] + add
    a, b = np.unravel_index(int(np.argmax(objective)), objective.shape)
    flip = np.zeros(len(gains), dtype=bool)
    flip[inside[:a]] = True
    flip[outside[:b]] = True
    return flip
