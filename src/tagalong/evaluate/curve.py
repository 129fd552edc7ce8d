"""Figures over the course of a run, at a bounded number of points."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.measures import SUMS, means
from tagalong.learning.certificates import AnyCertificate

__all__ = ["MOST_POINTS", "Curve", "point"]

MOST_POINTS = 200

_CERTIFIED = ("rounds", "mistakes", "loss", "dual", "gain_per_mistake")
_KEPT = (
    "items",
    *SUMS,
    "macro_f1",
    *(f"recent_{name}" for name in SUMS),
    "recent_macro_f1",
    *(f"certified_{name}" for name in _CERTIFIED),
)

Columns = dict[str, npt.NDArray[np.float64]]
Sums = dict[str, float]


def point(
    items: int,
    overall: tuple[Sums, float],
    recent: tuple[Sums, float],
    certificate: AnyCertificate | None,
) -> list[float]:
    """Return what a curve keeps of a moment: sums and macro-F1 of all rows and of the last ones.

    The measures follow from them when they are asked for; most points are dropped before.
    """
    certified = [math.nan] * len(_CERTIFIED)
    if certificate is not None:
        certified = [float(getattr(certificate, name, math.nan)) for name in _CERTIFIED]
    return [items, *overall[0].values(), overall[1], *recent[0].values(), recent[1], *certified]


class Curve:
    """Points at multiples of a spacing that doubles whenever there are too many.

    Where the points are depends on the number of items alone, never on time or batches.

    Attributes
    ----------
    spacing : int
        Items from one point to the next.
    """

    def __init__(self) -> None:
        self.spacing = 1
        self._points: list[list[float]] = []

    def __len__(self) -> int:
        return len(self._points)

    def expect(self, items: int) -> None:
        """Say how many items there will be: points that would be dropped by then are not made."""
        while items >= MOST_POINTS * self.spacing:
            self._double()

    def next_after(self, items: int) -> int:
        """Return the number of items at which the next point is due."""
        return (items // self.spacing + 1) * self.spacing

    def is_due(self, items: int) -> bool:
        """Whether there is to be a point at a number of items."""
        return items % self.spacing == 0

    def add(self, values: list[float]) -> None:
        """Add a point that is due."""
        self._points.append(values)
        if len(self._points) >= MOST_POINTS:
            self._double()

    def _double(self) -> None:
        self.spacing *= 2
        self._points = [kept for kept in self._points if kept[0] % self.spacing == 0]

    def columns(self, now: list[float]) -> Columns:
        """Return the measures at all points, as columns by name.

        Parameters
        ----------
        now : list of float
            The present moment: the last point, unless there is a point at it already.
        """
        rows = self._points
        if not rows or rows[-1][0] < now[0]:
            rows = [*rows, now]
        kept = dict(zip(_KEPT, np.array(rows, dtype=np.float64).T.copy(), strict=True))
        found = {"items": kept["items"], "mistakes_so_far": kept["any_mistake"]}
        for of in ("", "recent_"):
            measures = means({name: kept[of + name] for name in SUMS})
            measures["macro_f1"] = kept[of + "macro_f1"]
            found |= {of + name: values for name, values in measures.items()}
        return found | {f"certified_{name}": kept[f"certified_{name}"] for name in _CERTIFIED}

    def state(self) -> dict[str, dict[str, Any]]:
        """Return everything, as ``arrays`` and ``numbers``."""
        table = np.array(self._points, dtype=np.float64).reshape(-1, len(_KEPT))
        return {"arrays": {"points": table}, "numbers": {"spacing": self.spacing}}

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Take over a state."""
        table = np.asarray(state["arrays"]["points"], dtype=np.float64)
        spacing = int(state["numbers"]["spacing"])
        if table.ndim != 2 or table.shape[1] != len(_KEPT) or spacing < 1:
            raise ValueError(
                f"a curve has points of {len(_KEPT)} numbers and a spacing of at least 1, "
                f"got points of shape {table.shape} and the spacing {spacing}"
            )
        self._points, self.spacing = table.tolist(), spacing
