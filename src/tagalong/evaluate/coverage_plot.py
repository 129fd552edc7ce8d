"""Plot of the share that can be filed without asking against the share of it that is right."""

from typing import TYPE_CHECKING

import numpy as np

from tagalong.evaluate.coverage import coverage_curve
from tagalong.evaluate.plot_parts import (
    FAINT,
    INK,
    OTHER,
    TARGET_COLOURS,
    caption,
    note_order,
    panels,
    share_axis,
    style,
)
from tagalong.evaluate.report import Report
from tagalong.evaluate.text_table import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_coverage"]

LOWEST_SHARE = 0.01


def draw_coverage(report: Report) -> "Figure":
    """Return a figure of precision against the share of items that are filed."""
    figure, (ax,) = panels(1, height=5.2, right=0.75)
    probabilities, right = report.answers.recent_confidence
    style(
        ax, f"Right among what is filed without asking, last {min(report.window, report.items):,}"
    )
    ax.grid(color=FAINT, linewidth=0.6)
    lowest = 0.9
    if len(probabilities):
        curve = coverage_curve(probabilities, right)
        kept = curve.coverage >= LOWEST_SHARE
        ax.plot(
            curve.coverage[kept],
            curve.accuracy[kept],
            color=OTHER,
            linewidth=1.7,
            zorder=2,
            label="the most probable first",
        )
        lowest = min(lowest, float(curve.accuracy[kept].min(initial=1.0)))
    lowest = min(lowest, _draw_targets(ax, report))
    ax.set_xlim(0, 1.02)
    ax.set_ylim(max(0.0, np.floor(20 * lowest) / 20 - 0.02), 1.005)
    for axis in (ax.xaxis, ax.yaxis):
        share_axis(axis)
    ax.set_xlabel("share of the items that is filed without asking", fontsize=9, color=INK)
    ax.set_ylabel("share of it that is right", fontsize=9, color=INK)
    if not report.coverage.is_known:
        ax.text(0.5, 0.95, "the learner gives no confidence", ha="center", color=INK)
    elif ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, fontsize=9)
    note_order(ax, report.order == "sorted")
    caption(figure, _CAPTION)
    return figure


def _draw_targets(ax: "Axes", report: Report) -> float:
    """Draw what was sure at each target; return the lowest precision."""
    lowest = 1.0
    for at, colour in zip(report.coverage.recent.targets, TARGET_COLOURS, strict=True):
        ax.axhline(at.target, color=colour, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
        if not at.sure:
            continue
        lowest = min(lowest, at.precision)
        label = (
            f"sure at {percent(at.target, 0)}: {percent(at.share, 0)} filed,\n"
            f"{percent(at.precision)} of it right"
        )
        ax.scatter([at.share], [at.precision], s=60, color=colour, zorder=4, label=label)
    return lowest


_CAPTION = (
    "Dots: the first suggestions that were marked sure at 90, 95 and 99 %, decided before the "
    "answer was known. A dot on or above the dashed line of its colour keeps what was asked for. "
    "Line: the same items in hindsight, filed in the order of their probability."
)
