"""The first suggestions of a run while it proceeds: right ones, sure ones, calibration."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong.evaluate.answers import COLUMNS, TARGETS, Answers, Coverage, starts_of
from tagalong.evaluate.calibration import BINS, SETTLED, Calibration, calibration_of, checked_sums
from tagalong.evaluate.confusion import Confused, ConfusionCounts
from tagalong.evaluate.judged_rows import RowPart, with_places
from tagalong.evaluate.label_counts import LABEL_COLUMNS, checked_table, macro_recall
from tagalong.evaluate.recent_rows import RecentRows
from tagalong.learning.rounds import Round, Rounds

__all__ = ["LABELS_OF_A_ROW", "AnswerProgress", "AnswerReport"]

BUFFER = 256

# After the counts, a recent row has its only label, the first suggestion, and the probability of
# the first suggestion in multiples of 2**-30; -1 where there is none.
_RECENT = (*COLUMNS, "only", "first", "probability")
_UNIT = 2.0**30
_ONLY, _FIRST = _RECENT.index("only"), _RECENT.index("first")
LABELS_OF_A_ROW = [_ONLY, _FIRST]
"""The columns of the recent rows that are numbers of labels."""
_SUGGESTED, _RIGHT = COLUMNS.index("suggested"), COLUMNS.index("right")
_ARRAYS = ("answers", "recent_answers", "first_sure", "calibration", "label_answers", "confusion")
_SURE = [COLUMNS.index(f"sure_{round(100 * target)}") for target in TARGETS]

Arrays = dict[str, npt.NDArray[Any]]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AnswerReport:
    """The first suggestions of a run.

    Parameters
    ----------
    coverage : Coverage
        How often the first suggestion was right, and how much could be filed without asking.
    calibration : Calibration
        How well the probabilities agree with what was right.
    confusion : tuple of Confused
        The most frequent wrong first suggestions of items with one label.
    confusion_counts : array of shape (pairs, 3)
        All such pairs that are counted, the most frequent first: the numbers of the right label and
        of the label that was suggested first, and the number of items.
    macro_recall, recent_macro_recall : float
        The mean over the labels of the share of their items with a right first suggestion.
    label_counts : array of shape (labels, 5)
        Counts of each label.
    recent_confidence : pair of arrays
        The probability of the first suggestion of the recent items, and whether it was right.
    recent_first : array of shape (recent items, 2)
        The number of the only label of each recent item, the oldest first, and that of the label
        that was suggested first; -1 where there is none.
    """

    coverage: Coverage
    calibration: Calibration
    confusion: tuple[Confused, ...]
    confusion_counts: Counts
    macro_recall: float
    recent_macro_recall: float
    label_counts: Counts
    recent_confidence: tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]
    recent_first: Counts

    @property
    def mean_absolute_error(self) -> float:
        """The mean distance of the first suggestion's number from that of the only right label.

        NaN if there are no such items, or if not all wrong suggestions are counted in pairs.
        """
        answered, right = (
            int(self.label_counts[:, LABEL_COLUMNS.index(name)].sum())
            for name in ("answered", "suggested_right")
        )
        true, first, items = self.confusion_counts.T
        if not answered or items.sum() != answered - right:
            return math.nan
        return float((np.abs(true - first) * items).sum()) / answered

    @property
    def recent_mean_absolute_error(self) -> float:
        """The same mean over the recent items."""
        known = self.recent_first[(self.recent_first >= 0).all(axis=1)]
        return float(np.abs(known[:, 0] - known[:, 1]).mean()) if len(known) else math.nan


class AnswerProgress:
    """Counts the first suggestions of a run. Rows wait until there are enough of them.

    Parameters
    ----------
    window : int
        Number of most recent rows that the recent counts cover.
    """

    def __init__(self, window: int):
        self._window = window
        self._totals = np.zeros(len(COLUMNS), np.int64)
        self._recent_totals = np.zeros(len(COLUMNS), np.int64)
        self._recent = RecentRows(window, len(_RECENT))
        self._first_sure = np.zeros(len(TARGETS), np.int64)
        self._counts = core.AnswerCounts(TARGETS, BINS, SETTLED)
        self._confusion = ConfusionCounts()
        self._waiting: list[RowPart] = []
        self._waiting_rows = 0
        self._points: list[tuple[int, list[float]]] = []
        self._items = 0

    def add(self, round: Round) -> None:
        """Add one round."""
        self._add(RowPart.from_round(round), 1)

    def add_rounds(self, rounds: Rounds, start: int, stop: int) -> None:
        """Add the rows of a batch from start to stop, which is excluded."""
        self._add(RowPart.from_rounds(rounds, start, stop), stop - start)

    def _add(self, part: RowPart, rows: int) -> None:
        self._waiting.append(part)
        self._waiting_rows += rows
        if self._waiting_rows >= BUFFER:
            self.count_waiting()

    def fill_point(self, point: list[float]) -> None:
        """Write the present counts to the end of a point of the curve, at once or later.

        Parameters
        ----------
        point : list of float
            The point. It is complete after the next `count_waiting`.
        """
        if self._waiting_rows:
            self._points.append((self._waiting_rows, point))
        else:
            point[-2 * len(COLUMNS) :] = [*self._totals.tolist(), *self._recent_totals.tolist()]

    def count_waiting(self) -> None:
        """Count the rows that wait, and complete the points of the curve among them."""
        if not self._waiting_rows:
            return
        rows, points = self._counted_rows(), self._points
        self._waiting, self._waiting_rows, self._points = [], 0, []
        table = rows[:, : len(COLUMNS)]
        self._note_first_sure(table, self._items + 1)
        wrong = (rows[:, _SUGGESTED] > 0) & (rows[:, _RIGHT] == 0) & (rows[:, _ONLY] >= 0)
        if wrong.any():
            self._confusion.add(rows[wrong, _ONLY].tolist(), rows[wrong, _FIRST].tolist())
        if points:
            self._fill_points(points, table)
        sums = table.sum(axis=0)
        left = self._recent.append(rows)
        self._totals += sums
        self._recent_totals += sums - left[: len(COLUMNS)]
        self._items += len(rows)

    def _counted_rows(self) -> Counts:
        """Count the rows that wait, and return their columns ``_RECENT``."""
        rows = np.empty((self._waiting_rows, len(_RECENT)), np.int64)
        start = 0
        for part, places in with_places(self._waiting):
            stop = start + len(part.scores)
            part.count_in(self._counts, places, self._items + 1 + start, rows[start:stop])
            start = stop
        return rows

    def _fill_points(self, points: list[tuple[int, list[float]]], table: Counts) -> None:
        """Write to each point the counts after so many rows of a table."""
        before = self._recent.rows[:, : len(COLUMNS)]
        sums = np.zeros((len(before) + len(table) + 1, len(COLUMNS)), np.int64)
        np.cumsum(np.vstack([before, table]), axis=0, out=sums[1:])
        ends = np.array([rows for rows, _ in points]) + len(before)
        totals = self._totals + sums[ends] - sums[len(before)]
        recent = sums[ends] - sums[np.maximum(ends - self._window, 0)]
        for (_, point), counts in zip(points, np.hstack([totals, recent]).tolist(), strict=True):
            point[-2 * len(COLUMNS) :] = counts

    def _note_first_sure(self, table: Counts, first_item: int) -> None:
        for target, column in enumerate(_SURE):
            if not self._first_sure[target] and table[:, column].any():
                self._first_sure[target] = first_item + int(table[:, column].argmax())

    def counts(self) -> tuple[Counts, Counts]:
        """Return the counts ``COLUMNS`` of all rows and of the recent rows."""
        self.count_waiting()
        return self._totals.copy(), self._recent_totals.copy()

    def report(
        self,
        names: Sequence[Hashable],
        curve: dict[str, npt.NDArray[np.float64]],
        frozen: bool = False,
    ) -> AnswerReport:
        """Return the counts so far.

        Parameters
        ----------
        names : sequence of labels
            The names of the labels, in the order of their numbers.
        curve : dict of arrays
            The counts at points of the run, by name.
        frozen : bool, default False
            Whether the model did not learn from the rounds.
        """
        overall, recent = self.counts()
        counted = self._counts.labels()
        labels = np.zeros((max(len(names), len(counted)), len(LABEL_COLUMNS)), np.int64)
        labels[: len(counted)] = counted
        answered, right = (
            labels[:, LABEL_COLUMNS.index(name)] for name in ("answered", "suggested_right")
        )
        return AnswerReport(
            coverage=Coverage(
                Answers.from_counts(overall),
                Answers.from_counts(recent),
                starts_of(self._first_sure.tolist(), curve),
            ),
            calibration=calibration_of(self._counts.calibration(), frozen),
            confusion=self._confusion.most_frequent(names),
            confusion_counts=self._confusion.state(),
            macro_recall=macro_recall(answered, right),
            recent_macro_recall=self._recent_macro_recall(),
            label_counts=labels,
            recent_confidence=self._recent_confidence(),
            recent_first=self._recent.rows[:, LABELS_OF_A_ROW],
        )

    def _recent_macro_recall(self) -> float:
        rows = self._recent.rows
        # The first suggestion may be a label that is gone: whether it was right is still counted.
        answered = rows[(rows[:, _ONLY] >= 0) & (rows[:, _SUGGESTED] > 0)]
        items = np.bincount(answered[:, _ONLY])
        right = np.bincount(answered[answered[:, _RIGHT] > 0, _ONLY], minlength=len(items))
        return macro_recall(items, right)

    def _recent_confidence(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        judged = self._recent.rows[self._recent.rows[:, -1] >= 0]
        return judged[:, -1] / _UNIT, judged[:, COLUMNS.index("right")] > 0

    def state(self) -> Arrays:
        """Return the state as arrays by name."""
        self.count_waiting()
        return {
            "answers": self._totals.copy(),
            "recent_answers": self._recent.rows.copy(),
            "first_sure": self._first_sure.copy(),
            "calibration": self._counts.calibration(),
            "label_answers": self._counts.labels(),
            "confusion": self._confusion.state(),
        }

    def restore(self, arrays: Arrays, items: int) -> None:
        """Replace the state; if the arrays lack it, count from the next item on.

        Parameters
        ----------
        arrays : dict of arrays
            The result of ``state``, or arrays of an older version, which has no such counts.
        items : int
            Number of rounds so far.
        """
        self._items = items
        if "answers" not in arrays:
            return
        for name in _ARRAYS:
            if not (np.abs(arrays[name]) < 2**62).all():
                raise ValueError(f"{name} must have counts and labels, got {arrays[name].max()}")
        totals, recent, first = (
            np.array(arrays[name], np.int64) for name in ("answers", "recent_answers", "first_sure")
        )
        kept = min(int(totals[0]) if totals.size else 0, self._window)
        for name, array, shape in (
            ("answers", totals, (len(COLUMNS),)),
            ("recent_answers", recent, (kept, len(_RECENT))),
            ("first_sure", first, (len(TARGETS),)),
        ):
            if array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
        self._totals, self._first_sure = totals, first
        self._recent.append(recent)
        self._recent_totals = recent[:, : len(COLUMNS)].sum(axis=0)
        labels = checked_table(arrays["label_answers"])
        self._counts.restore(checked_sums(arrays["calibration"]), labels)
        self._confusion.restore(arrays["confusion"])
        if np.max(arrays["confusion"][:, :2], initial=-1) >= len(labels):
            raise ValueError("confusion names a label that does not exist")
