"""Plot of how often the first suggestion was right, and of what could be filed alone."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.answers import TARGETS
from tagalong.evaluate.plot_parts import (
    OTHER,
    OURS,
    TARGET_COLOURS,
    about_items,
    caption,
    finish,
    line,
    note_order,
    panels,
    share_axis,
)
from tagalong.evaluate.report import Report
from tagalong.evaluate.text_table import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_accuracy"]


def draw_accuracy(report: Report) -> "Figure":
    """Return a figure of the accuracy as the run proceeds, and of the share that can be filed."""
    curve, has_confidence = report.curve, report.coverage.is_known
    figure, axes = panels(
        2 if has_confidence else 1, height=7.2 if has_confidence else 4.2, right=0.75
    )
    items, above = curve["items"], axes[0]
    last = f"last {min(report.window, report.items):,}"
    line(above, items, curve["accuracy"], OTHER, f"all so far  {_last(curve['accuracy'])}")
    recent = curve["recent_accuracy"]
    line(above, items, recent, OURS, f"{last}  {_last(recent)}")
    _finish(above, "First suggestion right", "" if has_confidence else "items")
    note_order(above, report.order == "sorted")
    texts = [f"{about_items(report.frozen)} The numbers are the values at the end."]
    if has_confidence:
        below, name = axes[1], "share" if report.one_label else "found"
        for target, colour in zip(TARGETS, TARGET_COLOURS, strict=True):
            column = f"{round(100 * target)}"
            values = curve[f"recent_{name}_{column}"]
            line(below, items, values, colour, f"at {column} %  {_last(values)}")
        heading = (
            "Could be filed without asking" if report.one_label else "Right labels marked sure"
        )
        _finish(below, heading, "items")
        texts.append(_about_shares(report))
    caption(figure, " ".join(texts))
    return figure


def _finish(ax: "Axes", heading: str, x_label: str) -> None:
    ax.set_ylim(0, 1)
    finish(ax, heading, x_label, legend_outside=True)
    share_axis(ax.yaxis)


def _last(values: npt.NDArray[np.float64]) -> str:
    return percent(float(values[-1]))


def _about_shares(report: Report) -> str:
    what = (
        "share of the items whose first suggestion was sure"
        if report.one_label
        else "share of all right labels that were marked sure"
    )
    reached = ", ".join(
        f"{percent(at.target, 0)}: {percent(_precision(report, at.target))}"
        for at in report.coverage.recent.targets
    )
    return (
        f"Lower panel: {what}, of the last {min(report.window, report.items):,} items, if 90, 95 "
        "or 99 % of what is marked is to be right. Of the last items marked, right were: "
        f"{reached}."
    )


def _precision(report: Report, target: float) -> float:
    at = report.coverage.recent.at(target)
    return at.precision if report.one_label else at.marked_precision
