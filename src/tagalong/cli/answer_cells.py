"""Cells of progress displays: how often the first suggestion was right, what could be filed."""

from tagalong.evaluate import Report
from tagalong.evaluate.text_table import percent

__all__ = ["answer_cells"]


def answer_cells(report: Report) -> dict[str, str]:
    """Return how often the first suggestion was right, and what could be filed, by heading.

    Parameters
    ----------
    report : Report
        The measures so far.
    """
    overall, recent = report.coverage.overall, report.coverage.recent
    cells = {"first right": percent(overall.accuracy)}
    if report.items > report.window:
        cells[f"last {report.window:,}"] = percent(recent.accuracy)
    if report.order == "sorted":
        cells["order"] = "sorted by label, figures not to be trusted"
    elif report.coverage.is_known:
        at = recent.at(0.95)
        cells["sure at 95 %"] = percent(at.share if report.one_label else at.found)
    return cells
