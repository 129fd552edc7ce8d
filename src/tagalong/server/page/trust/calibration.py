"""Whether the percentages of suggestions mean what they say."""

from dataclasses import dataclass

import numpy as np

from tagalong.evaluate import Report
from tagalong.evaluate.calibration import BINS, Reliability
from tagalong.evaluate.text_table import percent
from tagalong.server.page.charts import CalibrationChart, calibration_chart
from tagalong.server.page.charts.calibration_chart import SaidAndRight
from tagalong.server.page.trust.stages import ANSWERS_FOR_CALIBRATION

__all__ = ["CalibrationFacts", "calibration_facts"]


@dataclass(frozen=True, slots=True)
class CalibrationFacts:
    """Percentages and shares of right suggestions.

    Parameters
    ----------
    name : str
        Which suggestions: "first suggestion" or "first five suggestions".
    chart : CalibrationChart
        The chart.
    points : str
        By how many percentage points the percentages were off, on average.
    suggestions : int
        Number of suggestions.
    summary : str
        What the chart shows, in a sentence.
    rows : tuple of tuples of str
        The table: range of the percentage, suggestions, mean percentage, share that was right.
    """

    name: str
    chart: CalibrationChart
    points: str
    suggestions: int
    summary: str
    rows: tuple[tuple[str, ...], ...]


def calibration_facts(report: Report) -> tuple[CalibrationFacts, ...]:
    """Return the calibration of the first suggestions, and with several labels of the first five.

    There is nothing if the suggestions are too few, or if the items came sorted by label.

    Parameters
    ----------
    report : Report
        The figures.
    """
    found = report.calibration
    if report.order == "sorted" or int(found.first.counts.sum()) < ANSWERS_FOR_CALIBRATION:
        return ()
    parts = {"first suggestion": found.first}
    if not report.one_label:
        parts["first five suggestions"] = found.first_five
    return tuple(_facts(name, part) for name, part in parts.items())


def _facts(name: str, part: Reliability) -> CalibrationFacts:
    groups = [
        SaidAndRight(
            i / BINS,
            (i + 1) / BINS,
            float(part.predicted[i] / part.counts[i]),
            int(part.right[i]),
            int(part.counts[i]),
        )
        for i in np.flatnonzero(part.counts).tolist()
    ]
    points = f"{100 * part.error:.1f}"
    summary = (
        f"The {name}: on average the percentage was {points} points away from the share that was "
        "right."
    )
    rows = tuple(
        (
            f"{100 * one.low:.0f} to {100 * one.high:.0f} %",
            f"{one.count:,}",
            percent(one.said),
            percent(one.share),
        )
        for one in groups
    )
    return CalibrationFacts(
        name, calibration_chart(groups), points, int(part.counts.sum()), summary, rows
    )
