"""The first lines of a report: how often the first suggestion was right, what can be filed."""

import math
from typing import TYPE_CHECKING

from tagalong.evaluate.answers import TARGETS, AtTarget, Start
from tagalong.evaluate.text_table import aligned, percent

if TYPE_CHECKING:
    from tagalong.evaluate.report import Report

__all__ = ["coverage_lines", "headline", "order_warning"]


def headline(report: "Report") -> list[str]:
    """Return how often the first suggestion was right, and how much can be filed without asking.

    Parameters
    ----------
    report : Report
        The measures of a run.
    """
    overall, recent = report.coverage.overall, report.coverage.recent
    if not overall.suggested:
        return ["no item had a suggestion: there were no labels to choose from"]
    line = f"first suggestion right: {percent(overall.accuracy)} of the items"
    if report.items > report.window:
        line += f", {percent(recent.accuracy)} of the last {report.window:,}"
    lines = [line]
    if report.coverage.is_known and report.order != "sorted":
        lines.append(_can_be_filed(report))
    return lines


def _can_be_filed(report: "Report") -> str:
    recent = report.coverage.recent
    shares = [_share(report, at) for at in recent.targets]
    if not any(at.sure for at in recent.targets) and not any(at.marked for at in recent.targets):
        yet = "" if report.frozen else " yet"
        return f"nothing can be filed without asking{yet}: no suggestion is sure at 90 % or more"
    low, middle, high = (percent(share, 0) for share in shares)
    can_be = "can be filed" if report.one_label else "of the right labels can be set"
    first = report.coverage.starts[TARGETS.index(0.95)].first_item
    start = "" if first is None or report.frozen else f"; the first was item {first:,}"
    return f"at 95 % right, {middle} {can_be} without asking (90 %: {low}, 99 %: {high}){start}"


def _share(report: "Report", at: AtTarget) -> float:
    return at.share if report.one_label else at.found


def coverage_lines(report: "Report") -> list[str]:
    """Return a table of what could be filed without asking.

    There are no lines if nothing was sure, nor if the items came sorted by label.

    Parameters
    ----------
    report : Report
        The measures of a run.
    """
    coverage = report.coverage
    if not any(at.marked for at in coverage.overall.targets) or report.order == "sorted":
        return []
    rows = [_headings(report)]
    for target, start in zip(TARGETS, coverage.starts, strict=True):
        at, lately = coverage.overall.at(target), coverage.recent.at(target)
        cells = [*_cells(report, at), *(_cells(report, lately) if _has_recent(report) else ())]
        starts = [] if report.frozen else _start_cells(report, start)
        rows.append([f"at {percent(target, 0)}", *cells, *starts])
    return aligned(rows)


def _has_recent(report: "Report") -> bool:
    return report.items > report.window


def _headings(report: "Report") -> list[str]:
    counted = ["filed alone", "right"] if report.one_label else ["labels set", "right", "found"]
    lately = []
    if _has_recent(report):
        verb = "filed" if report.one_label else "set"
        lately = [f"last {report.window:,}: {verb}", *counted[1:]]
    # With several labels per item, half of the first suggestions are not half of the labels.
    starts = ["first item", "half from item"] if report.one_label else ["first item"]
    return ["", *counted, *lately, *([] if report.frozen else starts)]


def _cells(report: "Report", at: AtTarget) -> list[str]:
    if report.one_label:
        return [percent(at.share), percent(at.precision)]
    return [f"{at.marked:,}", percent(at.marked_precision), percent(at.found)]


def _start_cells(report: "Report", start: Start) -> list[str]:
    items = [start.first_item, *([start.half_from] if report.one_label else [])]
    return ["–" if item is None else f"{item:,}" for item in items]


def order_warning(report: "Report") -> list[str]:
    """Return a warning if the labels came in runs, and what to do about it.

    Parameters
    ----------
    report : Report
        The measures of a run.
    """
    if report.order != "sorted":
        return []
    overall = report.coverage.overall
    share = overall.in_runs / overall.judged if overall.judged else math.nan
    return [
        "THE ITEMS CAME SORTED BY LABEL, so these figures are too good and must not be trusted:",
        f"at {percent(share, 0)} of the items the labels came in runs far beyond chance, and "
        "nothing is marked sure.",
        "Learn the items in the order in which they arrived, or in random order: --shuffle.",
    ]
