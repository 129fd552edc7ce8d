"""The result of ``tagalong compare``."""

from dataclasses import dataclass

from tagalong.cli.compare_table import Row

__all__ = ["Compared"]


@dataclass(frozen=True)
class Compared:
    """The measures of learners on the same items.

    Parameters
    ----------
    rows : list of Row
        One row per learner.
    items, labels, unlabelled, skipped : int
        Number of items learnt, of different labels, of items without labels, and of items that
        could not be read.
    errors, links : list of str
        The first reasons; symbolic links that were left out.
    signal : int
        The signal that interrupted the comparison, 0 if none did.
    interrupted : str
        What the measures cover then.
    """

    rows: list[Row]
    items: int
    labels: int
    unlabelled: int
    skipped: int
    errors: list[str]
    links: list[str]
    signal: int = 0
    interrupted: str = ""
