"""Lists of labels that were, or are to be, shown; and what a game on full labels cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Played", "ShownList"]


@dataclass(frozen=True, eq=False)
class ShownList:
    """The labels to show for one row, in order, and why.

    Parameters
    ----------
    labels : list of labels
        In the order in which they are to be shown.
    optimistic : array of float
        The largest probability that each may still have: they are shown by this.
    probabilities : array of float
        How likely each is by what is known.
    widths : array of float
        How far the margin behind the probability may be off.
    explores : array of bool
        Which would not be shown by what is known alone: they are shown mainly to explore.
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
    """What was shown in the rounds of a game, and what it cost.

    Parameters
    ----------
    shown : list of lists of labels
        A round's labels, in order.
    accepted : list of lists of labels
        Those of them that were relevant, in the same order.
    losses : array of float
        Of each round: ``miss_weight`` times the relevant labels that were not shown, plus
        ``1 - miss_weight`` times the slot costs of the labels that were shown and not relevant.
    partial_rank_losses : array of float
        Of each round: pairs of shown labels in the wrong order, plus the number of slots for
        every relevant label that was not shown.
    """

    shown: list[list[Any]]
    accepted: list[list[Any]]
    losses: npt.NDArray[np.float64]
    partial_rank_losses: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.losses)
