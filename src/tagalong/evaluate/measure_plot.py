"""Plot of the recent measures as a run proceeds."""

from typing import TYPE_CHECKING

import numpy as np

from tagalong.evaluate.measures import HIGHER_IS_BETTER, MEASURES
from tagalong.evaluate.plot_parts import about_items, caption, finish, line, panels
from tagalong.evaluate.report import Report, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_measures"]

LINES = ("#1f5fa8", "#c4531d", "#2a8c5a", "#8e4fa3", "#b08a00", "#5b6770")


def draw_measures(report: Report) -> "Figure":
    """Return a figure of the recent measures as the run proceeds."""
    figure, axes = panels(2, height=7.2, right=0.74)
    shown = [name for name in MEASURES if name != "coverage"]
    higher = [name for name in shown if name in HIGHER_IS_BETTER]
    lower = [name for name in shown if name not in HIGHER_IS_BETTER]
    for ax, names, text in zip(
        axes, (higher, lower), ("Higher is better", "Lower is better"), strict=True
    ):
        for name, colour in zip(names, LINES, strict=False):
            values = report.curve[f"recent_{name}"]
            last = values[-1]
            now = "–" if np.isnan(last) else f"{last:.3f}"
            line(ax, report.curve["items"], values, colour, f"{title(name, report.k)}  {now}")
        ax.set_ylim(0, 1)
        finish(ax, text, "items" if ax is axes[-1] else "", legend_outside=True)
    caption(
        figure,
        f"Each point covers the last {report.window:,} items, or all items if there are fewer. "
        f"{about_items(report.frozen)} The numbers are the values at the end.",
    )
    return figure
