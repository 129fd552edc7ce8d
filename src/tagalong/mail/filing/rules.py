"""Rules of a filing run: which messages it moves."""

from dataclasses import dataclass

__all__ = ["MIN_AUDIT", "TARGETS", "FilingRules", "is_share"]

TARGETS = (0.9, 0.95, 0.99)
"""Target precisions that a dry run compares."""

MIN_AUDIT = 0.001
"""Smallest share of spot checks other than none: each answer stands for at most 1,000 messages."""


@dataclass(frozen=True, slots=True)
class FilingRules:
    """Which messages a run moves, and when it takes place.

    Parameters
    ----------
    min_precision : float
        Target fraction of filed messages that are filed correctly.
    min_learnt : int
        Number of messages that the model must have learnt before any message is filed.
    only_new : bool
        Whether to leave out messages that a mail program has already seen.
    limit : int, optional
        Maximum number of moves and new spot checks.
    now : int
        Time of the run for the log, in seconds since 1970.
    other_targets : tuple of float
        Target precisions to count moves for.
    """

    min_precision: float
    min_learnt: int
    only_new: bool = False
    limit: int | None = None
    now: int = 0
    other_targets: tuple[float, ...] = ()


def is_share(audit: float) -> bool:
    """Whether a number is a share of spot checks: 0, or from `MIN_AUDIT` to 1."""
    return audit == 0 or MIN_AUDIT <= audit <= 1
