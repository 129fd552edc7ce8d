"""A report as text: what users want to know first, then the measures, then the weak points."""

import math
from typing import TYPE_CHECKING

import numpy as np

from tagalong.evaluate.drift import drift_text
from tagalong.evaluate.label_table import confusion_lines, weakest_lines
from tagalong.evaluate.measures import MEASURES
from tagalong.evaluate.summary import coverage_lines, headline, order_warning
from tagalong.evaluate.text_table import aligned, plural

if TYPE_CHECKING:
    from tagalong.evaluate.report import Report

__all__ = ["report_text"]


def report_text(report: "Report", certificate: bool, estimate: str = "") -> str:
    """Return a report as text.

    The tables of labels are left out if the items came sorted by label: they are too good.

    Parameters
    ----------
    report : Report
        The measures of a run.
    certificate : bool
        Whether to add the certificate of the learner.
    estimate : str, default ""
        A line that follows the warning about items sorted by label.
    """
    is_sorted = report.order == "sorted"
    blocks = [
        [_items_line(report)],
        [*order_warning(report), *([estimate] if estimate else [])],
        [] if report.drift is None else [drift_text(report.drift)],
        headline(report),
        coverage_lines(report),
        _accuracy_table(report) if report.one_label else _measure_table(report),
        [] if is_sorted else weakest_lines(report),
        confusion_lines(report) if report.one_label and not is_sorted else [],
    ]
    if certificate and report.certificate is not None:
        blocks.append([f"certificate: {report.certificate}"])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _items_line(report: "Report") -> str:
    used = int(np.count_nonzero(report.counts[:, 2])) if len(report.counts) else 0
    line = f"{plural(report.items, 'item')}, {plural(len(report.labels), 'label')}"
    if used < len(report.labels):
        line += f" ({used:,} of them relevant at least once)"
    if report.one_label:
        line += ", one label per item"
    return line


def _measure_table(report: "Report") -> list[str]:
    """Return the measures for items with several labels."""
    from tagalong.evaluate.report import title

    rows = [_headings(report)]
    for name in MEASURES:
        values = [getattr(report.overall, name), getattr(report.recent, name)]
        rows.append([title(name, report.k), *(_number(value, name) for value in values)])
    rows = _without_equal_column(report, rows)
    return aligned(rows)


def _accuracy_table(report: "Report") -> list[str]:
    """Return the measures for items with one label each."""
    overall, recent, answers = report.coverage.overall, report.coverage.recent, report.answers
    measured = {
        "accuracy": (overall.accuracy, recent.accuracy),
        "right among the first 3": (overall.accuracy_of_3, recent.accuracy_of_3),
        "macro recall": (answers.macro_recall, answers.recent_macro_recall),
        "average precision": (report.overall.average_precision, report.recent.average_precision),
    }
    if report.grades:
        errors = report.mean_absolute_error, report.recent_mean_absolute_error
        measured = {"mean absolute error": errors, **measured}
    rows = [_headings(report)]
    rows += [[name, *(_number(value) for value in values)] for name, values in measured.items()]
    rows = _without_equal_column(report, rows)
    return aligned(rows)


def _headings(report: "Report") -> list[str]:
    return ["", "all", f"last {report.window:,}"]


def _without_equal_column(report: "Report", rows: list[list[str]]) -> list[list[str]]:
    """Leave out the column of the recent items if these are all items."""
    return rows if report.items > report.window else [row[:2] for row in rows]


def _number(value: float, name: str = "") -> str:
    if math.isnan(value):
        return "–"
    return f"{value:,.1f}" if name == "coverage" else f"{value:.4f}"
