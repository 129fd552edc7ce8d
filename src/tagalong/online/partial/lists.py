"""Lists of labels to show, and the result of a game on full labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong import parameters

__all__ = ["MaxLabels", "Played", "ShownList", "checked_sizes", "row_count"]

MaxLabels: TypeAlias = int | npt.ArrayLike | None
"""The largest number of labels in a list: of all rows, or one number per row."""


def checked_sizes(max_labels: int | npt.ArrayLike, rows: int) -> npt.NDArray[np.int64]:
    """Return the largest size of the list of each row, from one number or one per row.

    Parameters
    ----------
    max_labels : int or array of int of shape (rows,)
        The sizes, at least 1.
    rows : int
        The number of rows.
    """
    if np.ndim(max_labels) == 0:
        return np.full(rows, parameters.integer(max_labels, "max_labels", 1), dtype=np.int64)
    sizes = np.asarray(max_labels)
    if sizes.dtype.kind not in "iu" or sizes.ndim != 1:
        raise ValueError(
            f"max_labels must be an integer, or one integer per row, got {max_labels!r}"
        )
    if len(sizes) != rows:
        raise ValueError(f"X has {rows} rows but max_labels has {len(sizes)}")
    if (sizes < 1).any():
        row = int(np.argmax(sizes < 1))
        raise ValueError(f"max_labels: row {row} is {sizes[row]}; it must be at least 1")
    return sizes.astype(np.int64)


def row_count(X: Any) -> int:
    """Return the number of rows of a matrix that is not validated yet; 0 if it is none.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (rows, n)
        The matrix.
    """
    shape = np.shape(X)
    return shape[0] if shape else 0


@dataclass(frozen=True, eq=False)
class ShownList:
    """The labels to show for one row, in order, with the estimates that determined the list.

    Parameters
    ----------
    labels : list of labels
        The labels, in the order in which to show them.
    optimistic : array of float
        The upper confidence bound of each probability; it determines the list.
    probabilities : array of float
        The estimated probability of each label.
    widths : array of float
        The confidence width of each margin: how far the margin may be off.
    explores : array of bool
        Whether each label is shown only to explore: its estimate alone would not list it.
    """

    labels: list[Any]
    optimistic: npt.NDArray[np.float64]
    probabilities: npt.NDArray[np.float64]
    widths: npt.NDArray[np.float64]
    explores: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __str__(self) -> str:
        lines = zip(self.labels, self.probabilities, self.optimistic, self.explores, strict=True)
        return "\n".join(
            f"{'?' if explores else ' '} {likely:4.0%} (up to {most:4.0%})  {label}"
            for label, likely, most, explores in lines
        )


@dataclass(frozen=True, eq=False)
class Played:
    """The lists shown in the rounds of a game, and their losses.

    Parameters
    ----------
    shown : list of lists of labels
        The labels shown in each round, in order.
    accepted : list of lists of labels
        The relevant labels among those shown in each round, in the same order.
    losses : array of float
        Per round: ``miss_weight`` times the relevant labels that were not shown, plus
        ``1 - miss_weight`` times the slot costs of the labels that were shown and not relevant.
    partial_rank_losses : array of float
        Per round: the number of shown pairs in the wrong order, plus the number of slots for every
        relevant label that was not shown.
    """

    shown: list[list[Any]]
    accepted: list[list[Any]]
    losses: npt.NDArray[np.float64]
    partial_rank_losses: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.losses)
