"""From how many answers on the figures mean something."""

from tagalong.evaluate import Report

__all__ = ["ANSWERS_FOR_CALIBRATION", "ANSWERS_FOR_CHARTS", "recent_items"]

ANSWERS_FOR_CHARTS = 50
"""Below this number a share changes too much with each answer to be drawn."""
ANSWERS_FOR_CALIBRATION = 100
"""Below this number most groups of percentages have only a few suggestions."""


def recent_items(report: Report) -> int:
    """Return the number of items that the recent figures are about.

    Parameters
    ----------
    report : Report
        The figures.
    """
    return min(report.window, report.items)
