"""The reasons for a label: what each word of an item adds to its score."""

import math
from dataclasses import dataclass

from tagalong.tagger import Explanation

__all__ = ["ReasonRow", "Reasons", "reasons_of"]

MOST_ROWS = 12
LEAST_VALUE = 0.005
"""Smaller values would be shown as zero."""


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """A word or value in the table of reasons.

    Parameters
    ----------
    name : str
        The word.
    value : float
        What it adds to the score.
    share : float
        Its size as a share of the largest one.
    """

    name: str
    value: float
    share: float


@dataclass(frozen=True, slots=True)
class Reasons:
    """The score of a label as a sum.

    Parameters
    ----------
    rows : list of ReasonRow
        The words that add or take most.
    others : int
        Number of further words.
    rest : float
        What these add together.
    base : float
        The score without any word.
    score : float
        The sum of all.
    """

    rows: list[ReasonRow]
    others: int
    rest: float
    base: float
    score: float


def reasons_of(explanation: Explanation) -> Reasons:
    """Return an explanation as a table.

    Parameters
    ----------
    explanation : Explanation
        The explanation.
    """
    parts = explanation.parts
    count = sum(abs(value) >= LEAST_VALUE for _, value in parts[:MOST_ROWS])
    shown, others = parts[:count], [part for part in parts[count:] if part[1]]
    largest = max((abs(value) for _, value in shown), default=1.0)
    return Reasons(
        [ReasonRow(name, value, abs(value) / largest) for name, value in shown],
        len(others),
        math.fsum(value for _, value in others),
        explanation.base,
        explanation.score,
    )
