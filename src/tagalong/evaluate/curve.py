"""The measures of a run at a bounded number of points."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.answers import COLUMNS, TARGETS
from tagalong.evaluate.measures import SUMS, means, share
from tagalong.learning.certificates import AnyCertificate

__all__ = ["MAX_POINTS", "Curve", "point"]

MAX_POINTS = 200

_CERTIFIED = ("rounds", "mistakes", "loss", "dual", "gain_per_mistake")
_ANSWERS = (*COLUMNS, *(f"recent_{name}" for name in COLUMNS))
_MEASURED = (
    "items",
    *SUMS,
    "macro_f1",
    *(f"recent_{name}" for name in SUMS),
    "recent_macro_f1",
    *(f"certified_{name}" for name in _CERTIFIED),
)
_KEPT = (*_MEASURED, *_ANSWERS)

Columns = dict[str, npt.NDArray[np.float64]]
Sums = dict[str, float]


def point(
    items: int,
    overall: tuple[Sums, float],
    recent: tuple[Sums, float],
    certificate: AnyCertificate | None,
) -> list[float]:
    """Return one point of a curve: sums and macro-F1 of all rows and of the recent rows.

    The counts of answers at its end are NaN; `AnswerProgress.fill_point` writes them.

    `Curve.columns` computes the measures from the sums, as most points are dropped before that.
    """
    certified = [math.nan] * len(_CERTIFIED)
    if certificate is not None:
        certified = [float(getattr(certificate, name, math.nan)) for name in _CERTIFIED]
    measured = [*overall[0].values(), overall[1], *recent[0].values(), recent[1]]
    return [items, *measured, *certified, *[math.nan] * len(_ANSWERS)]


class Curve:
    """Points at multiples of a spacing, which doubles when there are too many points.

    The positions of the points depend on the number of items only, not on time or batches.

    Attributes
    ----------
    spacing : int
        Number of items between two points.
    """

    def __init__(self) -> None:
        self.spacing = 1
        self._points: list[list[float]] = []

    def __len__(self) -> int:
        return len(self._points)

    def expect(self, items: int) -> None:
        """Set the spacing for an expected number of items, so that no point is dropped later."""
        while items >= MAX_POINTS * self.spacing:
            self._double()

    def next_after(self, items: int) -> int:
        """Return the number of items at which the next point is due."""
        return (items // self.spacing + 1) * self.spacing

    def is_due(self, items: int) -> bool:
        """Whether a point is due at a number of items."""
        return items % self.spacing == 0

    def add(self, values: list[float]) -> None:
        """Add a point that is due."""
        self._points.append(values)
        if len(self._points) >= MAX_POINTS:
            self._double()

    def _double(self) -> None:
        self.spacing *= 2
        self._points = [kept for kept in self._points if kept[0] % self.spacing == 0]

    def columns(self, now: list[float]) -> Columns:
        """Return the measures at all points, as columns by name.

        Parameters
        ----------
        now : list of float
            The present values, which become the last point unless the curve already has it.
        """
        kept = self._kept(now)
        found = {"items": kept["items"], "mistakes_so_far": kept["any_mistake"]}
        for prefix in ("", "recent_"):
            measures = means({name: kept[prefix + name] for name in SUMS})
            measures["macro_f1"] = kept[prefix + "macro_f1"]
            measures |= _answer_shares({name: kept[prefix + name] for name in COLUMNS})
            found |= {prefix + name: values for name, values in measures.items()}
        return found | {f"certified_{name}": kept[f"certified_{name}"] for name in _CERTIFIED}

    def answer_counts(self, now: list[float]) -> Columns:
        """Return ``items`` and the counts of answers at all points, as columns by name.

        The counts of the recent items are named ``recent_...``.

        Parameters
        ----------
        now : list of float
            The present values.
        """
        kept = self._kept(now)
        return {name: kept[name] for name in ("items", *_ANSWERS)}

    def _kept(self, now: list[float]) -> Columns:
        rows = self._points
        if not rows or rows[-1][0] < now[0]:
            rows = [*rows, now]
        return dict(zip(_KEPT, np.array(rows, dtype=np.float64).T.copy(), strict=True))

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the state as a dict of ``arrays`` and ``numbers``."""
        table = np.array(self._points, dtype=np.float64).reshape(-1, len(_KEPT))
        return {"arrays": {"points": table}, "numbers": {"spacing": self.spacing}}

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Replace the state by one that ``state`` returned."""
        table = np.asarray(state["arrays"]["points"], dtype=np.float64)
        spacing = int(state["numbers"]["spacing"])
        if table.ndim == 2 and table.shape[1] == len(_MEASURED):  # an older version
            table = np.hstack([table, np.full((len(table), len(_ANSWERS)), np.nan)])
        if table.ndim != 2 or table.shape[1] != len(_KEPT) or spacing < 1:
            raise ValueError(
                f"points must have {len(_KEPT)} columns and spacing must be at least 1, got points "
                f"of shape {table.shape} and spacing {spacing}"
            )
        self._points, self.spacing = table.tolist(), spacing


def _answer_shares(counts: Columns) -> Columns:
    """Return the accuracy of the first suggestions, and what could be filed without asking."""
    found = {
        "accuracy": share(counts["right"], counts["suggested"]),
        "accuracy_of_3": share(counts["right_of_3"], counts["suggested"]),
    }
    for target in TARGETS:
        percent = round(100 * target)
        sure, marked_right = counts[f"sure_{percent}"], counts[f"marked_right_{percent}"]
        found[f"share_{percent}"] = share(sure, counts["judged"])
        found[f"precision_{percent}"] = share(counts[f"sure_right_{percent}"], sure)
        found[f"marked_precision_{percent}"] = share(marked_right, counts[f"marked_{percent}"])
        found[f"found_{percent}"] = share(marked_right, counts["relevant"])
    return found
