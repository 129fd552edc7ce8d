"""The finding that the answers have changed: items are labelled otherwise than before."""

from collections.abc import Hashable
from dataclasses import dataclass

__all__ = ["Drift"]


@dataclass(frozen=True, slots=True)
class Drift:
    """The last change of the answers that a learner noticed.

    Parameters
    ----------
    since : int
        The item from which on the answers have changed, as the learner estimates it: the number
        of the judged round, from 1.
    labels : tuple of labels
        The labels that the change affected, at most five, the most affected first.
    active : bool
        Whether the change is recent: its rankings have not recovered yet, and it was noticed less
        than 1,000 items ago.
    """

    since: int
    labels: tuple[Hashable, ...]
    active: bool
