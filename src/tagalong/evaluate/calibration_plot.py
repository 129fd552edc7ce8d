"""Plot of probabilities against shares of right suggestions."""

from typing import TYPE_CHECKING

import numpy as np

from tagalong.evaluate.calibration import BINS, Reliability
from tagalong.evaluate.plot_parts import (
    CERTIFIED,
    FAINT,
    INK,
    OURS,
    caption,
    note_order,
    panels,
    share_axis,
    style,
)
from tagalong.evaluate.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_calibration"]


def draw_calibration(report: Report) -> "Figure":
    """Return a figure of the share of right suggestions in bins of their probability."""
    from matplotlib.ticker import FuncFormatter

    calibration = report.calibration
    figure, (above, below) = panels(2, height=8.2, right=0.75)
    ax = above
    style(ax, "Share of right suggestions by probability")
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1.5, zorder=1)
    _draw(ax, calibration.first, OURS, "o", "first suggestion")
    _draw(ax, calibration.first_five, CERTIFIED, "s", "first five")
    if not report.one_label:  # otherwise the set is the first suggestion
        _draw(ax, calibration.whole, "#2a8c5a", "^", "whole set of labels")
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel("share that was right", fontsize=9, color=INK)
    share_axis(ax.yaxis)
    if report.coverage.is_known:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, fontsize=9)
    else:
        ax.text(0.5, 0.5, "the learner gives no confidence", ha="center", color=INK)
    note_order(ax, report.order == "sorted")
    style(below, "First suggestions by probability")
    edges = np.arange(BINS) / BINS
    below.bar(edges, calibration.first.counts, width=0.92 / BINS, align="edge", color=OURS)
    below.set_ylabel("items", fontsize=9, color=INK)
    below.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    below.set_ylim(0, max(1.0, below.get_ylim()[1]))
    below.set_xlabel("probability before the answer was known", fontsize=9, color=INK)
    for one in (above, below):
        one.grid(color=FAINT, linewidth=0.6)
        one.set_xlim(-0.02, 1.02)
        share_axis(one.xaxis)
    caption(
        figure,
        f"Items from number {calibration.from_item:,} on, in {BINS} bins of equal width; bins with "
        "fewer than 10 suggestions are hollow. On the grey line probabilities are exact. The error "
        "is the expected calibration error: the mean distance from that line over all suggestions.",
    )
    return figure


def _draw(ax: "Axes", found: Reliability, colour: str, marker: str, name: str) -> None:
    used = found.counts > 0
    if not used.any():
        return
    counts = found.counts[used]
    x, y = found.predicted[used] / counts, found.right[used] / counts
    many = counts >= 10
    ax.plot(x[many], y[many], color=colour, linewidth=1.0, alpha=0.5, zorder=2)
    label = f"{name}\n(error {found.error:.3f})"
    for kept, face in ((many, colour), (~many, "white")):
        if kept.any():
            ax.scatter(
                x[kept],
                y[kept],
                s=34,
                marker=marker,
                facecolors=face,
                edgecolors=colour,
                zorder=3,
                label=label,
            )
            label = "_nolegend_"
