"""The weakest labels of a run and the labels that were confused, as tables."""

from typing import TYPE_CHECKING

from tagalong.evaluate.label_names import shortened
from tagalong.evaluate.measures import LabelMeasures
from tagalong.evaluate.text_table import aligned, percent

if TYPE_CHECKING:
    from tagalong.evaluate.report import Report

__all__ = ["MIN_ITEMS", "confusion_lines", "weakest_labels", "weakest_lines"]

MIN_ITEMS = 10
"""Number of items from which on a label can be one of the weakest."""


def weakest_labels(report: "Report", limit: int = 5) -> list[LabelMeasures]:
    """Return the labels that are found least often, of those with at least ten items.

    With one label per item a label is found if it is suggested first, otherwise if it is chosen.

    Parameters
    ----------
    report : Report
        The measures of a run.
    limit : int, default 5
        Maximum number of labels.
    """
    known = [measured for measured in report.per_label() if measured.support >= MIN_ITEMS]
    return sorted(known, key=lambda measured: _found(report, measured))[:limit]


def _found(report: "Report", measured: LabelMeasures) -> float:
    return measured.found_first if report.one_label else measured.recall


def weakest_lines(report: "Report") -> list[str]:
    """Return a table of the weakest labels; no lines if no label has enough items.

    Parameters
    ----------
    report : Report
        The measures of a run.
    """
    labels = weakest_labels(report)
    if len(labels) < 2:
        return []
    has_confidence = report.coverage.is_known
    rows = [["weakest labels", "items", "found", "right if suggested"]]
    if not report.one_label:
        rows[0][3] = "right if chosen"
    if has_confidence:
        rows[0] += ["sure at 95 %", "right"]
    for measured in labels:
        precision = measured.precision_first if report.one_label else measured.precision
        cells = [f"{measured.support:,}", percent(_found(report, measured)), percent(precision)]
        if has_confidence:
            cells += [f"{measured.marked:,}", percent(measured.marked_precision)]
        rows.append([f"  {shortened(measured.label)}", *cells])
    return aligned(rows)


def confusion_lines(report: "Report", limit: int = 5) -> list[str]:
    """Return a table of the most frequent wrong first suggestions of items with one label.

    Parameters
    ----------
    report : Report
        The measures of a run.
    limit : int, default 5
        Maximum number of pairs.
    """
    pairs = [pair for pair in report.answers.confusion if pair.items > 1][:limit]
    if not pairs:
        return []
    rows = [["most confused", "suggested instead", "items"]]
    rows += [
        [f"  {shortened(pair.label)}", shortened(pair.suggested), f"{pair.items:,}"]
        for pair in pairs
    ]
    return aligned(rows, texts=2)
