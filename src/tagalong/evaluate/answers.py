"""How often the first suggestion was right, and how much could be filed without asking."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["COLUMNS", "TARGETS", "Answers", "AtTarget", "Coverage", "Start"]

TARGETS = (0.90, 0.95, 0.99)
"""The precisions at which the share of items that can be filed without asking is counted."""

_PER_TARGET = ("sure", "sure_right", "marked", "marked_right")
_COUNTS = ("rows", "suggested", "right", "right_of_3", "judged", "in_runs", "one")
COLUMNS = (
    *_COUNTS,
    "relevant",
    *(f"{name}_{round(100 * target)}" for name in _PER_TARGET for target in TARGETS),
)
"""The counts of a row, in the order of the native ``AnswerCounts``; `Answers.from_counts` reads
their sums."""


@dataclass(frozen=True)
class AtTarget:
    """How much could be filed without asking at a required precision.

    Parameters
    ----------
    target : float
        The required precision.
    items : int
        Number of items with a first suggestion whose confidence is known.
    sure : int
        Number of these items whose first suggestion was sure at the target.
    right : int
        Number of the sure first suggestions that were right.
    relevant : int
        Number of right labels of all items.
    marked : int
        Number of labels in the first ten places that were sure at the target.
    marked_right : int
        Number of these labels that were right.
    """

    target: float
    items: int
    sure: int
    right: int
    relevant: int
    marked: int
    marked_right: int

    @property
    def share(self) -> float:
        """Share of the items whose first suggestion was sure."""
        return _ratio(self.sure, self.items)

    @property
    def precision(self) -> float:
        """Share of right ones among the sure first suggestions."""
        return _ratio(self.right, self.sure)

    @property
    def marked_precision(self) -> float:
        """Share of right ones among all labels that were sure."""
        return _ratio(self.marked_right, self.marked)

    @property
    def found(self) -> float:
        """Share of all right labels that were marked sure."""
        return _ratio(self.marked_right, self.relevant)

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        names = ("share", "precision", "marked_precision", "found")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class Answers:
    """The first suggestions of some items.

    Parameters
    ----------
    rows : int
        Number of items.
    suggested : int
        Number of items with a first suggestion of which it is known whether it is right. The
        first item of a new model has none.
    right : int
        Number of right first suggestions.
    right_of_3 : int
        Number of items with a right label among the first three suggestions.
    judged : int
        Number of items with a first suggestion and the learner's confidence in it.
    in_runs : int
        Number of items that came while the labels came in runs far beyond chance.
    one : int
        Number of items with exactly one label.
    targets : tuple of AtTarget
        How much could be filed without asking, for each of ``TARGETS``.
    """

    rows: int
    suggested: int
    right: int
    right_of_3: int
    judged: int
    in_runs: int
    one: int
    targets: tuple[AtTarget, ...]

    @classmethod
    def from_counts(cls, counts: npt.NDArray[np.int64]) -> "Answers":
        """Return the answers that follow from the sums of counts over rows.

        Parameters
        ----------
        counts : array
            One count for each name in ``COLUMNS``.
        """
        by_name = dict(zip(COLUMNS, (int(count) for count in counts), strict=True))
        targets = []
        for target in TARGETS:
            sure, right, marked, marked_right = (
                by_name[f"{name}_{round(100 * target)}"] for name in _PER_TARGET
            )
            targets.append(
                AtTarget(
                    target,
                    by_name["judged"],
                    sure,
                    right,
                    by_name["relevant"],
                    marked,
                    marked_right,
                )
            )
        return cls(**{name: by_name[name] for name in _COUNTS}, targets=tuple(targets))

    @classmethod
    def none(cls) -> "Answers":
        """Return the answers of no rows."""
        return cls.from_counts(np.zeros(len(COLUMNS), np.int64))

    @property
    def accuracy(self) -> float:
        """Share of right first suggestions; NaN if there are none."""
        return _ratio(self.right, self.suggested)

    @property
    def accuracy_of_3(self) -> float:
        """Share of the items with a right label among the first three suggestions."""
        return _ratio(self.right_of_3, self.suggested)

    def at(self, target: float) -> AtTarget:
        """Return how much could be filed without asking at one of ``TARGETS``.

        Parameters
        ----------
        target : float
            The required precision: 0.9, 0.95 or 0.99.
        """
        for found in self.targets:
            if math.isclose(found.target, target):
                return found
        raise ValueError(f"target must be one of {', '.join(map(str, TARGETS))}, got {target!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        names = (*_COUNTS, "accuracy", "accuracy_of_3")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        return {**found, "targets": [one.to_dict() for one in self.targets]}


@dataclass(frozen=True)
class Start:
    """From which item on items could be filed without asking at a required precision.

    Parameters
    ----------
    target : float
        The required precision.
    first_item : int or None
        Number, from 1, of the first item whose first suggestion was sure.
    half_from : int or None
        The earliest point of the curve from which on, at this and every later point, the first
        suggestions of at least half of the last ``window`` items were sure. None if there is none.
    """

    target: float
    first_item: int | None
    half_from: int | None


@dataclass(frozen=True)
class Coverage:
    """The share that could be filed without asking, and how often first suggestions were right.

    Parameters
    ----------
    overall, recent : Answers
        The first suggestions of all items, and of the recent items.
    starts : tuple of Start
        From which item on items could be filed without asking, for each of ``TARGETS``.
    """

    overall: Answers
    recent: Answers
    starts: tuple[Start, ...]

    @classmethod
    def none(cls) -> "Coverage":
        """Return the coverage of no rows."""
        return cls(Answers.none(), Answers.none(), starts_of([0] * len(TARGETS), {}))

    @property
    def is_known(self) -> bool:
        """Whether the learner gave its confidence for any item."""
        return self.overall.judged > 0

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        return {
            "overall": self.overall.to_dict(),
            "recent": self.recent.to_dict(),
            "starts": [asdict(start) for start in self.starts],
        }


def starts_of(
    first_items: Sequence[int], curve: dict[str, npt.NDArray[np.float64]]
) -> tuple[Start, ...]:
    """Return from which item on items could be filed without asking.

    Parameters
    ----------
    first_items : sequence of int
        For each target the number of the first sure item, 0 if there is none.
    curve : dict of arrays
        ``items``, ``recent_judged`` and ``recent_sure_90`` and so on, at points of the run.
    """
    found = []
    for target, first in zip(TARGETS, first_items, strict=True):
        half = _half_from(curve, f"recent_sure_{round(100 * target)}") if first else None
        found.append(Start(target, int(first) or None, half))
    return tuple(found)


def _half_from(curve: dict[str, npt.NDArray[np.float64]], name: str) -> int | None:
    if not curve:
        return None
    judged, sure = (np.nan_to_num(curve[column]) for column in ("recent_judged", name))
    holds = (judged > 0) & (2 * sure >= judged)
    fails = np.flatnonzero(~holds)
    start = fails[-1] + 1 if len(fails) else 0
    return int(curve["items"][start]) if start < len(holds) else None


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
